//! What ingest is doing, for pages, metrics and readiness. Written by worker, readers and writer; read by everybody.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use millrace_core::coverage::{Coverage, Missed, Why};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_store::Retention;
use serde::Serialize;
use tokio::sync::watch;

use super::IngestSettings;

/// Seconds over which the rate is averaged.
const RATE_WINDOW_MS: i64 = 10_000;

/// Where one queue stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueProgress {
    pub queue: QueueRef,
    /// The next offset to write; everything before it is in the store.
    pub next: i64,
    /// One past the highest offset at the broker, when last heard.
    pub max: Option<i64>,
    /// Store time of the last written message.
    pub stored: Option<Millis>,
    /// When nothing was left to read, the last time that was seen.
    pub ended: Option<Millis>,
    /// Messages that were gone at the broker before they could be read.
    pub expired: u64,
    /// Why the queue is not being read just now.
    pub error: Option<String>,
}

impl QueueProgress {
    /// Messages still to read; `None` until the broker told its highest offset.
    pub fn lag(&self) -> Option<i64> {
        self.max.map(|max| (max - self.next).max(0))
    }

    fn seen(&mut self, now: Millis) {
        if self.lag() == Some(0) {
            self.ended = Some(now);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum WorkerHealth {
    /// This process does not ingest.
    Off,
    Starting,
    Running,
    /// Reading goes on where it can; this is what does not work.
    Degraded {
        why: String,
    },
    Stopped,
}

/// A snapshot of ingest on one cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IngestStatus {
    pub cluster: String,
    pub group: String,
    pub client: String,
    pub health: WorkerHealth,
    /// Members of the group, this worker among them.
    pub members: Vec<String>,
    /// Trace topics that exist; empty: there is none, tracing is off at the brokers.
    pub topics: Vec<String>,
    /// Queues that this worker reads.
    pub queues: Vec<QueueProgress>,
    /// Brokers asked for their trace topics.
    pub coverage: Coverage,
    /// Queues that brokers refuse to let us read, and trace topics without the permission to be read.
    pub refused: Vec<Missed>,
    /// Since this process started.
    pub messages: u64,
    pub records: u64,
    pub rejects: u64,
    /// Records a second over the last ten seconds.
    pub rate: f64,
    /// Everything stored at the brokers before this instant has been read.
    pub watermark: Option<Millis>,
    /// How far the watermark is behind the present, in milliseconds.
    pub behind_ms: Option<i64>,
}

#[derive(Debug)]
struct Inner {
    health: WorkerHealth,
    write_error: Option<String>,
    members: Vec<String>,
    topics: Vec<String>,
    queues: BTreeMap<QueueRef, QueueProgress>,
    coverage: Coverage,
    refused: BTreeMap<QueueRef, Why>,
    unreadable: Vec<Missed>,
    messages: u64,
    records: u64,
    rejects: u64,
    written: VecDeque<(Millis, u64)>,
}

#[derive(Debug)]
pub struct IngestState {
    cluster: String,
    group: String,
    client: String,
    /// How long what is read is kept.
    pub retention: Retention,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

impl IngestState {
    pub(super) fn new(cluster: &str, settings: &IngestSettings) -> Self {
        Self {
            cluster: cluster.to_owned(),
            group: settings.group.clone(),
            client: settings.client.clone(),
            retention: settings.retention,
            inner: Mutex::new(Inner {
                health: WorkerHealth::Starting,
                write_error: None,
                members: Vec::new(),
                topics: Vec::new(),
                queues: BTreeMap::new(),
                coverage: Coverage::default(),
                refused: BTreeMap::new(),
                unreadable: Vec::new(),
                messages: 0,
                records: 0,
                rejects: 0,
                written: VecDeque::new(),
            }),
            changed: watch::Sender::new(0),
        }
    }

    /// A state in which nothing is read: for command line look-ups and tests.
    pub fn idle(cluster: &str) -> Self {
        let state = Self::new(cluster, &IngestSettings::new("none"));
        state.lock().health = WorkerHealth::Off;
        state
    }

    /// Fires after each write and each rebalance.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub fn status(&self, now: Millis) -> IngestStatus {
        let inner = self.lock();
        let recent: u64 =
            inner.written.iter().filter(|(at, _)| now.since(*at) <= RATE_WINDOW_MS).map(|(_, records)| records).sum();
        let watermark = watermark(inner.queues.values(), now);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = recent as f64 / (RATE_WINDOW_MS / 1000) as f64;
        let health = match &inner.write_error {
            Some(why) => WorkerHealth::Degraded { why: why.clone() },
            None => inner.health.clone(),
        };
        IngestStatus {
            cluster: self.cluster.clone(),
            group: self.group.clone(),
            client: self.client.clone(),
            health,
            members: inner.members.clone(),
            topics: inner.topics.clone(),
            queues: inner.queues.values().cloned().collect(),
            coverage: inner.coverage.clone(),
            refused: refused(&inner),
            messages: inner.messages,
            records: inner.records,
            rejects: inner.rejects,
            rate,
            watermark,
            behind_ms: watermark.map(|mark| now.since(mark).max(0)),
        }
    }

    pub(super) fn rebalanced(
        &self,
        members: Vec<String>,
        topics: Vec<String>,
        coverage: Coverage,
        unreadable: Vec<Missed>,
    ) {
        let mut inner = self.lock();
        let degraded = (!coverage.complete()).then(|| {
            coverage.missed.iter().map(|m| format!("{}: {}", m.what, m.why.english())).collect::<Vec<_>>().join("; ")
        });
        inner.health = match degraded {
            Some(why) => WorkerHealth::Degraded { why },
            None => WorkerHealth::Running,
        };
        inner.members = members;
        inner.topics = topics;
        inner.coverage = coverage;
        inner.unreadable = unreadable;
        drop(inner);
        self.announce();
    }

    pub(super) fn health(&self, health: WorkerHealth) {
        self.lock().health = health;
        self.announce();
    }

    pub(super) fn write_failed(&self, why: Option<String>) {
        let mut inner = self.lock();
        if inner.write_error != why {
            inner.write_error = why;
            drop(inner);
            self.announce();
        }
    }

    pub(super) fn queue_started(&self, queue: &QueueRef, next: i64, stored: Option<Millis>) {
        let progress =
            QueueProgress { queue: queue.clone(), next, max: None, stored, ended: None, expired: 0, error: None };
        self.lock().queues.insert(queue.clone(), progress);
        self.announce();
    }

    pub(super) fn queue_left(&self, queue: &QueueRef) {
        let mut inner = self.lock();
        inner.queues.remove(queue);
        inner.refused.remove(queue);
        drop(inner);
        self.announce();
    }

    /// What the broker just told about a queue.
    pub(super) fn queue_heard(&self, queue: &QueueRef, now: Millis, max: Result<i64, String>) {
        if let Some(progress) = self.lock().queues.get_mut(queue) {
            match max {
                Ok(max) => {
                    progress.max = Some(max);
                    progress.error = None;
                    progress.seen(now);
                }
                Err(why) => progress.error = Some(why),
            }
        }
    }

    /// The broker refuses to let a queue be read; told until it does not.
    pub(super) fn queue_refused(&self, queue: &QueueRef, why: Option<Why>) {
        let mut inner = self.lock();
        let before = match why {
            Some(why) => inner.refused.insert(queue.clone(), why.clone()) != Some(why),
            None => inner.refused.remove(queue).is_some(),
        };
        drop(inner);
        if before {
            self.announce();
        }
    }

    pub(super) fn queue_expired(&self, queue: &QueueRef, messages: u64) {
        if let Some(progress) = self.lock().queues.get_mut(queue) {
            progress.expired += messages;
        }
    }

    /// A transaction was written: `moves` are queues with their new position and the newest store time.
    pub(super) fn written(
        &self,
        now: Millis,
        appended: millrace_store::Appended,
        moves: impl IntoIterator<Item = (QueueRef, i64, Option<Millis>)>,
    ) {
        let mut inner = self.lock();
        inner.messages += appended.messages;
        inner.records += appended.records;
        inner.rejects += appended.rejects;
        inner.written.push_back((now, appended.records));
        while inner.written.front().is_some_and(|(at, _)| now.since(*at) > RATE_WINDOW_MS) {
            inner.written.pop_front();
        }
        for (queue, next, stored) in moves {
            if let Some(progress) = inner.queues.get_mut(&queue) {
                progress.next = next;
                progress.stored = stored.or(progress.stored);
                progress.max = progress.max.map(|max| max.max(next));
                progress.seen(now);
            }
        }
        drop(inner);
        self.announce();
    }

    fn announce(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What may not be read, each reason once a broker.
fn refused(inner: &Inner) -> Vec<Missed> {
    let queues = inner.refused.iter().map(|(queue, why)| Missed { what: queue.broker.clone(), why: why.clone() });
    let all: BTreeSet<Missed> = queues.chain(inner.unreadable.iter().cloned()).collect();
    all.into_iter().collect()
}

/// A queue that is read to its end is read up to the present; one behind, up to its last written message or to when its
/// end was last seen, whichever is later. A queue that never told leaves the watermark unknown.
fn watermark<'a>(queues: impl Iterator<Item = &'a QueueProgress>, now: Millis) -> Option<Millis> {
    let mut mark = None;
    for queue in queues {
        let at = match (queue.error.is_none(), queue.lag()) {
            (true, Some(0)) => now,
            _ => queue.stored.max(queue.ended)?,
        };
        mark = Some(mark.map_or(at, |mark: Millis| mark.min(at)));
    }
    mark
}

#[cfg(test)]
mod tests {
    use millrace_core::name::QueueRef;
    use millrace_core::time::Millis;
    use millrace_store::Appended;

    use super::IngestState;

    /// A message that arrives in a queue that was quiet for long does not put ingest behind by that long.
    #[test]
    fn a_quiet_queue_was_read_up_to_when_its_end_was_seen() {
        let state = IngestState::idle("shop");
        let queue = QueueRef { topic: "RMQ_SYS_TRACE_TOPIC".into(), broker: "broker-a".into(), queue: 0 };
        let behind = |now: i64| state.status(Millis(now)).behind_ms;
        state.queue_started(&queue, 7, Some(Millis(1_000)));
        assert_eq!(behind(2_000), Some(1_000), "nothing heard yet");
        state.queue_heard(&queue, Millis(300_000), Ok(7));
        assert_eq!(behind(305_000), Some(0));
        state.queue_heard(&queue, Millis(310_000), Ok(9));
        assert_eq!(behind(311_000), Some(11_000));
        state.queue_heard(&queue, Millis(312_000), Err("gone".into()));
        assert_eq!(behind(313_000), Some(13_000));
        state.queue_heard(&queue, Millis(314_000), Ok(9));
        state.written(Millis(315_000), Appended::default(), [(queue.clone(), 9, Some(Millis(309_900)))]);
        assert_eq!(behind(316_000), Some(0));
    }
}
