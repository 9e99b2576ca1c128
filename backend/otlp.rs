//! Exporters of metrics and spans over OTLP/HTTP.

use anyhow::{Context, Result};
use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use tokio::runtime::Handle;

/// `endpoint` is the collector's base address, as in `OTEL_EXPORTER_OTLP_ENDPOINT`.
pub(crate) fn metric_exporter(endpoint: &str) -> Result<MetricExporter> {
    MetricExporter::builder()
        .with_http()
        .with_http_client(OnRuntime::here())
        .with_endpoint(format!("{endpoint}/v1/metrics"))
        .build()
        .with_context(|| format!("telemetry.otlp_endpoint {endpoint} cannot be used for metrics"))
}

pub(crate) fn span_exporter(endpoint: &str) -> Result<SpanExporter> {
    SpanExporter::builder()
        .with_http()
        .with_http_client(OnRuntime::here())
        .with_endpoint(format!("{endpoint}/v1/traces"))
        .build()
        .with_context(|| format!("telemetry.otlp_endpoint {endpoint} cannot be used for spans"))
}

/// The SDK exports from threads of its own, where no runtime is; the HTTP client needs one.
#[derive(Debug)]
struct OnRuntime {
    client: reqwest::Client,
    runtime: Handle,
}

impl OnRuntime {
    fn here() -> Self {
        Self { client: reqwest::Client::new(), runtime: Handle::current() }
    }
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}
