//! Rates from the difference of two readings. A counter that went back has no rate.

use millrace_broker::QueueStats;
use millrace_core::coverage::{Known, Why};
use millrace_core::time::Millis;

use super::broker::StatsReading;

/// Messages put a second between two readings of the same queues.
pub(crate) fn put_per_second(before: Option<&StatsReading>, queues: &[QueueStats], now: Millis) -> Known<f64> {
    let Some(before) = before else { return Known::Unknown(Why::OneReading) };
    let elapsed = now.since(before.at);
    if elapsed < 1 {
        return Known::Unknown(Why::OneReading);
    }
    let mut put = 0_i64;
    for queue in queues {
        // A queue that was not there before began at its lowest offset.
        let from = before.queues.iter().find(|old| old.queue == queue.queue).map_or(queue.min, |old| old.max);
        if queue.max < from {
            return Known::Unknown(Why::WentBack);
        }
        put = put.saturating_add(queue.max - from);
    }
    Known::Known(per_second(put, elapsed))
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
pub(crate) fn per_second(messages: i64, elapsed_ms: i64) -> f64 {
    messages as f64 * 1000.0 / elapsed_ms as f64
}

#[cfg(test)]
mod tests {
    use super::put_per_second;
    use crate::snapshot::StatsReading;
    use millrace_broker::QueueStats;
    use millrace_core::coverage::Known;
    use millrace_core::name::QueueRef;
    use millrace_core::time::Millis;

    fn queue(queue: i32, max: i64) -> QueueStats {
        let queue = QueueRef { topic: "orders".into(), broker: "broker-a".into(), queue };
        QueueStats { queue, min: 0, max, last_update: None }
    }

    fn reading(at: i64, queues: Vec<QueueStats>) -> StatsReading {
        StatsReading { at: Millis(at), queues, per_second: Known::Known(0.0) }
    }

    #[test]
    fn the_unit_is_a_second() {
        let before = reading(1_000, vec![queue(0, 10), queue(1, 0)]);
        let rate = put_per_second(Some(&before), &[queue(0, 30), queue(1, 5)], Millis(6_000));
        assert_eq!(rate, Known::Known(5.0));
    }

    #[test]
    fn a_counter_that_went_back_has_no_rate() {
        let before = reading(1_000, vec![queue(0, 10), queue(1, 10)]);
        let rate = put_per_second(Some(&before), &[queue(0, 3), queue(1, 500)], Millis(6_000));
        assert!(matches!(rate, Known::Unknown(_)));
        assert!(matches!(put_per_second(None, &[queue(0, 3)], Millis(6_000)), Known::Unknown(_)));
    }
}
