//! The part of a queue that a browse has still to read.

use std::time::Duration;

use millrace_broker::{BrokerRead, QueueStats, Result};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

use crate::snapshot::within;

/// For one call to a broker.
pub(crate) const DEADLINE: Duration = Duration::from_secs(3);
/// What a broker answers to one pull.
pub(crate) const BLOCK: i64 = 32;
/// How far a search result that is off is corrected, in blocks.
const CORRECTIONS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    #[default]
    NewestFirst,
    OldestFirst,
}

/// Offsets from `lo` to one before `hi`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    pub queue: QueueRef,
    pub lo: i64,
    pub hi: i64,
}

impl Window {
    pub fn of(stats: &QueueStats) -> Self {
        Self { queue: stats.queue.clone(), lo: stats.min, hi: stats.max.max(stats.min) }
    }

    pub fn is_empty(&self) -> bool {
        self.lo >= self.hi
    }

    pub fn span(&self) -> i64 {
        self.hi.saturating_sub(self.lo).max(0)
    }
}

/// The window that holds every message stored from `from` to `to`, both included.
///
/// A broker's search by time may land on any of several equal stamps (older brokers), or one before the end, so both
/// ends are looked at and corrected.
pub(crate) async fn of_range(read: &dyn BrokerRead, whole: Window, from: Millis, to: Millis) -> Result<Window> {
    let broker = whole.queue.broker.clone();
    let (lo, hi) = tokio::join!(
        within(DEADLINE, &broker, read.offset_at(&whole.queue, from)),
        within(DEADLINE, &broker, read.offset_at(&whole.queue, to.plus(1))),
    );
    let mut window = Window { lo: lo?.clamp(whole.lo, whole.hi), hi: hi?.clamp(whole.lo, whole.hi), ..whole.clone() };
    for _ in 0..CORRECTIONS {
        if window.lo <= whole.lo {
            break;
        }
        let start = (window.lo - BLOCK).max(whole.lo);
        let before = block(read, &window.queue, start, window.lo).await?;
        let earliest = before.iter().filter(|message| message.0 >= from).map(|message| message.1).min();
        let Some(earliest) = earliest else { break };
        window.lo = earliest;
        if before.iter().any(|message| message.0 < from) {
            break;
        }
    }
    window.hi = window.hi.max(window.lo);
    for _ in 0..CORRECTIONS {
        if window.hi >= whole.hi {
            break;
        }
        let after = block(read, &window.queue, window.hi, (window.hi + BLOCK).min(whole.hi)).await?;
        let latest = after.iter().filter(|message| message.0 <= to).map(|message| message.1).max();
        let Some(latest) = latest else { break };
        window.hi = latest + 1;
        if after.iter().any(|message| message.0 > to) {
            break;
        }
    }
    Ok(window)
}

/// Store times and offsets of one pull from `start`, those below `end`.
async fn block(read: &dyn BrokerRead, queue: &QueueRef, start: i64, end: i64) -> Result<Vec<(Millis, i64)>> {
    let most = u32::try_from((end - start).min(BLOCK)).unwrap_or(1);
    let batch = within(DEADLINE, &queue.broker, read.pull(queue, start, most)).await?;
    Ok(batch.messages.iter().filter(|m| m.offset < end).map(|m| (m.stored, m.offset)).collect())
}
