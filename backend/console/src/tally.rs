//! A sum over brokers or queues of which some may not have answered. It has a value only when none is missing.

use millrace_core::coverage::{Missed, Why};
use millrace_core::time::Millis;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally<T> {
    /// The sum of the parts that are known.
    at_least: T,
    /// Parts without a value.
    missing: Vec<Missed>,
    /// Parts whose value is the last good one.
    stale: Vec<Missed>,
    /// When the oldest part was read.
    as_of: Option<Millis>,
    /// Parts were read at different moments: the sum may be a little off.
    approximate: bool,
}

impl<T: Copy + Default + std::ops::AddAssign> Tally<T> {
    pub fn add(&mut self, part: T, as_of: Millis) {
        self.at_least += part;
        self.as_of = Some(self.as_of.map_or(as_of, |oldest| oldest.min(as_of)));
    }

    pub fn miss(&mut self, what: impl Into<String>, why: impl Into<Why>) {
        note(&mut self.missing, what.into(), why.into());
    }

    pub(crate) fn stale(&mut self, what: impl Into<String>, why: impl Into<Why>) {
        note(&mut self.stale, what.into(), why.into());
    }

    /// Adds another sum with all that it misses.
    pub(crate) fn take_in(&mut self, other: &Self) {
        if let Some(at) = other.as_of {
            self.add(other.at_least, at);
        }
        for missed in &other.missing {
            self.miss(&missed.what, &missed.why);
        }
        for old in &other.stale {
            self.stale(&old.what, &old.why);
        }
        self.approximate |= other.approximate;
    }

    pub(crate) fn approximate(&mut self) {
        self.approximate = true;
    }

    /// The sum, when every part is known.
    pub fn value(&self) -> Option<T> {
        self.missing.is_empty().then_some(self.at_least)
    }

    /// The sum of the known parts: no more than a lower bound while some are missing.
    pub fn at_least(&self) -> T {
        self.at_least
    }

    pub fn missing(&self) -> &[Missed] {
        &self.missing
    }

    pub fn stale_parts(&self) -> &[Missed] {
        &self.stale
    }

    pub fn as_of(&self) -> Option<Millis> {
        self.as_of
    }

    pub fn is_approximate(&self) -> bool {
        self.approximate
    }

    /// Nothing is known at all.
    pub fn is_unknown(&self) -> bool {
        !self.missing.is_empty() && self.as_of.is_none()
    }
}

/// One line a part, whatever the number of queues that miss for the same reason.
fn note(list: &mut Vec<Missed>, what: String, why: Why) {
    let missed = Missed { what, why };
    if !list.contains(&missed) {
        list.push(missed);
    }
}

impl<T: Copy + Default + std::ops::AddAssign + Serialize> Serialize for Tally<T> {
    /// `value` is null unless every part is known, so that no caller takes a part for the whole.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Tally", 6)?;
        out.serialize_field("value", &self.value())?;
        out.serialize_field("at_least", &self.as_of.map(|_| self.at_least).or(self.value()))?;
        out.serialize_field("missing", &self.missing)?;
        out.serialize_field("stale", &self.stale)?;
        out.serialize_field("as_of", &self.as_of)?;
        out.serialize_field("approximate", &self.approximate)?;
        out.end()
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::Tally;
    use millrace_core::time::Millis;

    #[test]
    fn a_missing_part_leaves_a_lower_bound_and_no_value() {
        let mut tally = Tally::<i64>::default();
        tally.add(30, Millis(5));
        assert_eq!(tally.value(), Some(30));
        tally.miss("broker-b", "timed out");
        tally.miss("broker-b", "timed out");
        assert_eq!((tally.value(), tally.at_least(), tally.missing().len()), (None, 30, 1));
        let json = serde_json::to_value(&tally).expect("json");
        assert_eq!((json["value"].clone(), json["at_least"].clone()), (serde_json::Value::Null, 30.into()));
    }

    #[test]
    fn nothing_known_is_unknown_and_nothing_asked_is_zero() {
        let mut tally = Tally::<i64>::default();
        assert_eq!((tally.value(), tally.is_unknown()), (Some(0), false));
        tally.miss("broker-b", "timed out");
        assert!(tally.is_unknown());
        assert_eq!(serde_json::to_value(&tally).expect("json")["at_least"], serde_json::Value::Null);
    }
}
