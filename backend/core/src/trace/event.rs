//! The five kinds of entry, field by field, in every client version's shape.

use crate::name::CLOUD_TRACE_PREFIX;

use super::decode::RejectReason;
use super::fields::Fields;
use super::record::{
    EndTransaction, Outcome, Pub, PubType, Recall, SubAfter, SubBefore, TraceEvent, TransactionState,
};

/// What C++ clients write for "no key".
const CPP_NO_KEY: &str = "dKey";
/// What C++ clients write where they know no region.
const CPP_REGION: &str = "DEFAULT_REGION";

/// Which client wrote the message, as far as it matters for reading it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    cpp: bool,
}

impl Dialect {
    /// C++ clients write SubAfter with six fields, and always to a CLOUD topic.
    pub(super) fn of(topic: &str, body: &str) -> Self {
        let cloud = topic.starts_with(CLOUD_TRACE_PREFIX);
        let short_end = || {
            body.split('\u{2}').any(|entry| entry.starts_with("SubAfter") && entry.matches('\u{1}').count() == 5)
        };
        Self { cpp: cloud && body.contains(CPP_REGION) || short_end() }
    }

    fn no_key(self) -> Option<&'static str> {
        self.cpp.then_some(CPP_NO_KEY)
    }
}

/// The event and the fields beyond the known ones.
pub(super) fn event(fields: &[&str], dialect: Dialect) -> Result<(TraceEvent, Vec<String>), RejectReason> {
    let f = Fields(fields);
    match fields.first().copied() {
        Some("Pub") => publication(f, dialect),
        Some("SubBefore") => sub_before(f, dialect),
        Some("SubAfter") => sub_after(f, dialect),
        Some("EndTransaction") => end_transaction(f, dialect),
        Some("Recall") => recall(f),
        _ => Err(RejectReason::UnknownType),
    }
}

type Event = Result<(TraceEvent, Vec<String>), RejectReason>;

fn publication(f: Fields<'_, '_>, dialect: Dialect) -> Event {
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
        keys: f.keys(7, dialect.no_key()),
        store_host: f.text(8),
        body_length: f.number(9)?,
        cost: f.number(10)?,
        message_type: message_type(f.number(11)?),
        offset_ids: if with_offset_ids { f.ids(12) } else { Vec::new() },
        success: f.boolean(if with_offset_ids { 13 } else { 12 })?,
        client_host: f.optional(14),
    };
    Ok((TraceEvent::Pub(event), f.beyond(15)))
}

/// In a Pub, 2 can only be the half message of a 5.0.0 or 5.1.0 client, since a commit is never published; 4 is their
/// delay, since the classic client never marks an ordered message. Whether 1 is half or ordered, other records tell.
fn message_type(ordinal: i64) -> PubType {
    match ordinal {
        0 => PubType::Normal,
        1 => PubType::HalfOrOrder,
        2 => PubType::TransactionHalf,
        3 | 4 => PubType::Delay,
        other => PubType::Other(other),
    }
}

fn sub_before(f: Fields<'_, '_>, dialect: Dialect) -> Event {
    f.at_least(8)?;
    let event = SubBefore {
        time: f.time(1)?,
        region: f.text(2),
        group: f.text(3),
        request_id: f.id(4)?,
        message_id: f.id(5)?,
        retry: f.number(6)?,
        keys: f.keys(7, dialect.no_key()),
        client_host: f.optional(8),
    };
    Ok((TraceEvent::SubBefore(event), f.beyond(9)))
}

fn sub_after(f: Fields<'_, '_>, dialect: Dialect) -> Event {
    f.at_least(6)?;
    let event = SubAfter {
        request_id: f.id(1)?,
        message_id: f.id(2)?,
        cost: f.number(3)?,
        success: f.boolean(4)?,
        keys: f.keys(5, dialect.no_key()),
        outcome: if f.len() > 6 { Some(outcome(f.number(6)?)) } else { None },
        time: if f.len() > 7 { Some(f.time(7)?) } else { None },
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

fn end_transaction(f: Fields<'_, '_>, dialect: Dialect) -> Event {
    f.at_least(13)?;
    let event = EndTransaction {
        time: f.time(1)?,
        region: f.text(2),
        producer_group: f.text(3),
        topic: f.text(4),
        message_id: f.id(5)?,
        tags: f.optional(6),
        keys: f.keys(7, dialect.no_key()),
        store_host: f.text(8),
        transaction_id: f.text(10),
        state: match f.text(11).as_str() {
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
