//! `millrace serve`: opens the stores, connects the clusters, reads the traces and serves the pages.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use millrace_broker::Cluster;
use millrace_broker_rocketmq::client::Clients;
use millrace_broker_rocketmq::{ClusterSettings, Credentials, RocketMq};
use millrace_console::Console;
use millrace_console::history::{HistoryOptions, record};
use millrace_console::snapshot::{KeeperOptions, SnapshotSource, keep};
use millrace_core::time::Clock;
use millrace_store::{DatabaseUrl, Retention, SegmentRules, Stores};
use millrace_tracker::ingest::{Ingest, IngestSettings, IngestState};
use millrace_tracker::record::RecordFinder;
use millrace_web::{App, ClusterView};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::SystemClock;
use crate::config::{ClusterConfig, Config, ConfigArgs};
use crate::telemetry::{Telemetry, prometheus_router};

/// How long requests under way may take to end after a signal.
const LAST_REQUESTS: Duration = Duration::from_secs(5);
/// How long the first round over all brokers may take; one that hangs costs its deadlines.
const FIRST_ROUND: Duration = Duration::from_secs(15);

pub(crate) async fn run(args: &ConfigArgs) -> Result<ExitCode> {
    let config = Config::load(args)?;
    let telemetry = Telemetry::install(&config.telemetry, false)?;
    if config.clusters.is_empty() {
        anyhow::bail!(
            "no cluster is configured: add [clusters.NAME] with name_servers to the configuration, or give --cluster NAME=HOST:PORT"
        );
    }
    let metrics = match config.telemetry.prometheus {
        Some(address) => Some(serve_metrics(address, &telemetry).await?),
        None => None,
    };
    let server = start(&config).await?;
    println!("Millrace is at http://{}", server.address());
    signal().await?;
    tracing::info!("stopping");
    server.stop().await;
    if let Some(metrics) = metrics {
        metrics.abort();
    }
    telemetry.shutdown();
    Ok(ExitCode::SUCCESS)
}

/// Everything that runs, for stopping it in the right order.
pub(crate) struct Server {
    address: SocketAddr,
    clusters: BTreeMap<String, Cluster>,
    adapters: Vec<RocketMq>,
    ingests: Vec<Ingest>,
    snapshots: Vec<SnapshotSource>,
    keepers: Vec<JoinHandle<()>>,
    clients: Clients,
    stores: Stores,
    http: JoinHandle<()>,
    stop: CancellationToken,
}

impl Server {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    #[cfg(feature = "embedded")]
    pub(crate) fn cluster(&self, name: &str) -> Option<&Cluster> {
        self.clusters.get(name)
    }

    /// Waits until every cluster was read once, as far as it answers.
    pub(crate) async fn settled(&self) {
        let first = self.snapshots.iter().map(|snapshots| snapshots.refresh(FIRST_ROUND));
        futures::future::join_all(first).await;
    }

    /// Requests end first, then ingest writes what it has, then the stores close.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        if tokio::time::timeout(LAST_REQUESTS, self.http).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
        for ingest in self.ingests {
            ingest.finished().await;
        }
        for keeper in self.keepers {
            let _ = keeper.await;
        }
        for adapter in self.adapters {
            adapter.shutdown().await;
        }
        self.clients.shutdown().await;
        self.stores.close().await;
    }
}

/// Starts the server. A cluster that is down is no error: it is shown as down and comes back by itself.
pub(crate) async fn start(config: &Config) -> Result<Server> {
    let listener = TcpListener::bind(config.bind).await.with_context(|| {
        format!("bind = {}: the address cannot be listened on; is another Millrace running?", config.bind)
    })?;
    let address = listener.local_addr().context("the listener has no address")?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let stop = CancellationToken::new();
    let stores = open_stores(config).await?;

    let mut app = App::builder(Arc::clone(&clock), stores.meta()).stop(stop.clone());
    for host in &config.hosts {
        app = app.host(host);
    }
    let mut server = Server {
        address,
        clusters: BTreeMap::new(),
        adapters: Vec::new(),
        ingests: Vec::new(),
        snapshots: Vec::new(),
        keepers: Vec::new(),
        clients: Clients::new(),
        stores,
        http: tokio::spawn(async {}),
        stop: stop.clone(),
    };
    for (name, settings) in &config.clusters {
        let adapter = connect(name, settings, &server.clients);
        let cluster = adapter.cluster();
        let traces = server
            .stores
            .traces(name, SegmentRules::default())
            .await
            .with_context(|| format!("the traces of {name}"))?;
        let state = if config.ingest.enabled {
            let ingest = Ingest::start(
                cluster.clone(),
                Arc::clone(&traces),
                ingest_settings(config, settings, address),
                Arc::clone(&clock),
                stop.clone(),
            );
            let state = Arc::clone(&ingest.state);
            server.ingests.push(ingest);
            state
        } else {
            Arc::new(IngestState::idle(name))
        };
        let (snapshots, keeper) = keep(&cluster, Arc::clone(&clock), KeeperOptions::default(), stop.clone());
        server.keepers.push(tokio::spawn(keeper));
        server.snapshots.push(snapshots.clone());
        if config.history.enabled {
            let options =
                HistoryOptions { minutes_days: config.history.minutes_days, hours_days: config.history.hours_days };
            let recorder = record(snapshots.clone(), server.stores.meta(), Arc::clone(&clock), options, stop.clone());
            server.keepers.push(tokio::spawn(recorder));
        }
        let console = Console::new(cluster.clone(), snapshots, server.stores.meta(), Arc::clone(&clock));
        let records = RecordFinder::new(cluster.clone(), Arc::clone(&traces), Arc::clone(&state), Arc::clone(&clock));
        app = app.cluster(ClusterView {
            name: name.clone(),
            cluster: cluster.clone(),
            traces,
            console: Arc::new(console),
            ingest: state,
            records: Arc::new(records),
        });
        server.clusters.insert(name.clone(), cluster);
        server.adapters.push(adapter);
    }
    let router = millrace_web::router(app.build());
    server.http = tokio::spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(async move { stop.cancelled().await });
        if let Err(error) = served.await {
            tracing::error!(%error, "the web server ended");
        }
    });
    Ok(server)
}

pub(crate) fn connect(name: &str, settings: &ClusterConfig, clients: &Clients) -> RocketMq {
    let mut wanted = ClusterSettings::new(name, &settings.name_servers);
    wanted.read_only = settings.read_only;
    if let (Some(access_key), Some(secret_key)) = (&settings.access_key, &settings.secret_key) {
        wanted.credentials = Some(Credentials { access_key: access_key.clone(), secret_key: secret_key.0.clone() });
    }
    if let Some(timeout) = settings.timeout_ms {
        wanted.timeouts.call = Duration::from_millis(timeout);
    }
    RocketMq::connect(&wanted, clients)
}

pub(crate) async fn open_stores(config: &Config) -> Result<Stores> {
    let url: DatabaseUrl = config.database.0.parse().context("database")?;
    Stores::open(&url).await.context("database")
}

fn ingest_settings(config: &Config, cluster: &ClusterConfig, address: SocketAddr) -> IngestSettings {
    // Distinct among workers on any machines: members of a group are told apart by it.
    let client = format!("millrace@{address}@{:x}@{:x}", std::process::id(), SystemClock.now().0);
    IngestSettings {
        group: config.ingest.group.clone(),
        custom_topics: cluster.trace_topics.clone(),
        retention: Retention {
            max_age_ms: i64::from(config.ingest.keep_hours) * 3_600_000,
            max_bytes: config.ingest.keep_mib << 20,
        },
        ..IngestSettings::new(client)
    }
}

async fn serve_metrics(address: SocketAddr, telemetry: &Telemetry) -> Result<JoinHandle<()>> {
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("telemetry.prometheus = {address}: the address cannot be listened on"))?;
    let router = prometheus_router(telemetry.registry.clone());
    Ok(tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the metrics listener ended");
        }
    }))
}

/// Ends when the process is asked to end.
pub(crate) async fn signal() -> Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).context("signals")?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("signals"),
        _ = terminate.recv() => Ok(()),
    }
}
