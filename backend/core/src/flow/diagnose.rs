//! What is wrong with a flow, and the one code about it. Every finding is a rule over the flow's own facts; what is not
//! known is never called wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::fact::Options;
use super::finding::{Finding, FindingKind, Severity, Verdict};
use super::model::{Attempt, Evidence, Flow, Hop, HopRef, HopState, MessageNode, MessageRef, TransactionOutcome, Why};
use super::place::Groups;
use super::state::still_alive;
use crate::id::{OffsetId, UniqId};
use crate::time::Millis;

/// Clock corrections leave this much uncertainty between two machines.
const TOLERANCE_MS: i64 = 50;
/// Equal messages of one process within this are a client's repeated send.
const RESEND_MS: i64 = 3_000;

/// The findings of `flow`, the worst first.
pub(super) fn diagnose(
    flow: &Flow,
    alive: &BTreeMap<String, Millis>,
    groups: &Groups<'_>,
    options: &Options,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, hop) in flow.sure_hops() {
        let mut push = |severity, kind| {
            let message = Some(hop.message);
            findings.push(Finding { severity, hop: Some(at), message, about: hop.group.clone(), kind });
        };
        of_state(hop, &mut push);
        let topic = flow.message(hop.message).and_then(|message| message.topic.as_deref());
        let once = groups.once(topic, hop.group.as_deref());
        of_attempts(hop, once, alive, options, &mut push);
        if let Some(by_ms) = begins_too_early(flow, hop) {
            push(Severity::Note, FindingKind::NegativeTime { by_ms });
        }
        if dropped(flow, at, hop, groups, options) {
            push(Severity::Bad, FindingKind::DroppedAtOperator);
        }
    }
    for (at, message) in flow.sure_messages() {
        of_message(flow, at, message, options, &mut findings);
    }
    duplicate_sends(flow, &mut findings);
    out_of_order(flow, &mut findings);
    late(flow, options, &mut findings);
    for clock in flow.clocks.iter().filter(|clock| clock.corrected_by != 0) {
        let kind = FindingKind::Skew { host: clock.host.clone(), offset_ms: clock.offset_ms };
        let finding = Finding { severity: Severity::Note, hop: None, message: None, about: None, kind };
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings.sort_by_key(|finding| (finding.severity, finding.message, finding.hop));
    findings
}

fn of_state(hop: &Hop, push: &mut impl FnMut(Severity, FindingKind)) {
    let outcome = hop.attempts.iter().rfind(|attempt| attempt.ok == Some(false)).and_then(|attempt| attempt.outcome);
    match hop.state {
        HopState::Missing { since } => push(Severity::Bad, FindingKind::Missing { since }),
        HopState::Failed { tries } => push(Severity::Bad, FindingKind::Failed { tries, outcome }),
        HopState::DeadLettered { tries, since, confirmed } => {
            push(Severity::Bad, FindingKind::Dead { tries, since, confirmed });
        }
        HopState::Retrying { tries, next_due } => {
            push(Severity::Warn, FindingKind::Retrying { tries, next_due, outcome });
        }
        _ => {}
    }
}

/// `once`: the group is known to get each message once.
fn of_attempts(
    hop: &Hop,
    once: bool,
    alive: &BTreeMap<String, Millis>,
    options: &Options,
    push: &mut impl FnMut(Severity, FindingKind),
) {
    if let Some(attempt) = hop.attempts.iter().find(|attempt| attempt.timed_out()) {
        push(Severity::Warn, FindingKind::TimedOut { worked_ms: attempt.worked() });
    }
    for attempt in hop.attempts.iter().filter(|attempt| attempt.ok.is_none()) {
        let timeout = attempt.raw_begin.map(|begin| begin.plus(options.consume_timeout_ms));
        let age = attempt.begin.map(|begin| (begin, options.now.since(begin)));
        if let Some((since, age_ms)) = age.filter(|(_, age)| *age > options.consume_timeout_ms)
            && still_alive(alive, attempt.process.as_deref(), timeout)
        {
            push(Severity::Bad, FindingKind::Stuck { since, age_ms });
        }
    }
    let again = delivered_again(hop);
    // Clients of a broadcasting group each succeed once: what is not known to be another kind is not accused.
    if again > 0 && once {
        push(Severity::Warn, FindingKind::DuplicateDelivery { times: again });
    }
}

/// Successes beyond the first with a retry count that had succeeded before: a failure that is tried again is none.
fn delivered_again(hop: &Hop) -> usize {
    let succeeded: Vec<&Attempt> = hop.attempts.iter().filter(|attempt| attempt.ok == Some(true)).collect();
    let distinct: BTreeSet<Option<i64>> = succeeded.iter().map(|attempt| attempt.retry).collect();
    succeeded.len() - distinct.len()
}

/// How far the hop begins before its message was sent, all corrections made.
fn begins_too_early(flow: &Flow, hop: &Hop) -> Option<i64> {
    let sent = flow.message(hop.message)?.publications.first()?.begin;
    let by_ms = sent.since(hop.attempts.iter().filter_map(|attempt| attempt.begin).min()?);
    (by_ms > TOLERANCE_MS && hop.or_messages.is_empty()).then_some(by_ms)
}

fn dropped(flow: &Flow, at: HopRef, hop: &Hop, groups: &Groups<'_>, options: &Options) -> bool {
    let (Some(group), HopState::Ok { at: Some(ended) }) = (hop.group.as_deref(), &hop.state) else { return false };
    let due = ended.plus(options.grace_ms);
    let over = options.now > due && options.watermark.is_some_and(|watermark| watermark >= due);
    let has = |topic: &str| {
        flow.children_of(at)
            .any(|edge| flow.message(edge.to).and_then(|message| message.topic.as_deref()) == Some(topic))
    };
    over && groups.products.iter().any(|(producer, topic)| *producer == group && !has(topic))
}

fn of_message(flow: &Flow, at: MessageRef, message: &MessageNode, options: &Options, findings: &mut Vec<Finding>) {
    let mut push = |severity, kind| {
        findings.push(Finding { severity, hop: None, message: Some(at), about: message.topic.clone(), kind });
    };
    let consumed = flow.hops_of(at).filter_map(|(_, hop)| hop.begin()).min();
    let settled = consumed.is_some_and(|begin| options.now.since(begin) > options.grace_ms);
    if message.publications.is_empty() && settled {
        push(Severity::Note, FindingKind::Orphan);
    }
    let places: BTreeSet<_> = message
        .stored
        .iter()
        .filter(|stored| stored.reconsume_times == 0)
        .map(|stored| (&stored.queue, stored.offset))
        .collect();
    if places.len() > 1 && message.publications.len() <= 1 {
        push(Severity::Warn, FindingKind::StoredTwice { times: places.len() });
    }
    if message.publications.len() > 1 {
        push(Severity::Warn, FindingKind::DuplicateSend { times: message.publications.len() });
    }
}

/// Messages that say the same came from one process at nearly one time, or from one attempt by one token.
fn duplicate_sends(flow: &Flow, findings: &mut Vec<Finding>) {
    let mut alike: BTreeMap<_, Vec<MessageRef>> = BTreeMap::new();
    for (at, message) in flow.sure_messages() {
        let Some(sent) = message.publications.first().filter(|_| message.batch.is_empty()) else { continue };
        if let (Some(process), false) = (&sent.process, message.keys.is_empty()) {
            let parents = &message.parent_tokens;
            let looks = (&message.topic, &message.keys, message.body_length, process, parents, &message.tags);
            alike.entry(looks).or_default().push(at);
        }
    }
    for messages in alike.into_values() {
        let begin = |message: &MessageRef| flow.message(*message).and_then(MessageNode::begin);
        let near = messages.windows(2).filter(|pair| match pair {
            [a, b] => begin(a).zip(begin(b)).is_some_and(|(a, b)| b.since(a).abs() <= RESEND_MS),
            _ => false,
        });
        let times = near.count() + 1;
        if let (Some(first), true) = (messages.first(), times > 1) {
            let about = flow.message(*first).and_then(|message| message.topic.clone());
            let kind = FindingKind::DuplicateSend { times };
            findings.push(Finding { severity: Severity::Warn, hop: None, message: Some(*first), about, kind });
        }
    }
}

/// One key, one topic, and a group that began the later message first.
fn out_of_order(flow: &Flow, findings: &mut Vec<Finding>) {
    for (place, first) in flow.sure_messages() {
        for (other, second) in flow.sure_messages().filter(|(other, _)| *other != place) {
            let one_topic = first.topic.is_some() && first.topic == second.topic;
            let one_key = first.keys.iter().any(|key| second.keys.contains(key));
            if !one_topic || !one_key || !sent_before(first, second) {
                continue;
            }
            for (at, hop) in flow.hops_of(place) {
                let mut same_group = flow.hops_of(other).filter(|(_, h)| h.group == hop.group);
                let overtaken = same_group.any(|(_, later)| later.begin().zip(hop.begin()).is_some_and(|(l, f)| l < f));
                if overtaken && !hop.broadcasting {
                    let kind = FindingKind::OutOfOrder { later: other };
                    let (about, message) = (hop.group.clone(), Some(hop.message));
                    findings.push(Finding { severity: Severity::Warn, hop: Some(at), message, about, kind });
                }
            }
        }
    }
}

/// Known order only: places in one broker's log, or ids of one process. Between brokers and processes there is none.
fn sent_before(first: &MessageNode, second: &MessageNode) -> bool {
    let offset = |message: &MessageNode| message.offset_ids.first().and_then(|id| OffsetId::parse(id));
    if let (Some(a), Some(b)) = (offset(first), offset(second))
        && (a.address, a.port) == (b.address, b.port)
    {
        return a.offset < b.offset;
    }
    match (UniqId::parse(&first.id), UniqId::parse(&second.id)) {
        (Some(a), Some(b)) if a.process == b.process => (a.ms_in_month, a.counter) < (b.ms_in_month, b.counter),
        _ => false,
    }
}

fn late(flow: &Flow, options: &Options, findings: &mut Vec<Finding>) {
    let (Some(limit_ms), Some(span)) = (options.limit_ms, flow.span) else { return };
    let took_ms = span.end.since(span.begin);
    let ended =
        flow.sure_hops().all(|(_, hop)| matches!(hop.state, HopState::Ok { .. } | HopState::NotExpected { .. }));
    if ended && took_ms > limit_ms {
        let kind = FindingKind::Late { took_ms, limit_ms };
        findings.push(Finding { severity: Severity::Warn, hop: None, message: None, about: None, kind });
    }
}

/// The one code about the flow: the worst that needs a person, else what it waits for, else how it ended.
pub(super) fn judge(flow: &Flow, groups: &Groups<'_>, options: &Options) -> Verdict {
    if flow.messages.is_empty() {
        return Verdict::NotFound;
    }
    // Who takes dead letters is not among those that the message was for.
    let meant = || flow.sure_hops().map(|(_, hop)| hop).filter(|hop| hop.read_from.is_none());
    let expected = meant().filter(|hop| !matches!(hop.state, HopState::NotExpected { .. })).count();
    let reached = meant().filter(|hop| matches!(hop.state, HopState::Ok { .. } | HopState::Passed)).count();
    let name = |hop: &Hop| hop.group.clone().unwrap_or_default();
    let stopped = |hop: &Hop| match hop.state {
        HopState::DeadLettered { tries, since, .. } => Some((tries, since)),
        HopState::Failed { tries } => Some((tries, None)),
        _ => None,
    };
    if let Some((hop, (tries, dead_since))) = flow.sure_hops().find_map(|(_, hop)| Some((hop, stopped(hop)?))) {
        return Verdict::StoppedAt { group: name(hop), tries, dead_since, reached, of: expected };
    }
    for (_, hop) in flow.sure_hops() {
        if let HopState::Missing { since } = hop.state {
            return Verdict::MissingAt { group: name(hop), since };
        }
    }
    if let Some((_, hop)) = flow.sure_hops().find(|(at, hop)| dropped(flow, *at, hop, groups, options)) {
        return Verdict::DroppedAt { group: name(hop) };
    }
    for (_, hop) in flow.sure_hops() {
        if let HopState::Retrying { tries, next_due } = hop.state {
            return Verdict::Retrying { group: name(hop), tries, next_due };
        }
    }
    for (_, hop) in flow.sure_hops() {
        if let HopState::Consuming { since } = hop.state {
            return Verdict::InProgress { group: hop.group.clone(), since };
        }
    }
    for (_, hop) in flow.sure_hops() {
        if let HopState::Waiting { ahead } = hop.state {
            return Verdict::WaitingAt { group: name(hop), ahead };
        }
    }
    ended(flow, groups, reached)
}

/// Nothing is wrong and nothing is under way.
fn ended(flow: &Flow, groups: &Groups<'_>, reached: usize) -> Verdict {
    let lost = flow.sure_hops().find(|(_, hop)| hop.state == HopState::Unknown { why: Why::EndNotTraced });
    if let Some((_, hop)) = lost {
        return Verdict::Unknown { group: hop.group.clone(), why: Why::EndNotTraced };
    }
    if let Some(verdict) = not_delivered(flow).filter(|_| reached == 0) {
        return verdict;
    }
    if reached > 0 {
        let at = flow.sure_hops().filter_map(|(_, hop)| hop.end()).max();
        let known = flow.sure_messages().all(|(at, message)| {
            flow.hops_of(at).all(|(_, hop)| {
                let topic = hop.read_from.as_ref().map(|copy| &copy.topic).or(message.topic.as_ref());
                !matches!(hop.state, HopState::Unknown { .. })
                    && groups.subscription(topic.map(String::as_str), hop.group.as_deref()).is_some()
            })
        });
        return if known {
            Verdict::Complete { groups: reached, at }
        } else {
            Verdict::TracedOk { groups: reached, at }
        };
    }
    let unknown = flow.sure_hops().find_map(|(_, hop)| match hop.state {
        HopState::Unknown { why } => Some((hop.group.clone(), why)),
        _ => None,
    });
    if let Some((group, why)) = unknown {
        return Verdict::Unknown { group, why };
    }
    let first = flow.sure_messages().map(|(_, message)| message).next();
    if flow.hops.is_empty() && first.is_some_and(|message| message.evidence == Evidence::SeenDownstream) {
        return Verdict::Unknown { group: None, why: Why::PublicationNotTraced };
    }
    Verdict::OnlyPublished {
        topic: first.and_then(|message| message.topic.clone()),
        at: first.and_then(MessageNode::begin),
    }
}

/// A message that no group is to get: rolled back, not committed, or called back.
fn not_delivered(flow: &Flow) -> Option<Verdict> {
    flow.sure_messages().find_map(|(_, message)| {
        let topic = message.topic.clone();
        if let Some(recall) = message.recalls.iter().find(|recall| recall.ok) {
            return Some(Verdict::Recalled { topic, at: Some(recall.at) });
        }
        let transaction = message.transaction.as_ref()?;
        match transaction.outcome {
            TransactionOutcome::RolledBack => {
                Some(Verdict::RolledBack { topic, at: transaction.ends.last().map(|end| end.at) })
            }
            TransactionOutcome::Half | TransactionOutcome::Undecided => Some(Verdict::TransactionOpen { topic }),
            TransactionOutcome::Committed => None,
        }
    })
}
