//! The five kinds of entry, field by field, in every client version's shape.

use crate::name::CLOUD_TRACE_PREFIX;
use crate::time::Millis;

use super::decode::RejectReason;
use super::fields::Fields;
use super::keys::{CPP_NO_KEY, keys};
use super::message_type::message_type;
use super::record::{EndTransaction, Outcome, Pub, Recall, SubAfter, SubBefore, TraceEvent, TransactionState};

/// What C++ clients write where they know no region; Java's is `DefaultRegion`.
const CPP_REGION: &str = "DEFAULT_REGION";

/// What a trace message's topic tells of the client that wrote it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client {
    /// C++ clients write to CLOUD topics only; Java and Go write there when told to.
    may_be_cpp: bool,
}

impl Client {
    pub(super) fn of(topic: &str) -> Self {
        Self { may_be_cpp: topic.starts_with(CLOUD_TRACE_PREFIX) }
    }
}

/// Keys of a consumer's record. The text that means "no key" to C++ clients is a key where a Java client wrote it.
fn consumer_keys(text: &str, cpp: bool) -> Vec<String> {
    if cpp && text == CPP_NO_KEY { Vec::new() } else { keys(text) }
}

/// The event and the fields beyond the known ones.
pub(super) fn event(fields: &[&str], client: Client) -> Result<(TraceEvent, Vec<String>), RejectReason> {
    let f = Fields(fields);
    match fields.first().copied() {
        Some("Pub") => publication(f),
        Some("SubBefore") => sub_before(f, client),
        Some("SubAfter") => sub_after(f),
        Some("EndTransaction") => end_transaction(f),
        Some("Recall") => recall(f),
        _ => Err(RejectReason::UnknownType),
    }
}

type Event = Result<(TraceEvent, Vec<String>), RejectReason>;

fn publication(f: Fields<'_, '_>) -> Event {
    f.at_least(13)?;
    // Thirteen fields: no offset ids, so that the result stands one place earlier.
    let with_offset_ids = f.len() > 13;
    let message_ids = f.ids(5);
    if message_ids.is_empty() {
        return Err(RejectReason::MissingId);
    }
    let event = Pub {
        time: f.time(1)?,
        region: f.text(2),
        producer_group: f.text(3),
        topic: f.text(4),
        message_ids,
        tags: f.optional(6),
        keys: keys(f.at(7)),
        store_host: f.text(8),
        body_length: f.number(9)?,
        cost: f.number(10)?,
        message_type: message_type(f.number(11)?),
        offset_ids: if with_offset_ids { f.aligned_ids(12) } else { Vec::new() },
        success: f.boolean(if with_offset_ids { 13 } else { 12 })?,
        client_host: f.optional(14),
    };
    Ok((TraceEvent::Pub(event), f.beyond(15)))
}

fn sub_before(f: Fields<'_, '_>, client: Client) -> Event {
    f.at_least(8)?;
    let event = SubBefore {
        time: f.time(1)?,
        region: f.text(2),
        group: f.text(3),
        request_id: f.id(4)?,
        message_id: f.id(5)?,
        retry: f.number(6)?,
        keys: consumer_keys(f.at(7), client.may_be_cpp || f.at(2) == CPP_REGION),
        client_host: f.optional(8),
    };
    Ok((TraceEvent::SubBefore(event), f.beyond(9)))
}

fn sub_after(f: Fields<'_, '_>) -> Event {
    f.at_least(6)?;
    // Six fields are a C++ client's: no context code.
    let event = SubAfter {
        request_id: f.id(1)?,
        message_id: f.id(2)?,
        cost: f.number(3)?,
        success: f.boolean(4)?,
        keys: consumer_keys(f.at(5), f.len() == 6),
        outcome: f.optional_number(6)?.map(outcome),
        time: f.optional_number(7)?.map(Millis),
        group: f.optional(8),
    };
    Ok((TraceEvent::SubAfter(event), f.beyond(9)))
}

fn outcome(code: i64) -> Outcome {
    match code {
        0 => Outcome::Success,
        1 => Outcome::TimeOut,
        2 => Outcome::Exception,
        3 => Outcome::ReturnNull,
        4 => Outcome::Failed,
        other => Outcome::Other(other),
    }
}

fn end_transaction(f: Fields<'_, '_>) -> Event {
    f.at_least(13)?;
    let event = EndTransaction {
        time: f.time(1)?,
        region: f.text(2),
        producer_group: f.text(3),
        topic: f.text(4),
        message_id: f.id(5)?,
        tags: f.optional(6),
        keys: keys(f.at(7)),
        store_host: f.text(8),
        transaction_id: f.text(10),
        state: match f.at(11) {
            "COMMIT_MESSAGE" => TransactionState::Commit,
            "ROLLBACK_MESSAGE" => TransactionState::Rollback,
            "UNKNOW" => TransactionState::Unknown,
            other => TransactionState::Other(other.to_owned()),
        },
        from_check: f.boolean(12)?,
    };
    Ok((TraceEvent::EndTransaction(event), f.beyond(13)))
}

fn recall(f: Fields<'_, '_>) -> Event {
    f.at_least(7)?;
    let event = Recall {
        time: f.time(1)?,
        region: f.text(2),
        producer_group: f.text(3),
        topic: f.text(4),
        message_id: f.id(5)?,
        success: f.boolean(6)?,
    };
    Ok((TraceEvent::Recall(event), f.beyond(7)))
}
