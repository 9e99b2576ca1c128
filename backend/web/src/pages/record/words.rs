//! Words for the codes of a flow. One invariant: every code has its word here, so the drawing, the tables and the
//! sentence never call one thing by two names.

use millrace_core::flow::{
    Confidence, Evidence, FindingKind, HopState, MessageKind, Rule, Severity, TransactionOutcome, Why,
};
use millrace_core::id::IdKind;
use millrace_core::trace::Outcome;

use super::Reader;
use crate::component::State;
use crate::i18n::Msg;

/// What the searched text was taken for.
pub(crate) fn taken_for(kind: &IdKind) -> Msg {
    match kind {
        IdKind::Key => Msg::new("record-is-key"),
        IdKind::Uniq(id) => {
            Msg::new("record-is-uniq").with("address", id.address.to_string()).with("pid", id.pid.to_string())
        }
        IdKind::Offset(id) => Msg::new("record-is-offset")
            .with("address", format!("{}:{}", id.address, id.port))
            .with("offset", id.offset),
        IdKind::Grpc(id) => Msg::new("record-is-grpc").with("mac", &id.mac).with("pid", id.pid.to_string()),
    }
}

pub(crate) fn state(state: &HopState) -> (State, Msg) {
    match state {
        HopState::Waiting { .. } => (State::Info, Msg::new("record-waiting")),
        HopState::Consuming { .. } => (State::Info, Msg::new("record-consuming")),
        HopState::Ok { .. } => (State::Ok, Msg::new("record-consumed")),
        HopState::Passed => (State::Ok, Msg::new("record-passed")),
        HopState::Retrying { tries, .. } => (State::Warn, Msg::new("record-retrying").with("tries", *tries)),
        HopState::Failed { tries } => (State::Bad, Msg::new("record-failed").with("tries", *tries)),
        HopState::DeadLettered { tries: 0, .. } => (State::Bad, Msg::new("record-dead")),
        HopState::DeadLettered { tries, .. } => (State::Bad, Msg::new("record-dead-after").with("tries", *tries)),
        HopState::Missing { .. } => (State::Bad, Msg::new("record-missing")),
        HopState::Unknown { .. } => (State::Unknown, Msg::new("record-not-known")),
        HopState::NotExpected { .. } => (State::Idle, Msg::new("record-not-expected")),
    }
}

/// Why a state is not known or nothing is expected.
pub(crate) fn reason(state: &HopState) -> Option<Msg> {
    match state {
        HopState::Unknown { why: reason } | HopState::NotExpected { why: reason } => Some(why(*reason)),
        _ => None,
    }
}

pub(crate) fn why(why: Why) -> Msg {
    match why {
        Why::NotTraced => Msg::new("record-why-not-traced"),
        Why::IngestBehind => Msg::new("record-why-ingest-behind"),
        Why::EndNotTraced => Msg::new("record-why-end-not-traced"),
        Why::GroupNotTraced => Msg::new("record-why-group-not-traced"),
        Why::GroupOffline => Msg::new("record-why-group-offline"),
        Why::Broadcasting => Msg::new("record-why-broadcasting"),
        Why::Pop => Msg::new("record-why-pop"),
        Why::Filtered => Msg::new("record-why-filtered"),
        Why::RolledBack => Msg::new("record-why-rolled-back"),
        Why::TransactionOpen => Msg::new("record-why-transaction-open"),
        Why::Recalled => Msg::new("record-why-recalled"),
        Why::Delayed => Msg::new("record-why-delayed"),
        Why::PublicationNotTraced => Msg::new("record-why-publication-not-traced"),
    }
}

pub(crate) fn evidence(evidence: Evidence) -> (State, Msg) {
    match evidence {
        Evidence::Traced => (State::Info, Msg::new("record-by-trace")),
        Evidence::FoundInTopic => (State::Info, Msg::new("record-by-topic")),
        Evidence::SeenDownstream => (State::Idle, Msg::new("record-by-child")),
        Evidence::InferredFromOffset => (State::Idle, Msg::new("record-by-offset")),
        Evidence::Absent => (State::Warn, Msg::new("record-absent")),
        Evidence::Unknown { .. } => (State::Unknown, Msg::new("record-not-known")),
    }
}

pub(crate) fn confidence(confidence: Confidence) -> Msg {
    match confidence {
        Confidence::Exact => Msg::new("record-exact"),
        Confidence::CertainInProcess => Msg::new("record-certain"),
        Confidence::High => Msg::new("record-high"),
        Confidence::Medium => Msg::new("record-medium"),
        Confidence::Low => Msg::new("record-low"),
    }
}

pub(crate) fn rule(rule: Rule) -> Msg {
    match rule {
        Rule::ParentToken => Msg::new("record-rule-token"),
        Rule::SameObject => Msg::new("record-rule-object"),
        Rule::InProcessKey => Msg::new("record-rule-process-key"),
        Rule::InProcess => Msg::new("record-rule-process"),
        Rule::KeyGroupTime => Msg::new("record-rule-names"),
        Rule::KeyLater => Msg::new("record-rule-later"),
    }
}

pub(crate) fn outcome(outcome: Outcome) -> Msg {
    match outcome {
        Outcome::Success => Msg::new("record-outcome-success"),
        Outcome::TimeOut => Msg::new("record-outcome-timeout"),
        Outcome::Exception => Msg::new("record-outcome-exception"),
        Outcome::ReturnNull => Msg::new("record-outcome-null"),
        Outcome::Failed => Msg::new("record-outcome-failed"),
        Outcome::Other(code) => Msg::new("record-outcome-other").with("code", code),
    }
}

pub(crate) fn kind(kind: MessageKind) -> Option<Msg> {
    match kind {
        MessageKind::Normal | MessageKind::Unknown => None,
        MessageKind::Transaction => Some(Msg::new("record-kind-transaction")),
        MessageKind::Delay => Some(Msg::new("record-kind-delay")),
        MessageKind::Order => Some(Msg::new("record-kind-order")),
    }
}

pub(crate) fn transaction(outcome: TransactionOutcome) -> (State, Msg) {
    match outcome {
        TransactionOutcome::Half => (State::Info, Msg::new("record-tx-half")),
        TransactionOutcome::Committed => (State::Ok, Msg::new("record-tx-committed")),
        TransactionOutcome::RolledBack => (State::Idle, Msg::new("record-tx-rolled-back")),
        TransactionOutcome::Undecided => (State::Info, Msg::new("record-tx-undecided")),
    }
}

pub(crate) fn severity(severity: Severity) -> State {
    match severity {
        Severity::Bad => State::Bad,
        Severity::Warn => State::Warn,
        Severity::Note => State::Info,
    }
}

/// A finding in a sentence, without where it is.
pub(crate) fn finding(kind: &FindingKind, reader: &Reader<'_>) -> Msg {
    match kind {
        FindingKind::Missing { since } => Msg::new("record-finds-missing").with("at", reader.clock(*since)),
        FindingKind::Failed { tries, .. } => Msg::new("record-finds-failed").with("tries", *tries),
        FindingKind::Retrying { tries, next_due: Some(due), .. } => {
            Msg::new("record-finds-retrying-due").with("tries", *tries).with("at", reader.clock(*due))
        }
        FindingKind::Retrying { tries, next_due: None, .. } => Msg::new("record-finds-retrying").with("tries", *tries),
        FindingKind::Dead { since: Some(since), .. } => {
            Msg::new("record-finds-dead-since").with("at", reader.clock(*since))
        }
        FindingKind::Dead { tries, since: None, .. } => Msg::new("record-finds-dead").with("tries", *tries),
        FindingKind::Late { took_ms, limit_ms } => Msg::new("record-finds-late")
            .with("took", reader.duration(*took_ms))
            .with("limit", reader.duration(*limit_ms)),
        FindingKind::DuplicateDelivery { times } => Msg::new("record-finds-again").with("times", *times),
        FindingKind::DuplicateSend { times } => Msg::new("record-finds-sent-again").with("times", *times),
        FindingKind::OutOfOrder { .. } => Msg::new("record-finds-order"),
        FindingKind::TimedOut { worked_ms: Some(ms) } => {
            Msg::new("record-finds-timeout-after").with("worked", reader.duration(*ms))
        }
        FindingKind::TimedOut { worked_ms: None } => Msg::new("record-finds-timeout"),
        FindingKind::Stuck { age_ms, .. } => Msg::new("record-finds-stuck").with("age", reader.duration(*age_ms)),
        FindingKind::DroppedAtOperator => Msg::new("record-finds-dropped"),
        FindingKind::Orphan => Msg::new("record-finds-orphan"),
        FindingKind::Skew { host, offset_ms } => {
            let said =
                if *offset_ms < 0 { Msg::new("record-finds-fast-clock") } else { Msg::new("record-finds-slow-clock") };
            said.with("host", host).with("offset", reader.duration(offset_ms.saturating_abs()))
        }
        FindingKind::NegativeTime { by_ms } => Msg::new("record-finds-negative").with("by", reader.duration(*by_ms)),
        FindingKind::StoredTwice { times } => Msg::new("record-finds-stored").with("times", *times),
    }
}
