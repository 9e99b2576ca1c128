//! Millrace's own telemetry: log lines, OpenTelemetry metrics and spans, and a Prometheus listener.

use anyhow::{Context, Result};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus::{Encoder, Registry, TextEncoder};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::TelemetryConfig;
use crate::otlp;

/// The RocketMQ crates log every retry of every client; a person reads ours.
const DEFAULT_FILTER: &str = "info,rocketmq_store=error,rocketmq_transport::clients=off,rocketmq_runtime::common=error,\
                              rocketmq_client_rust=error,rocketmq_broker=error,rocketmq_namesrv=error,rocketmq_transport=error,\
                              rocketmq_store_local=error,rocketmq_runtime=error,rocketmq_auth=error";

/// Keeps the exporters; dropped last, so that the end of the program is exported too.
#[derive(Debug)]
pub(crate) struct Telemetry {
    metrics: SdkMeterProvider,
    traces: Option<SdkTracerProvider>,
    pub(crate) registry: Registry,
}

impl Telemetry {
    /// Installs log lines, metrics and spans for the whole process. Call once.
    pub(crate) fn install(config: &TelemetryConfig, quiet: bool) -> Result<Self> {
        let resource = Resource::builder().with_service_name("millrace").build();
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .build()
            .context("the Prometheus exporter cannot be made")?;
        let mut metrics = SdkMeterProvider::builder().with_resource(resource.clone()).with_reader(exporter);
        let mut traces = None;
        if let Some(endpoint) = &config.otlp_endpoint {
            let endpoint = endpoint.trim_end_matches('/');
            metrics = metrics.with_reader(PeriodicReader::builder(otlp::metric_exporter(endpoint)?).build());
            let exporter = otlp::span_exporter(endpoint)?;
            traces = Some(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build());
        }
        let metrics = metrics.build();
        opentelemetry::global::set_meter_provider(metrics.clone());

        let filter = match (&config.log, quiet) {
            (Some(filter), _) => EnvFilter::try_new(filter).with_context(|| format!("telemetry.log = {filter}"))?,
            (None, true) => EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER.replacen("info", "warn", 1))),
            (None, false) => EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER)),
        };
        let spans =
            traces.as_ref().map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("millrace")));
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
        // One filter for both. A filter a layer loses spans where a library asks whether an event would be enabled, as
        // sqlx does: the answer stays behind and is taken for the next span's.
        let subscriber = tracing_subscriber::registry().with(filter).with(spans);
        if config.log_json {
            subscriber.with(lines.json()).try_init()
        } else {
            subscriber.with(lines.with_target(false)).try_init()
        }
        .context("log output is installed already")?;
        Ok(Self { metrics, traces, registry })
    }

    /// Sends what is left.
    pub(crate) fn shutdown(self) {
        let _ = self.metrics.shutdown();
        if let Some(traces) = self.traces {
            let _ = traces.shutdown();
        }
    }
}

/// `GET /metrics` in the Prometheus text format, for the listener of its own.
pub(crate) fn prometheus_router(registry: Registry) -> axum::Router {
    axum::Router::new().route(
        "/metrics",
        axum::routing::get(move || async move {
            let mut text = Vec::new();
            match TextEncoder::new().encode(&registry.gather(), &mut text) {
                Ok(()) => Ok(([("content-type", "text/plain; version=0.0.4")], text)),
                Err(error) => {
                    tracing::error!(%error, "metrics cannot be written");
                    Err(axum::http::StatusCode::INTERNAL_SERVER_ERROR)
                }
            }
        }),
    )
}
