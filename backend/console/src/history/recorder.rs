//! The task that writes down each minute of a cluster.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use millrace_core::time::{Clock, Millis};
use millrace_store::{HistoryRow, MetaStore, Stretch};
use tokio_util::sync::CancellationToken;

use super::figures::{Kind, Mix, Point, points};
use super::pages;
use super::rollup::roll;
use crate::snapshot::{Snapshot, SnapshotSource};

/// How long the history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryOptions {
    /// Days whose minutes are kept.
    pub minutes_days: u32,
    /// Days whose hours are kept.
    pub hours_days: u32,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self { minutes_days: 7, hours_days: 90 }
    }
}

/// While the database does not take them, so many minutes wait.
const MOST_WAITING: usize = 120;

/// Records what `snapshots` shows until `stop`, then writes the minute under way. The caller owns the task.
pub async fn record(
    snapshots: SnapshotSource,
    store: Arc<dyn MetaStore>,
    clock: Arc<dyn Clock>,
    options: HistoryOptions,
    stop: CancellationToken,
) {
    let mut newest = snapshots.watch();
    let mut recorder = Recorder {
        store,
        options,
        cluster: snapshots.current().cluster.clone(),
        minute: Stretch::Minute.start_of(clock.now()),
        mixes: BTreeMap::new(),
        rounds: 0,
        waiting: VecDeque::new(),
        failing: false,
    };
    recorder.roll(clock.now()).await;
    loop {
        let told = stop.run_until_cancelled(newest.changed()).await;
        if !matches!(told, Some(Ok(()))) {
            break;
        }
        let snapshot = Arc::clone(&newest.borrow_and_update());
        recorder.take(&snapshot, clock.now()).await;
    }
    recorder.finish();
    recorder.write().await;
}

struct Recorder {
    store: Arc<dyn MetaStore>,
    options: HistoryOptions,
    cluster: String,
    minute: Millis,
    mixes: BTreeMap<String, Mix>,
    /// The last round that was taken in.
    rounds: u64,
    waiting: VecDeque<HistoryRow>,
    failing: bool,
}

impl Recorder {
    async fn take(&mut self, snapshot: &Snapshot, now: Millis) {
        // Pictures between rounds show the same readings again.
        if snapshot.rounds == self.rounds {
            return;
        }
        self.rounds = snapshot.rounds;
        let minute = Stretch::Minute.start_of(now);
        if minute != self.minute {
            let hour_over = Stretch::Hour.start_of(minute) != Stretch::Hour.start_of(self.minute);
            self.finish();
            self.minute = minute;
            self.write().await;
            if hour_over {
                self.roll(now).await;
            }
        }
        for (series, point) in points(snapshot, now) {
            self.mixes.entry(series).or_default().add(&point);
        }
    }

    /// Puts the minute under way among those that wait to be written.
    fn finish(&mut self) {
        let mixes = std::mem::take(&mut self.mixes);
        if mixes.is_empty() {
            return;
        }
        let points: BTreeMap<String, Point> = mixes
            .into_iter()
            .filter_map(|(series, mix)| {
                let point = mix.point(Kind::of_series(&series)?.0);
                Some((series, point))
            })
            .collect();
        self.waiting.push_back(pages::minute(self.minute, &points));
        if self.waiting.len() > MOST_WAITING {
            self.waiting.pop_front();
        }
    }

    async fn write(&mut self) {
        let rows: Vec<HistoryRow> = self.waiting.iter().cloned().collect();
        if rows.is_empty() {
            return;
        }
        match self.store.put_history(&self.cluster, Stretch::Minute, &rows, None).await {
            Ok(()) => {
                self.waiting.clear();
                self.failing = false;
            }
            Err(error) => {
                if !self.failing {
                    let cluster = &self.cluster;
                    tracing::warn!(%error, cluster, "the history could not be written; its minutes wait in memory");
                }
                self.failing = true;
            }
        }
    }

    /// What fails is done at the next hour.
    async fn roll(&self, now: Millis) {
        if let Err(error) = roll(self.store.as_ref(), &self.cluster, self.options, now).await {
            let cluster = &self.cluster;
            tracing::warn!(%error, cluster, "the history could not be rolled up");
        }
    }
}
