//! Ingest as OpenTelemetry metrics. Names and units are listed in `docs/telemetry.md`.

use std::sync::Arc;

use millrace_core::time::Clock;
use millrace_store::Appended;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Counter;

use super::state::IngestState;

#[derive(Debug, Clone)]
pub(super) struct Metrics {
    attributes: [KeyValue; 1],
    messages: Counter<u64>,
    records: Counter<u64>,
    rejects: Counter<u64>,
}

impl Metrics {
    /// Registers the instruments of one cluster; the gauges read `state` whenever somebody collects.
    pub(super) fn register(cluster: &str, state: &Arc<IngestState>, clock: &Arc<dyn Clock>) -> Self {
        let meter = opentelemetry::global::meter("millrace.ingest");
        let attributes = [KeyValue::new("millrace.cluster", cluster.to_owned())];
        let (watched, clock, labels) = (Arc::downgrade(state), Arc::clone(clock), attributes.clone());
        meter
            .i64_observable_gauge("millrace.ingest.behind")
            .with_unit("ms")
            .with_description("How far the trace watermark is behind the present")
            .with_callback(move |gauge| {
                let behind = watched.upgrade().and_then(|state| state.status(clock.now()).behind_ms);
                if let Some(behind) = behind {
                    gauge.observe(behind, &labels);
                }
            })
            .build();
        let (watched, labels) = (Arc::downgrade(state), attributes.clone());
        meter
            .i64_observable_gauge("millrace.ingest.lag")
            .with_unit("{message}")
            .with_description("Trace messages at the brokers that are not written yet")
            .with_callback(move |gauge| {
                let Some(state) = watched.upgrade() else { return };
                let lags: Option<Vec<i64>> =
                    state.status(millrace_core::time::Millis(0)).queues.iter().map(super::QueueProgress::lag).collect();
                if let Some(lags) = lags {
                    gauge.observe(lags.iter().sum(), &labels);
                }
            })
            .build();
        let counter = |name: &'static str, unit: &'static str, what: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(what).build()
        };
        Self {
            attributes,
            messages: counter("millrace.ingest.messages", "{message}", "Trace messages written"),
            records: counter("millrace.ingest.records", "{record}", "Trace records written"),
            rejects: counter(
                "millrace.ingest.rejects",
                "{record}",
                "Entries of trace messages that are no trace record",
            ),
        }
    }

    pub(super) fn written(&self, appended: Appended) {
        self.messages.add(appended.messages, &self.attributes);
        self.records.add(appended.records, &self.attributes);
        self.rejects.add(appended.rejects, &self.attributes);
    }
}
