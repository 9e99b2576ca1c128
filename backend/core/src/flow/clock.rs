//! Client clocks against the brokers'. A trace message carries both: the client's time when it was sent and the broker's
//! when it was stored, so every trace measures its client.
//!
//! The least difference over a machine's traces is its clock's offset plus the way to the broker; only what no way
//! explains is corrected.

use std::collections::{BTreeMap, BTreeSet};

use super::model::ClockOffset;
use crate::id::UniqId;
use crate::time::Millis;
use crate::trace::{TraceEvent, TraceRecord};

/// A difference of up to this may be the way to the broker.
const WAY_MS: i64 = 500;
/// A trace stored before it was sent by more than this: the client's clock is ahead.
const AHEAD_MS: i64 = 5;

/// A client machine: its address as the broker saw it, and the one in its ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Machine {
    host: String,
    address: Option<String>,
}

impl Machine {
    pub(super) fn of(record: &TraceRecord) -> Self {
        let id = match &record.event {
            TraceEvent::SubBefore(e) => Some(&e.request_id),
            TraceEvent::SubAfter(e) => Some(&e.request_id),
            event => event.message_ids().first(),
        };
        Self {
            host: record.origin.born_host.clone(),
            address: id.and_then(|id| UniqId::parse(id)).map(|id| id.address.to_string()),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    measured: BTreeMap<Machine, ClockOffset>,
}

impl Clocks {
    pub(super) fn measure(records: &[TraceRecord]) -> Self {
        let mut samples: BTreeMap<Machine, BTreeSet<(i64, &crate::name::QueueRef, i64)>> = BTreeMap::new();
        for record in records {
            let origin = &record.origin;
            let sample = (origin.stored.since(origin.born), &origin.queue, origin.offset);
            samples.entry(Machine::of(record)).or_default().insert(sample);
        }
        let measured = samples
            .into_iter()
            .filter_map(|(machine, samples)| {
                let offset_ms = samples.first()?.0;
                let corrected_by = if (-AHEAD_MS..WAY_MS).contains(&offset_ms) { 0 } else { offset_ms };
                let clock = ClockOffset {
                    host: machine.host.clone(),
                    address: machine.address.clone(),
                    offset_ms,
                    samples: samples.len(),
                    corrected_by,
                };
                Some((machine, clock))
            })
            .collect();
        Self { measured }
    }

    /// `raw`, a time of `machine`'s clock, on the broker's clock.
    pub(super) fn correct(&self, machine: &Machine, raw: Millis) -> Millis {
        raw.plus(self.measured.get(machine).map_or(0, |clock| clock.corrected_by))
    }

    pub(super) fn of(&self, machine: &Machine) -> Option<&ClockOffset> {
        self.measured.get(machine)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clocks, Machine};
    use crate::flow::fixture::{at, before};
    use crate::time::Millis;

    #[test]
    fn only_what_no_way_explains_is_corrected() {
        for (born, stored, correction) in [
            (6_100, 10_110, 4_010), // behind
            (9_000, 9_120, 0),      // a slow way
            (9_000, 8_960, -40),    // ahead
            (9_000, 8_998, 0),      // rounding
        ] {
            let record = at(born, stored, before("R", "M", "G", 6_050, 0));
            let clocks = Clocks::measure(std::slice::from_ref(&record));
            assert_eq!(clocks.correct(&Machine::of(&record), Millis(6_050)), Millis(6_050 + correction));
        }
    }
}
