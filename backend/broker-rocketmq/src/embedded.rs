//! A RocketMQ name server and broker in this process, for the demo, development and tests. Not for production.
//!
//! Invariant: it listens on 127.0.0.1 alone and writes nothing outside of its folder.

use futures::future::LocalBoxFuture;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use rocketmq_broker::config::broker_config::BrokerConfig;
use rocketmq_broker::config::validated::ValidatedBrokerConfig;
use rocketmq_broker::{BrokerBootstrap, Running};
use rocketmq_namesrv::NamesrvConfig;
use rocketmq_observability::TelemetryRuntimeGuard;
use rocketmq_runtime::{RuntimeConfig, RuntimeOwner};
use rocketmq_store::MessageStoreConfig;
use rocketmq_transport::api::ServerConfig;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The embedded broker's name.
pub const BROKER_NAME: &str = "embedded-a";
/// The embedded cluster's name, as its broker tells it.
pub const CLUSTER_NAME: &str = "EmbeddedCluster";

const COMMIT_LOG_FILE: usize = 128 * 1024 * 1024;
/// An index file holds so many keys, a tenth of RocketMQ's own size: 42 MB each instead of 420.
const INDEX_ENTRIES: u32 = 2_000_000;
/// How often other free ports are tried.
const TRIES: u32 = 3;
/// How long each part may take to stop.
const STOP: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("the folder {path} cannot be made")]
    Folder { path: String, source: std::io::Error },
    #[error("port {port} on 127.0.0.1 cannot be listened on")]
    Port { port: u16, source: std::io::Error },
    #[error("no free ports on 127.0.0.1 for a broker, which needs {0} and its neighbours")]
    NoPorts(&'static str),
    #[error("the embedded {part} did not start: {why}")]
    Start { part: &'static str, why: String },
}

/// 0: a free one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbeddedPorts {
    pub name_server: u16,
    /// The broker also takes the port two below and the one above.
    pub broker: u16,
}

/// Runs until [`Embedded::stop`].
pub struct Embedded {
    /// `host:port`.
    pub name_server_address: String,
    pub broker_name: &'static str,
    running: Option<Parts>,
}

/// In the order of their start.
struct Parts {
    owner: RuntimeOwner,
    name_server: JoinHandle<Result<(), String>>,
    stop_name_server: oneshot::Sender<()>,
    broker: BrokerBootstrap<Running>,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("name_server_address", &self.name_server_address).finish_non_exhaustive()
    }
}

impl Embedded {
    /// Answers when the broker takes messages. What `folder` holds from an earlier run is there again.
    // Boxed, here and in `client`: the SDK's futures are then compiled in this crate and not in every caller.
    pub fn start(folder: &Path, ports: EmbeddedPorts) -> LocalBoxFuture<'_, Result<Self, EmbeddedError>> {
        Box::pin(async move {
            let any = ports.name_server == 0 || ports.broker == 0;
            let mut tries = if any { TRIES } else { 1 };
            loop {
                tries -= 1;
                match Self::boot(folder, ports).await {
                    // Another program may have taken a port between our finding it free and the broker's listening.
                    Err(error @ EmbeddedError::Start { .. }) if tries > 0 => {
                        tracing::debug!(%error, "trying other ports");
                    }
                    booted => return booted,
                }
            }
        })
    }

    async fn boot(folder: &Path, ports: EmbeddedPorts) -> Result<Self, EmbeddedError> {
        let made = tokio::fs::create_dir_all(folder).await;
        made.map_err(|source| EmbeddedError::Folder { path: folder.display().to_string(), source })?;
        let (name_server_port, broker_port) = choose(ports)?;
        let plan = RuntimeOwner::plan(RuntimeConfig::broker_default()).map_err(|error| failed("runtime", &error))?;
        let owner = plan.build().map_err(|error| failed("runtime", &error))?;
        let (stop_name_server, stopped) = oneshot::channel();
        let name_server = start_name_server(&owner, folder, name_server_port, stopped);
        match start_broker(&owner, folder, name_server_port, broker_port).await {
            Ok(broker) => Ok(Self {
                name_server_address: format!("127.0.0.1:{name_server_port}"),
                broker_name: BROKER_NAME,
                running: Some(Parts { owner, name_server, stop_name_server, broker }),
            }),
            Err(error) => {
                drop(stop_name_server);
                let _ = tokio::time::timeout(STOP, name_server).await;
                let _ = owner.shutdown_background();
                Err(error)
            }
        }
    }

    /// Flushes and ends both; what does not end in time is abandoned.
    pub fn stop(self) -> LocalBoxFuture<'static, ()> {
        Box::pin(self.halt())
    }

    async fn halt(mut self) {
        let Some(Parts { owner, name_server, stop_name_server, broker }) = self.running.take() else { return };
        if tokio::time::timeout(STOP, broker.shutdown()).await.is_err() {
            tracing::warn!("the embedded broker did not stop in time");
        }
        let _ = stop_name_server.send(());
        if tokio::time::timeout(STOP, name_server).await.is_err() {
            tracing::warn!("the embedded name server did not stop in time");
        }
        let _ = tokio::time::timeout(STOP, owner.shutdown_tasks()).await;
        let _ = owner.shutdown_background();
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Some(parts) = self.running.take() {
            // A runtime must not be dropped where others wait for it.
            let _ = parts.owner.shutdown_background();
        }
    }
}

fn failed(part: &'static str, error: &impl std::fmt::Debug) -> EmbeddedError {
    EmbeddedError::Start { part, why: format!("{error:?}") }
}

fn start_name_server(
    owner: &RuntimeOwner,
    folder: &Path,
    port: u16,
    stopped: oneshot::Receiver<()>,
) -> JoinHandle<Result<(), String>> {
    let within = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let configuration = NamesrvConfig {
        rocketmq_home: within("home"),
        kv_config_path: within("namesrv/kvConfig.json"),
        config_store_path: within("namesrv/namesrv.properties"),
        ..NamesrvConfig::default()
    };
    let listener =
        ServerConfig { listen_port: u32::from(port), bind_address: "127.0.0.1".to_owned(), ..ServerConfig::default() };
    let context = owner.root_context().component("namesrv");
    let name_server = rocketmq_namesrv::bootstrap::Builder::new(context, TelemetryRuntimeGuard::noop().handle())
        .set_name_server_config(configuration)
        .set_server_config(listener)
        .build();
    let until = async move {
        // A dropped sender stops it too.
        let _ = stopped.await;
    };
    tokio::spawn(async move { name_server.boot_with_shutdown(until).await.map_err(|error| error.to_string()) })
}

async fn start_broker(
    owner: &RuntimeOwner,
    folder: &Path,
    name_server_port: u16,
    port: u16,
) -> Result<BrokerBootstrap<Running>, EmbeddedError> {
    let within = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut broker = BrokerConfig::default();
    broker.broker_identity.broker_name = BROKER_NAME.into();
    broker.broker_identity.broker_cluster_name = CLUSTER_NAME.into();
    broker.broker_identity.broker_id = 0;
    broker.broker_ip1 = "127.0.0.1".into();
    broker.broker_ip2 = Some("127.0.0.1".into());
    broker.listen_port = u32::from(port);
    broker.broker_server_config.bind_address = "127.0.0.1".into();
    broker.broker_server_config.listen_port = u32::from(port);
    broker.namesrv_addr = Some(format!("127.0.0.1:{name_server_port}").into());
    broker.store_path_root_dir = within("store").into();
    broker.auth_config_path = within("auth").into();
    broker.trace_topic_enable = true;
    broker.enable_property_filter = true;
    broker.register_name_server_period = 10_000;
    let store = MessageStoreConfig {
        store_path_root_dir: within("store").into(),
        store_path_commit_log: Some(within("store/commitlog").into()),
        mapped_file_size_commit_log: COMMIT_LOG_FILE,
        max_index_num: INDEX_ENTRIES,
        max_hash_slot_num: INDEX_ENTRIES / 4,
        ha_listen_address: Ipv4Addr::LOCALHOST.into(),
        ha_listen_port: usize::from(port) + 1,
        ..MessageStoreConfig::default()
    };
    let valid = ValidatedBrokerConfig::try_from_parts(broker, store).map_err(|error| failed("broker", &error))?;
    let context = owner.root_context().component("broker");
    let configured = rocketmq_broker::Builder::new(context, TelemetryRuntimeGuard::noop()).with_validated_config(valid);
    let started = async {
        let initialized = configured.build().initialize().await.map_err(|error| failed("broker", &error))?;
        initialized.start().await.map_err(|error| failed("broker", &error))
    };
    started.await
}

/// The ports to listen on. They are tried, not held: another process may take one in between, and the start then fails.
fn choose(ports: EmbeddedPorts) -> Result<(u16, u16), EmbeddedError> {
    let name_server = match ports.name_server {
        0 => free_port().ok_or(EmbeddedError::NoPorts("one"))?,
        port => taken(port)?,
    };
    let broker = match ports.broker {
        0 => free_broker_port(name_server).ok_or(EmbeddedError::NoPorts("three"))?,
        port => {
            for neighbour in broker_ports(port) {
                taken(neighbour)?;
            }
            port
        }
    };
    Ok((name_server, broker))
}

/// The broker listens on its port, for pulls two below, and for replicas one above.
fn broker_ports(port: u16) -> [u16; 3] {
    [port, port.saturating_sub(2), port.saturating_add(1)]
}

fn listen(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

fn taken(port: u16) -> Result<u16, EmbeddedError> {
    listen(port).map(|_| port).map_err(|source| EmbeddedError::Port { port, source })
}

fn free_port() -> Option<u16> {
    listen(0).and_then(|listener| listener.local_addr()).ok().map(|address| address.port())
}

fn free_broker_port(name_server: u16) -> Option<u16> {
    (0..100).filter_map(|_| free_port()).find(|port| {
        let wanted = broker_ports(*port);
        !wanted.contains(&name_server) && wanted.iter().all(|port| *port > 1024 && listen(*port).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::{EmbeddedError, EmbeddedPorts, choose, listen};

    #[test]
    fn free_ports_are_found_and_taken_ones_named() {
        let free = choose(EmbeddedPorts::default()).expect("free ports");
        assert_ne!(free.0, free.1);
        let held = listen(0).and_then(|listener| listener.local_addr().map(|address| (listener, address.port())));
        let (_held, port) = held.expect("a listener");
        let refused = choose(EmbeddedPorts { name_server: port, broker: 0 });
        assert!(matches!(refused, Err(EmbeddedError::Port { port: named, .. }) if named == port));
    }
}
