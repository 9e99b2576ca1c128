//! The last hour of every topic's rate, a point a minute. A minute without a known rate is a gap, not a zero.

use std::collections::HashMap;
use std::sync::Arc;

use millrace_core::time::Millis;

const MINUTE: i64 = 60_000;
const POINTS: usize = 60;

/// Oldest first.
pub type Points = Arc<[Option<f64>]>;

#[derive(Debug, Default)]
pub(crate) struct History {
    topics: HashMap<String, Line>,
}

#[derive(Debug)]
struct Line {
    minute: i64,
    sum: f64,
    count: u32,
    points: Points,
    seen: bool,
}

impl History {
    pub(crate) fn begin(&mut self) {
        for line in self.topics.values_mut() {
            line.seen = false;
        }
    }

    /// `rate` is `None` when it is not known.
    pub(crate) fn observe(&mut self, topic: &str, rate: Option<f64>, now: Millis) {
        let minute = now.0.div_euclid(MINUTE);
        let line = self.topics.entry(topic.to_owned()).or_insert_with(|| Line {
            minute,
            sum: 0.0,
            count: 0,
            points: Arc::new([]),
            seen: true,
        });
        line.seen = true;
        if line.minute != minute {
            let ended = (line.count > 0).then(|| line.sum / f64::from(line.count));
            let gaps = usize::try_from(minute - line.minute - 1).unwrap_or(0).min(POINTS);
            let all: Vec<Option<f64>> = line
                .points
                .iter()
                .copied()
                .chain(std::iter::once(ended))
                .chain(std::iter::repeat_n(None, gaps))
                .collect();
            line.points = all.iter().skip(all.len().saturating_sub(POINTS)).copied().collect();
            line.minute = minute;
            line.sum = 0.0;
            line.count = 0;
        }
        if let Some(rate) = rate {
            line.sum += rate;
            line.count += 1;
        }
    }

    /// Forgets topics that are gone.
    pub(crate) fn end(&mut self) {
        self.topics.retain(|_, line| line.seen);
    }

    pub(crate) fn of(&self, topic: &str) -> Points {
        self.topics.get(topic).map_or_else(|| Arc::new([]) as Points, |line| Arc::clone(&line.points))
    }
}

#[cfg(test)]
mod tests {
    use super::{History, MINUTE};
    use millrace_core::time::Millis;

    #[test]
    fn a_minute_is_the_mean_of_its_known_rates_and_a_gap_stays_a_gap() {
        let mut history = History::default();
        history.observe("orders", Some(2.0), Millis(0));
        history.observe("orders", None, Millis(5_000));
        history.observe("orders", Some(4.0), Millis(10_000));
        history.observe("orders", Some(9.0), Millis(2 * MINUTE));
        assert_eq!(*history.of("orders"), [Some(3.0), None]);
        history.observe("orders", Some(9.0), Millis(200 * MINUTE));
        assert_eq!(history.of("orders").len(), 60);
        history.begin();
        history.end();
        assert!(history.of("orders").is_empty());
    }
}
