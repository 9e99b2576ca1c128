//! What an answer looked at, and why nothing may have been found.

use millrace_core::coverage::{Coverage, Missed};
use millrace_core::id::IdKind;
use millrace_core::time::Millis;
use serde::Serialize;

use super::topic_scan::TopicScan;
use super::trace_search::TracesFound;
use crate::ingest::{IngestStatus, WorkerHealth};

/// Ingest further behind than this is named as a reason.
const BEHIND_WORTH_SAYING_MS: i64 = 15_000;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordCoverage {
    /// Trace queues that this process reads.
    pub trace_queues: usize,
    pub trace_topics: Vec<String>,
    /// Brokers that did not tell their trace topics.
    pub trace_brokers: Coverage,
    /// Everything stored before this instant was read.
    pub watermark: Option<Millis>,
    pub behind_ms: Option<i64>,
    /// Segments of stored traces that were searched, and those that could not be.
    pub segments: usize,
    pub missed: Vec<Missed>,
    /// Store time of the oldest trace that is kept.
    pub since: Option<Millis>,
    /// There are more trace records than were looked at.
    pub truncated: bool,
    /// Questions that the brokers were asked about what traces cannot tell.
    pub brokers: Coverage,
    /// The topics themselves, searched because no trace was found.
    pub topics: Option<TopicScan>,
}

/// Why nothing may have been found. Pages translate it and say what to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum UnfoundReason {
    /// No broker has a trace topic: tracing is off.
    NoTraceTopic,
    /// Brokers refuse to let the trace topic be read.
    TraceTopicRefused { refused: Vec<Missed> },
    /// Traces are not being read.
    IngestStopped { why: Option<String> },
    /// The traces may not have been read yet.
    IngestBehind { behind_ms: i64 },
    /// Older traces are not kept.
    NotKept { since: Millis },
    /// Nothing was ever ingested.
    NothingIngested,
    /// Part of the store could not be read.
    StoreDamaged { missed: Vec<Missed> },
    /// Part of the topics could not be searched.
    TopicsMissed { missed: Vec<Missed> },
    /// No message of any searched topic has it as a key: it may be misspelt, or sent without KEYS.
    KeyNowhere { topics: usize },
    /// The message may be stored, but its producer does not trace and it has no such id.
    IdNowhere { topics: usize },
}

impl RecordCoverage {
    pub(super) fn trace(&mut self, found: &TracesFound, ingest: &IngestStatus) {
        self.trace_queues = ingest.queues.len();
        self.trace_topics.clone_from(&ingest.topics);
        self.trace_brokers = ingest.coverage.clone();
        self.watermark = ingest.watermark;
        self.behind_ms = ingest.behind_ms;
        self.segments = found.segments_searched;
        self.missed.clone_from(&found.missed);
        self.since = found.oldest;
        self.truncated = found.truncated;
    }

    /// The likeliest first.
    pub(super) fn reasons(&self, kind: &IdKind, ingest: &IngestStatus) -> Vec<UnfoundReason> {
        let mut reasons = Vec::new();
        match &ingest.health {
            WorkerHealth::Running | WorkerHealth::Starting | WorkerHealth::Off => {}
            WorkerHealth::Degraded { why } => reasons.push(UnfoundReason::IngestStopped { why: Some(why.clone()) }),
            WorkerHealth::Stopped => reasons.push(UnfoundReason::IngestStopped { why: None }),
        }
        let asked = ingest.health == WorkerHealth::Running && ingest.coverage.asked > 0;
        if !ingest.refused.is_empty() {
            reasons.push(UnfoundReason::TraceTopicRefused { refused: ingest.refused.clone() });
        } else if asked && ingest.topics.is_empty() {
            reasons.push(UnfoundReason::NoTraceTopic);
        }
        if let Some(behind_ms) = self.behind_ms.filter(|behind| *behind > BEHIND_WORTH_SAYING_MS) {
            reasons.push(UnfoundReason::IngestBehind { behind_ms });
        }
        if !self.missed.is_empty() {
            reasons.push(UnfoundReason::StoreDamaged { missed: self.missed.clone() });
        }
        if let Some(scan) = &self.topics {
            if !scan.coverage.missed.is_empty() {
                reasons.push(UnfoundReason::TopicsMissed { missed: scan.coverage.missed.clone() });
            }
            reasons.push(match kind {
                IdKind::Key => UnfoundReason::KeyNowhere { topics: scan.topics },
                _ => UnfoundReason::IdNowhere { topics: scan.topics },
            });
        }
        reasons.push(match self.since {
            Some(since) => UnfoundReason::NotKept { since },
            None => UnfoundReason::NothingIngested,
        });
        reasons
    }
}
