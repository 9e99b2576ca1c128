//! The runtime that every producer and consumer of the process shares.
//!
//! Invariant: it is started by the first that needs it, once.

use futures::future::LocalBoxFuture;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use millrace_broker::{BrokerError, Result};
use rocketmq_client_rust::{AclClientRPCHook, ClientConfig, ClientRuntime, ClientRuntimeConfig, SessionCredentials};
use rocketmq_observability::TelemetryRuntimeGuard;
use rocketmq_runtime::{RuntimeConfig, RuntimeOwner};

use crate::settings::{ClusterSettings, Credentials};

/// Listeners run on the runtime's blocking lane. As it comes, it runs four at once, refuses what waits over five
/// seconds and delivers again what runs over thirty: a burst would be retried instead of waiting its turn.
const LISTENERS: usize = 64;
const LISTENERS_WAITING: usize = 65_536;
const LISTENER_WAIT: Duration = Duration::from_mins(10);
const LISTENER_RUN: Duration = Duration::from_hours(1);

/// Shared by clones.
#[derive(Debug, Clone, Default)]
pub struct Clients {
    host: Arc<Mutex<Option<Host>>>,
    started: Arc<AtomicU32>,
}

struct Host {
    owner: RuntimeOwner,
    runtime: Arc<ClientRuntime>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Clients {
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn runtime(&self) -> Result<Arc<ClientRuntime>> {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = host.as_ref() {
            return Ok(Arc::clone(&host.runtime));
        }
        let started =
            start().map_err(|why| BrokerError::Invalid(format!("the client's runtime did not start: {why}")))?;
        Ok(Arc::clone(&host.insert(started).runtime))
    }

    /// A configuration whose client id is no other's: clients with one id would share name servers.
    pub(super) fn configuration(&self, target: &ClientTarget) -> ClientConfig {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut configuration = ClientConfig::new();
        configuration.set_namesrv_addr(target.name_servers.join(";").into());
        configuration.set_instance_name(format!("millrace#{}#{number}", std::process::id()).into());
        configuration.set_enable_trace(true);
        if let Some(topic) = &target.trace_topic {
            configuration.set_trace_topic(topic.as_str().into());
        }
        configuration
    }

    /// Ends the runtime and what still runs on it. Producers and consumers are shut down before.
    pub fn shutdown(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.end())
    }

    async fn end(&self) {
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Host { owner, runtime }) = host else { return };
        let report = runtime.shutdown().await;
        if !report.is_healthy() {
            tracing::debug!(report = %report.to_json(), "a client did not end in time");
        }
        let report = owner.shutdown_tasks().await;
        if !report.is_healthy() {
            tracing::debug!(report = %report.to_json(), "a task of the clients did not end in time");
        }
        let _ = owner.shutdown_background();
    }
}

fn start() -> std::result::Result<Host, String> {
    let mut configuration = RuntimeConfig { thread_name: "rocketmq".to_owned(), ..RuntimeConfig::default() };
    let lane = &mut configuration.blocking_lane_policies.metadata_io;
    lane.max_concurrency = LISTENERS;
    lane.max_queue_depth = LISTENERS_WAITING;
    lane.queue_timeout = LISTENER_WAIT;
    lane.task_timeout = LISTENER_RUN;
    configuration.max_blocking_threads = configuration.max_blocking_threads.max(2 * LISTENERS);
    let plan = RuntimeOwner::plan(configuration).map_err(|error| format!("{error:?}"))?;
    let owner = plan.build().map_err(|error| format!("{error:?}"))?;
    let telemetry = TelemetryRuntimeGuard::noop();
    let context = owner.root_context().component("client");
    let runtime = ClientRuntime::try_new(context, ClientRuntimeConfig::default(), telemetry.handle());
    let runtime = runtime.map_err(|error| format!("{error:?}"))?;
    Ok(Host { owner, runtime })
}

/// The cluster that a producer or consumer connects to.
#[derive(Debug, Clone)]
pub struct ClientTarget {
    pub name_servers: Vec<String>,
    pub credentials: Option<Credentials>,
    /// Where traces go; `None`: the system trace topic.
    pub trace_topic: Option<String>,
    pub send_timeout: Duration,
}

impl ClientTarget {
    /// Without ACL, traces to the system topic.
    pub fn new(name_servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::from(&ClusterSettings::new("", name_servers))
    }

    pub(super) fn signing(&self) -> Option<Arc<AclClientRPCHook>> {
        let account = self.credentials.as_ref()?;
        let keys = SessionCredentials::with_keys(account.access_key.as_str(), account.secret_key.as_str());
        Some(Arc::new(AclClientRPCHook::new(keys)))
    }
}

impl From<&ClusterSettings> for ClientTarget {
    fn from(settings: &ClusterSettings) -> Self {
        Self {
            name_servers: settings.name_servers.clone(),
            credentials: settings.credentials.clone(),
            trace_topic: settings.trace_topic.clone(),
            send_timeout: settings.timeouts.send,
        }
    }
}
