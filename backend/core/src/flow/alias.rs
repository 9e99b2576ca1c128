//! One message, two ids: a client's unique id and the broker's offset id. Clients that know no unique id trace the
//! offset id, and people paste either.

use std::collections::{BTreeMap, BTreeSet};

use super::fact::Fact;
use crate::trace::{TraceEvent, TraceRecord};

/// Offset id -> unique id, as far as publications and facts tell. What a producer calls a message is never an alias.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    unique: BTreeMap<String, String>,
}

impl Aliases {
    pub(super) fn of(records: &[TraceRecord], facts: &[Fact]) -> Self {
        let mut aliases = Self::default();
        let mut sent: BTreeSet<&str> = BTreeSet::new();
        for record in records {
            if let TraceEvent::Pub(e) = &record.event {
                sent.extend(e.message_ids.iter().map(String::as_str));
                for (offset_id, id) in e.offset_ids.iter().zip(&e.message_ids) {
                    aliases.learn(offset_id, id);
                }
            }
        }
        // What clients traced goes before what a copy's properties say.
        let mut told = Self::default();
        for fact in facts {
            match fact {
                Fact::Stored { message_id, offset_id: Some(offset_id), .. } => told.learn(offset_id, message_id),
                Fact::DeadLetter { message_id, origin_id: Some(origin_id), .. } => told.learn(origin_id, message_id),
                _ => {}
            }
        }
        for (offset_id, id) in told.unique {
            aliases.unique.entry(offset_id).or_insert(id);
        }
        aliases.unique.retain(|id, _| !sent.contains(id.as_str()));
        aliases
    }

    /// The least id wins where two claim one place, so that the order of arrival does not matter.
    fn learn(&mut self, offset_id: &str, id: &str) {
        if offset_id == id {
            return;
        }
        let known = self.unique.entry(offset_id.to_owned()).or_insert_with(|| id.to_owned());
        if id < known.as_str() {
            id.clone_into(known);
        }
    }

    /// The id under which the message of `id` is known.
    pub(super) fn canonical<'a>(&'a self, id: &'a str) -> &'a str {
        self.unique.get(id).map_or(id, String::as_str)
    }
}
