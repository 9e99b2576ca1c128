//! The one writer of a cluster's traces: stretches of many queues become one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use millrace_broker::BrokerTail;
use millrace_core::name::QueueRef;
use millrace_core::time::{Clock, Millis};
use millrace_store::{Batch, PositionMove, StoreError, TraceStore};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::IngestSettings;
use super::metrics::Metrics;
use super::reader::Stretch;
use super::state::IngestState;

const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LONGEST: Duration = Duration::from_secs(10);
/// How often the broker is told how far the group is.
const COMMIT_EVERY_MS: i64 = 5_000;

pub(super) struct Writer {
    pub store: Arc<dyn TraceStore>,
    pub tail: Arc<dyn BrokerTail>,
    pub settings: IngestSettings,
    pub clock: Arc<dyn Clock>,
    pub state: Arc<IngestState>,
    pub metrics: Metrics,
    pub input: mpsc::Receiver<Stretch>,
    /// Cancelled when a store fault makes the readers' positions untrue: they start again from the store's.
    pub restart: mpsc::Sender<QueueRef>,
    pub stop: CancellationToken,
}

/// A queue's part of a transaction.
struct Progress {
    expected: Option<i64>,
    next: i64,
    stored: Option<Millis>,
}

impl Writer {
    /// Writes until every reader is gone.
    pub(super) async fn run(mut self) {
        let mut uncommitted: BTreeMap<QueueRef, i64> = BTreeMap::new();
        let mut committed_at = self.clock.now();
        while let Some(first) = self.input.recv().await {
            let stretches = self.gather(first).await;
            for (queue, next) in self.write(stretches).await {
                uncommitted.insert(queue, next);
            }
            let now = self.clock.now();
            if now.since(committed_at) >= COMMIT_EVERY_MS {
                committed_at = now;
                self.commit(std::mem::take(&mut uncommitted)).await;
            }
        }
        self.commit(uncommitted).await;
    }

    /// More stretches, until the transaction is full or the first has waited long enough.
    async fn gather(&mut self, first: Stretch) -> Vec<Stretch> {
        let deadline = tokio::time::Instant::now() + self.settings.batch_wait;
        let mut records = count(&first);
        let mut stretches = vec![first];
        while records < self.settings.batch_records {
            match tokio::time::timeout_at(deadline, self.input.recv()).await {
                Ok(Some(stretch)) => {
                    records += count(&stretch);
                    stretches.push(stretch);
                }
                Ok(None) | Err(_) => break,
            }
        }
        stretches
    }

    /// Writes one transaction, again and again while the store is down: the readers wait, nothing is dropped.
    /// Returns the queues that moved.
    async fn write(&self, stretches: Vec<Stretch>) -> Vec<(QueueRef, i64)> {
        let (batch, progress) = join(stretches);
        let mut pause = RETRY_FIRST;
        loop {
            let now = self.clock.now();
            let span = tracing::info_span!("ingest.append", messages = batch.messages.len());
            match self.store.append(batch.clone(), now).instrument(span).await {
                Ok(appended) => {
                    self.metrics.written(appended);
                    self.state.write_failed(None);
                    let moves = progress.iter().map(|(queue, p)| (queue.clone(), p.next, p.stored));
                    self.state.written(now, appended, moves);
                    return progress.into_iter().map(|(queue, p)| (queue, p.next)).collect();
                }
                Err(StoreError::Fenced { queue, expected, actual }) => {
                    tracing::warn!(
                        queue,
                        ?expected,
                        ?actual,
                        "another worker moved the position: reading again from it"
                    );
                    for queue in progress.into_keys() {
                        let _ = self.restart.send(queue).await;
                    }
                    return Vec::new();
                }
                Err(error) => {
                    let told = chain(&error);
                    tracing::error!(error = told, "traces are not written, trying again");
                    self.state.write_failed(Some(told));
                    tokio::select! {
                        () = self.stop.cancelled() => return Vec::new(),
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(RETRY_LONGEST);
                }
            }
        }
    }

    /// Only for other tools' eyes: the store's positions are the truth, so a failure is no loss.
    async fn commit(&self, offsets: BTreeMap<QueueRef, i64>) {
        for (queue, next) in offsets {
            if let Err(error) = self.tail.commit(&self.settings.group, &queue, next).await {
                tracing::debug!(%queue, %error, "the broker was not told the position");
            }
        }
    }
}

fn count(stretch: &Stretch) -> usize {
    stretch.messages.iter().map(|message| message.records as usize + message.rejects.len()).sum::<usize>().max(1)
}

/// One batch, and for each queue its first `expected` and last `next`. A stretch that does not follow on its
/// predecessor (its queue was restarted in between) is left out: the restarted reader brings it again.
fn join(stretches: Vec<Stretch>) -> (Batch, BTreeMap<QueueRef, Progress>) {
    let mut messages = Vec::new();
    let mut progress: BTreeMap<QueueRef, Progress> = BTreeMap::new();
    for stretch in stretches {
        let stored = stretch.messages.iter().map(|message| message.message.stored).max();
        match progress.get_mut(&stretch.queue) {
            Some(known) if stretch.expected == Some(known.next) => {
                known.next = stretch.next;
                known.stored = stored.or(known.stored);
            }
            Some(_) => continue,
            None => {
                let part = Progress { expected: stretch.expected, next: stretch.next, stored };
                progress.insert(stretch.queue.clone(), part);
            }
        }
        messages.extend(stretch.messages);
    }
    let moves = progress
        .iter()
        .map(|(queue, p)| PositionMove { queue: queue.clone(), expected: p.expected, next: p.next })
        .collect();
    (Batch { messages, moves }, progress)
}

/// An error with its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
