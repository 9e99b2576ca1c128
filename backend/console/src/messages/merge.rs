//! Reads several queues as one, by store time. Each queue has its own place, so no message comes twice and none is
//! missed, whatever the page size; what stops a page early is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use millrace_broker::{BrokerRead, Message, Result};
use millrace_core::coverage::{Coverage, Why};
use millrace_core::time::Millis;
use serde::Serialize;
use tokio::time::Instant;

use super::place;
use super::window::{BLOCK, DEADLINE, Order, Window};
use crate::snapshot::within;

/// Queues read at once.
const AT_ONCE: usize = 16;
/// Of a body, what a list keeps.
const KEPT_BODY: usize = 1024;

/// What a page may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub time: Duration,
    /// Beside two for every queue.
    pub pulls: u64,
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), pulls: 500, bytes: 64 * 1024 * 1024 }
    }
}

/// The limit that stopped a page before it was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Time,
    Pulls,
    Bytes,
}

/// A message in a list: of its body, only the start is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub message: Message,
    /// Bytes of the whole body.
    pub body_size: usize,
}

impl Row {
    pub(crate) fn of(mut message: Message) -> Self {
        let body_size = message.body.bytes.len();
        // A text is cut between two characters, so that its start is a text as well.
        let kept =
            std::str::from_utf8(&message.body.bytes).map_or(KEPT_BODY, |text| text.floor_char_boundary(KEPT_BODY));
        if let Some(start) = message.body.bytes.get(..kept).filter(|_| body_size > kept) {
            message.body.bytes = Bytes::copy_from_slice(start);
        }
        Self { message, body_size }
    }
}

#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) rows: Vec<Row>,
    /// What is left to read.
    pub(crate) rest: Vec<Window>,
    pub(crate) limit: Option<Limit>,
    /// By queue.
    pub(crate) coverage: Coverage,
    /// Messages looked at, those outside the time range too.
    pub(crate) examined: u64,
}

/// The next `size` messages of `windows`, of those stored within `range` (both ends included).
pub(crate) async fn merge(
    read: &dyn BrokerRead,
    windows: Vec<Window>,
    order: Order,
    range: Option<(Millis, Millis)>,
    size: usize,
    limits: Limits,
) -> Merged {
    let lanes = windows.len().max(1);
    let budget = Budget {
        until: Instant::now() + limits.time,
        pulls_left: limits.pulls + 2 * lanes as u64,
        bytes_most: limits.bytes,
        pulls: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        examined: AtomicU64::new(0),
    };
    let block = i64::try_from(2 * size / lanes + 1).unwrap_or(BLOCK).clamp(4, BLOCK);
    let reader = Reader { read, order, range, block, budget };
    let mut lanes: Vec<Lane> =
        windows.into_iter().map(|window| Lane { window, buffer: VecDeque::new(), failure: None }).collect();
    let mut rows = Vec::new();
    let mut limit = None;
    while rows.len() < size {
        if lanes.iter().any(Lane::hungry) {
            if let Some(hit) = reader.budget.hit() {
                limit = Some(hit);
                break;
            }
            lanes = reader.feed(lanes).await;
            if lanes.iter().any(Lane::hungry) {
                continue;
            }
        }
        let first = lanes
            .iter_mut()
            .filter(|lane| lane.failure.is_none() && !lane.buffer.is_empty())
            .reduce(|best, lane| if lane.comes_before(best, order) { lane } else { best });
        let Some(row) = first.and_then(|lane| lane.buffer.pop_front()) else { break };
        rows.push(row);
    }
    let mut coverage = Coverage::default();
    for lane in &lanes {
        match &lane.failure {
            Some(why) => coverage.miss(format!("{} queue {}", lane.window.queue.broker, lane.window.queue.queue), why),
            None => coverage.answer(),
        }
    }
    Merged {
        rows,
        rest: lanes.into_iter().map(|lane| lane.rest(order)).filter(|window| !window.is_empty()).collect(),
        limit,
        coverage,
        examined: reader.budget.examined.into_inner(),
    }
}

/// One queue: what was read and not yet given out, and what was not yet read.
#[derive(Debug)]
struct Lane {
    window: Window,
    buffer: VecDeque<Row>,
    failure: Option<Why>,
}

impl Lane {
    /// Its next message is not known yet.
    fn hungry(&self) -> bool {
        self.buffer.is_empty() && !self.window.is_empty() && self.failure.is_none()
    }

    fn comes_before(&self, other: &Self, order: Order) -> bool {
        match (self.buffer.front(), other.buffer.front()) {
            (Some(mine), Some(theirs)) => match order {
                Order::NewestFirst => place(&mine.message) > place(&theirs.message),
                Order::OldestFirst => place(&mine.message) < place(&theirs.message),
            },
            (mine, _) => mine.is_some(),
        }
    }

    /// What the next page has to read: what was read and not given out is read again.
    fn rest(mut self, order: Order) -> Window {
        if let Some(row) = self.buffer.front() {
            match order {
                Order::NewestFirst => self.window.hi = row.message.offset + 1,
                Order::OldestFirst => self.window.lo = row.message.offset,
            }
        }
        self.window
    }
}

struct Budget {
    until: Instant,
    pulls_left: u64,
    bytes_most: u64,
    pulls: AtomicU64,
    bytes: AtomicU64,
    examined: AtomicU64,
}

impl Budget {
    fn hit(&self) -> Option<Limit> {
        if Instant::now() >= self.until {
            Some(Limit::Time)
        } else if self.pulls.load(Ordering::Relaxed) >= self.pulls_left {
            Some(Limit::Pulls)
        } else if self.bytes.load(Ordering::Relaxed) >= self.bytes_most {
            Some(Limit::Bytes)
        } else {
            None
        }
    }
}

struct Reader<'a> {
    read: &'a dyn BrokerRead,
    order: Order,
    range: Option<(Millis, Millis)>,
    block: i64,
    budget: Budget,
}

impl Reader<'_> {
    async fn feed(&self, lanes: Vec<Lane>) -> Vec<Lane> {
        let fed = futures::stream::iter(lanes).map(|mut lane| async move {
            while lane.hungry() {
                if let Err(error) = self.load(&mut lane).await {
                    lane.failure = Some(error.into());
                }
                if self.budget.hit().is_some() {
                    break;
                }
            }
            lane
        });
        fed.buffered(AT_ONCE).collect().await
    }

    /// Reads the lane's next block.
    async fn load(&self, lane: &mut Lane) -> Result<()> {
        let whole = lane.window.clone();
        let (start, end) = match self.order {
            Order::NewestFirst => ((whole.hi - self.block).max(whole.lo), whole.hi),
            Order::OldestFirst => (whole.lo, (whole.lo + self.block).min(whole.hi)),
        };
        let mut at = start;
        let mut rows = VecDeque::new();
        // A broker answers fewer than asked for when messages are large or no longer in memory.
        while at < end {
            let most = u32::try_from(end - at).unwrap_or(1);
            self.budget.pulls.fetch_add(1, Ordering::Relaxed);
            let batch = within(DEADLINE, &whole.queue.broker, self.read.pull(&whole.queue, at, most)).await?;
            for message in batch.messages.into_iter().filter(|message| (at..end).contains(&message.offset)) {
                self.budget.examined.fetch_add(1, Ordering::Relaxed);
                self.budget.bytes.fetch_add(message.body.bytes.len() as u64, Ordering::Relaxed);
                if self.range.is_none_or(|(from, to)| (from..=to).contains(&message.stored)) {
                    rows.push_back(Row::of(message));
                }
            }
            // What retention removed meanwhile is passed over.
            let next = batch.next.max(batch.min);
            if next <= at {
                at = end;
            } else {
                at = next;
            }
        }
        match self.order {
            Order::NewestFirst => {
                lane.window.hi = start;
                rows.make_contiguous().reverse();
            }
            Order::OldestFirst => lane.window.lo = at.min(whole.hi),
        }
        lane.buffer.append(&mut rows);
        Ok(())
    }
}
