//! Browsing a topic: newest first over all queues, by time, or one queue from an offset.

use futures::StreamExt;
use millrace_broker::{BrokerError, Message};
use millrace_core::coverage::Coverage;
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::cursor::Cursor;
use super::merge::{Limit, Limits, Row, merge};
use super::window::{DEADLINE, Order, Window, of_range};
use crate::console::Console;
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::within;

/// The most rows of one page.
const MAX_SIZE: usize = 200;
/// Queues whose ends are searched at once.
const AT_ONCE: usize = 16;

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browse {
    /// All queues, from their ends back.
    Newest,
    /// Messages stored from `from` to `to`, both included.
    Range { from: Millis, to: Millis, order: Order },
    /// One queue from `offset` on, or from `offset` back.
    Queue { broker: String, queue: i32, offset: i64, order: Order },
}

impl Browse {
    fn order(&self) -> Order {
        match self {
            Self::Newest => Order::NewestFirst,
            Self::Range { order, .. } | Self::Queue { order, .. } => *order,
        }
    }

    fn range(&self) -> Option<(Millis, Millis)> {
        match self {
            Self::Range { from, to, .. } => Some((*from, *to)),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct Page {
    pub rows: Vec<Row>,
    /// Where the next page begins; `None`: this was the last.
    pub next: Option<Cursor>,
    /// Messages on all pages together, as counted when the first was read. Offsets may have holes.
    pub total: i64,
    /// What stopped this page before it was full.
    pub limit: Option<Limit>,
    /// Queues, and brokers that did not say which they have.
    pub coverage: Coverage,
    /// Messages looked at for this page.
    pub examined: u64,
}

impl Console {
    /// One page. Without a cursor it is the first.
    ///
    /// # Errors
    /// `NotFound` for a topic that is not there; `Invalid` for a range whose end is before its start; the broker's error
    /// where nothing at all could be read.
    pub async fn browse(
        &self,
        topic: &str,
        browse: &Browse,
        size: usize,
        cursor: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page> {
        if browse.range().is_some_and(|(from, to)| to < from) {
            return Err(FieldErrors::one("to", "range-reversed").into());
        }
        let mut coverage = Coverage::default();
        let cursor = match cursor {
            Some(cursor) => cursor,
            None => self.first(topic, browse, &mut coverage).await?,
        };
        let size = size.clamp(1, MAX_SIZE);
        let merged = merge(self.read(), cursor.windows, browse.order(), browse.range(), size, limits).await;
        coverage.asked += merged.coverage.asked;
        coverage.answered += merged.coverage.answered;
        coverage.missed.extend(merged.coverage.missed);
        coverage.as_of = Some(self.now());
        let next = (!merged.rest.is_empty()).then_some(Cursor { total: cursor.total, windows: merged.rest });
        Ok(Page {
            rows: merged.rows,
            next,
            total: cursor.total,
            limit: merged.limit,
            coverage,
            examined: merged.examined,
        })
    }

    async fn first(&self, topic: &str, browse: &Browse, coverage: &mut Coverage) -> Result<Cursor> {
        let all = self.queue_windows(topic, coverage).await?;
        let windows = match browse {
            Browse::Newest => all,
            Browse::Range { from, to, .. } => self.in_range(all, *from, *to, coverage).await,
            Browse::Queue { broker, queue, offset, order } => {
                let window = all.into_iter().find(|w| w.queue.broker == *broker && w.queue.queue == *queue);
                let Some(window) = window else {
                    if let Some(missed) = coverage.missed.iter().find(|missed| missed.what == *broker) {
                        return Err(
                            BrokerError::Unreachable { address: broker.clone(), why: missed.why.english() }.into()
                        );
                    }
                    return Err(ConsoleError::NotFound(format!("queue {queue} of {topic} on {broker}")));
                };
                coverage.missed.clear();
                coverage.asked = coverage.answered;
                vec![match order {
                    Order::OldestFirst => Window { lo: (*offset).clamp(window.lo, window.hi), ..window },
                    Order::NewestFirst => Window { hi: offset.saturating_add(1).clamp(window.lo, window.hi), ..window },
                }]
            }
        };
        Ok(Cursor { total: windows.iter().map(Window::span).sum(), windows })
    }

    /// Every queue with its bounds, a call a broker.
    async fn queue_windows(&self, topic: &str, coverage: &mut Coverage) -> Result<Vec<Window>> {
        let route = within(DEADLINE, "the name servers", self.read().route(topic)).await;
        let brokers = self.brokers_of(topic, None, route.as_ref().ok());
        if brokers.is_empty() {
            return Err(route.err().map_or_else(|| ConsoleError::NotFound(format!("topic {topic}")), Into::into));
        }
        let stats = futures::future::join_all(brokers.iter().map(|broker| async move {
            (broker, within(DEADLINE, broker, self.read().topic_stats(broker, topic)).await)
        }))
        .await;
        let mut windows = Vec::new();
        let mut error = None;
        for (broker, stats) in stats {
            match stats {
                Ok(stats) => windows.extend(stats.iter().map(Window::of)),
                Err(BrokerError::NotFound(_)) => {}
                Err(failed) => {
                    coverage.miss(broker, &failed);
                    error = Some(failed);
                }
            }
        }
        match error {
            Some(error) if windows.is_empty() => Err(error.into()),
            _ => Ok(windows),
        }
    }

    async fn in_range(&self, all: Vec<Window>, from: Millis, to: Millis, coverage: &mut Coverage) -> Vec<Window> {
        let searches = futures::stream::iter(all.into_iter().filter(|window| !window.is_empty()))
            .map(|whole| async move { (whole.queue.clone(), of_range(self.read(), whole, from, to).await) });
        let found: Vec<(QueueRef, millrace_broker::Result<Window>)> = searches.buffered(AT_ONCE).collect().await;
        let mut windows = Vec::new();
        for (queue, window) in found {
            match window {
                Ok(window) if window.is_empty() => coverage.answer(),
                Ok(window) => windows.push(window),
                Err(error) => coverage.miss(format!("{} queue {}", queue.broker, queue.queue), &error),
            }
        }
        windows
    }

    /// The message at one place, whole.
    ///
    /// # Errors
    /// `NotFound` says whether the offset is not there any more or not there yet.
    pub async fn message_at(&self, queue: &QueueRef, offset: i64) -> Result<Message> {
        let batch = within(DEADLINE, &queue.broker, self.read().pull(queue, offset, 1)).await?;
        let why = if offset < batch.min {
            format!("offset {offset} of {queue}: retention removed it (the queue begins at {})", batch.min)
        } else if offset >= batch.max {
            format!("offset {offset} of {queue}: the queue ends before {}", batch.max)
        } else {
            format!("offset {offset} of {queue}")
        };
        batch.messages.into_iter().find(|message| message.offset == offset).ok_or(ConsoleError::NotFound(why))
    }
}
