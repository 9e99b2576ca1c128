//! Where is this record? One question in, one answer out: the flow, and what it rests on.
//!
//! Invariant: an answer tells what was searched and what could not be; "not found" is never an error's disguise.

mod broker_facts;
mod coverage;
mod habit;
mod topic_scan;
mod trace_search;

use std::sync::Arc;

use millrace_broker::Cluster;
use millrace_core::flow::{Fact, Flow, Options, reconstruct};
use millrace_core::id::IdKind;
use millrace_core::time::{Clock, Millis};
use millrace_core::trace::TraceRecord;
use millrace_store::{StoreError, TraceStore};
use serde::Serialize;

use crate::ingest::IngestState;
use broker_facts::BrokerFacts;
use habit::Habits;

pub use coverage::{RecordCoverage, UnfoundReason};
pub use topic_scan::TopicScan;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// A record key, a message id of any kind, or an offset message id; blanks around it do not count.
    pub text: String,
    /// Only what hangs together with this message id, when several records use one key.
    pub root: Option<String>,
}

impl Question {
    pub fn of(text: &str) -> Self {
        Self { text: text.trim().to_owned(), root: None }
    }
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, Serialize)]
pub struct RecordAnswer {
    pub question: String,
    pub taken_for: IdKind,
    pub flow: Flow,
    pub coverage: RecordCoverage,
    /// Why nothing may have been found, the likeliest first; empty when something was.
    pub unfound: Vec<UnfoundReason>,
    /// The trace records themselves.
    #[serde(skip)]
    pub records: Vec<TraceRecord>,
    pub at: Millis,
}

impl RecordAnswer {
    pub fn found(&self) -> bool {
        !self.flow.messages.is_empty()
    }
}

/// Looks records up on one cluster.
#[derive(Debug)]
pub struct RecordFinder {
    cluster: Cluster,
    traces: Arc<dyn TraceStore>,
    ingest: Arc<IngestState>,
    clock: Arc<dyn Clock>,
    facts: BrokerFacts,
    habits: Habits,
}

impl RecordFinder {
    pub fn new(cluster: Cluster, traces: Arc<dyn TraceStore>, ingest: Arc<IngestState>, clock: Arc<dyn Clock>) -> Self {
        let facts = BrokerFacts::new(Arc::clone(&cluster.read));
        Self { cluster, traces, ingest, clock, facts, habits: Habits::default() }
    }

    /// Errors: the trace store's. What brokers do not tell is a gap in the coverage.
    #[tracing::instrument(name = "record.look_up", skip_all, fields(millrace.cluster = self.cluster.name))]
    pub async fn look_up(&self, question: &Question) -> Result<RecordAnswer, StoreError> {
        let now = self.clock.now();
        let taken_for = IdKind::of(&question.text);
        let mut coverage = RecordCoverage::default();
        let mut facts: Vec<Fact> = Vec::new();

        if let IdKind::Offset(id) = &taken_for {
            facts.extend(self.facts.message_of_offset_id(id, &mut coverage.brokers).await);
        }
        let found = trace_search::search(&*self.traces, &question.text, &facts).await?;
        let ingest = self.ingest.status(now);
        coverage.trace(&found, &ingest);
        if found.records.is_empty() && facts.is_empty() {
            let scan = topic_scan::scan(&*self.cluster.read, &question.text, &taken_for, now).await;
            facts.extend(scan.facts);
            coverage.topics = Some(scan.scan);
        }

        if !found.records.is_empty() {
            facts.extend(self.habits.of(&*self.traces, now).await?.iter().cloned());
        }
        let options =
            Options { root: question.root.clone(), watermark: ingest.watermark, ..Options::of(&question.text, now) };
        let traced = reconstruct(&found.records, &facts, &options);
        facts.extend(self.facts.learn(&traced, now, &mut coverage.brokers).await);
        let flow = reconstruct(&found.records, &facts, &options);
        let unfound = if flow.messages.is_empty() { coverage.reasons(&taken_for, &ingest) } else { Vec::new() };
        Ok(RecordAnswer {
            question: question.text.clone(),
            taken_for,
            flow,
            coverage,
            unfound,
            records: found.records,
            at: now,
        })
    }
}
