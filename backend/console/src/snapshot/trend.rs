//! Whether a group keeps up with a topic: what its lag did over the last minutes.

use std::collections::HashMap;

use millrace_core::time::Millis;
use serde::Serialize;

use super::rate::per_second;

/// How long a lag must last before it is worth a word, in milliseconds.
const LASTING: i64 = 60_000;
/// Growth below this many messages is noise.
const NOTABLE: i64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "trend", rename_all = "snake_case")]
pub enum Trend {
    /// Nothing to say, or not watched for long enough.
    Steady,
    /// The lag did not fall once since `since`, and grew by `by`.
    Growing { since: Millis, by: i64 },
    /// There is a lag, and the group's offsets have not moved since `since`.
    Stuck { since: Millis },
}

#[derive(Debug, Clone)]
struct Watch {
    lag: i64,
    /// Where the present rise began.
    base: i64,
    rising_since: Millis,
    committed: i64,
    moved_at: Millis,
    seen_at: Millis,
    /// Passed a second since the observation before.
    per_second: Option<f64>,
}

/// What was seen of every group on every topic.
#[derive(Debug, Default)]
pub(crate) struct Trends {
    watched: HashMap<(String, String), (u64, Watch)>,
    round: u64,
}

impl Trends {
    /// A complete round of observations begins.
    pub(crate) fn begin(&mut self) {
        self.round += 1;
    }

    pub(crate) fn observe(&mut self, group: &str, topic: &str, lag: i64, committed: i64, now: Millis) {
        let fresh =
            Watch { lag, base: lag, rising_since: now, committed, moved_at: now, seen_at: now, per_second: None };
        let (round, watch) =
            self.watched.entry((group.to_owned(), topic.to_owned())).or_insert_with(|| (self.round, fresh));
        *round = self.round;
        if lag < watch.lag {
            watch.base = lag;
            watch.rising_since = now;
        }
        let elapsed = now.since(watch.seen_at);
        if elapsed > 0 {
            let passed = committed - watch.committed;
            // Offsets that went back were set by somebody: that is no consumption.
            watch.per_second = (passed >= 0).then(|| per_second(passed, elapsed));
            watch.seen_at = now;
        }
        if committed != watch.committed || lag == 0 {
            watch.committed = committed;
            watch.moved_at = now;
        }
        watch.lag = lag;
    }

    /// Forgets what this round did not see.
    pub(crate) fn end(&mut self) {
        let round = self.round;
        self.watched.retain(|_, (seen, _)| *seen == round);
    }

    pub(crate) fn per_second(&self, group: &str, topic: &str) -> Option<f64> {
        self.watched.get(&(group.to_owned(), topic.to_owned())).and_then(|(_, watch)| watch.per_second)
    }

    pub(crate) fn of(&self, group: &str, topic: &str, now: Millis) -> Trend {
        let Some((_, watch)) = self.watched.get(&(group.to_owned(), topic.to_owned())) else { return Trend::Steady };
        if watch.lag > 0 && now.since(watch.moved_at) >= LASTING {
            return Trend::Stuck { since: watch.moved_at };
        }
        let by = watch.lag - watch.base;
        if by >= NOTABLE && now.since(watch.rising_since) >= LASTING {
            return Trend::Growing { since: watch.rising_since, by };
        }
        Trend::Steady
    }
}

#[cfg(test)]
mod tests {
    use super::{Trend, Trends};
    use millrace_core::time::Millis;

    fn after(observations: &[(i64, i64, i64)]) -> Trend {
        let mut trends = Trends::default();
        for (at, lag, committed) in observations {
            trends.begin();
            trends.observe("pricing", "orders", *lag, *committed, Millis(*at));
            trends.end();
        }
        trends.of("pricing", "orders", Millis(observations.last().map_or(0, |last| last.0)))
    }

    #[test]
    fn growing_is_a_lag_that_never_falls() {
        assert_eq!(
            after(&[(0, 10, 1), (30_000, 80, 2), (60_000, 400, 3)]),
            Trend::Growing { since: Millis(0), by: 390 }
        );
        assert_eq!(after(&[(0, 10, 1), (30_000, 5, 2), (60_000, 400, 3)]), Trend::Steady);
        assert_eq!(after(&[(0, 10, 1), (30_000, 30, 2), (60_000, 40, 3)]), Trend::Steady);
    }

    #[test]
    fn stuck_is_a_lag_whose_offsets_stand_still() {
        assert_eq!(after(&[(0, 10, 1), (60_000, 10, 1)]), Trend::Stuck { since: Millis(0) });
        assert_eq!(after(&[(0, 0, 1), (60_000, 0, 1)]), Trend::Steady);
    }
}
