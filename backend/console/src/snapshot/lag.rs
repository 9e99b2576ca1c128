//! How far a group is behind on a queue. Never a sentinel, never negative.

use millrace_broker::QueueStats;
use millrace_core::coverage::{Known, Why};
use millrace_core::time::Millis;
use serde::Serialize;

/// One queue's lag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueLag {
    /// Messages that the group can still read and has not: from what is left of its offset to the end.
    pub messages: i64,
    /// Messages that retention removed before the group read them.
    pub expired_unread: i64,
    /// How far the committed offset lies beyond the queue's end.
    pub beyond_end: i64,
    /// The end was read before the committed offset, so the number may be a little off.
    pub approximate: bool,
}

/// Lag from a queue's ends, read at `stats_at`, and a committed offset, read at `offsets_at`.
pub fn queue_lag(stats: &QueueStats, stats_at: Millis, committed: Option<i64>, offsets_at: Millis) -> Known<QueueLag> {
    let approximate = stats_at < offsets_at;
    let Some(committed) = committed.filter(|offset| *offset >= 0) else {
        if stats.max <= stats.min {
            return Known::Known(QueueLag { messages: 0, expired_unread: 0, beyond_end: 0, approximate });
        }
        return Known::Unknown(Why::NeverCommitted);
    };
    let beyond = committed.saturating_sub(stats.max).max(0);
    Known::Known(QueueLag {
        messages: stats.max.saturating_sub(committed.max(stats.min)).max(0),
        expired_unread: stats.min.saturating_sub(committed).max(0),
        // An end that was read before the offset may have been passed since: that is no fault.
        beyond_end: if approximate { 0 } else { beyond },
        approximate: approximate && beyond > 0,
    })
}

#[cfg(test)]
mod tests {
    use super::{QueueLag, queue_lag};
    use millrace_broker::QueueStats;
    use millrace_core::coverage::Known;
    use millrace_core::name::QueueRef;
    use millrace_core::time::Millis;

    fn stats(min: i64, max: i64) -> QueueStats {
        let queue = QueueRef { topic: "orders".into(), broker: "broker-a".into(), queue: 0 };
        QueueStats { queue, min, max, last_update: None }
    }

    fn lag(messages: i64, expired_unread: i64, beyond_end: i64, approximate: bool) -> Known<QueueLag> {
        Known::Known(QueueLag { messages, expired_unread, beyond_end, approximate })
    }

    #[test]
    fn what_retention_removed_is_not_lag() {
        assert_eq!(queue_lag(&stats(50, 100), Millis(2), Some(20), Millis(1)), lag(50, 30, 0, false));
        assert_eq!(queue_lag(&stats(0, 100), Millis(2), Some(90), Millis(1)), lag(10, 0, 0, false));
    }

    #[test]
    fn an_offset_past_an_older_end_is_clamped_and_marked() {
        assert_eq!(queue_lag(&stats(0, 100), Millis(1), Some(103), Millis(2)), lag(0, 0, 0, true));
    }

    #[test]
    fn an_offset_past_a_newer_end_is_flagged() {
        assert_eq!(queue_lag(&stats(0, 100), Millis(2), Some(5_000), Millis(1)), lag(0, 0, 4_900, false));
    }

    #[test]
    fn no_offset_is_unknown_unless_the_queue_is_empty() {
        assert!(matches!(queue_lag(&stats(0, 100), Millis(2), None, Millis(1)), Known::Unknown(_)));
        assert!(matches!(queue_lag(&stats(0, 100), Millis(2), Some(-1), Millis(1)), Known::Unknown(_)));
        assert_eq!(queue_lag(&stats(7, 7), Millis(2), None, Millis(1)), lag(0, 0, 0, false));
    }
}
