//! `millrace bench`: measures ingest, look-up and the console on this machine, on made-up traces or on a broker's own.

mod console;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use millrace_broker_rocketmq::client::Clients;
use millrace_core::time::Clock;
use millrace_store::{DatabaseUrl, SegmentRules, Stores, TraceStore};
use millrace_tracker::ingest::{Ingest, IngestSettings};
use tokio_util::sync::CancellationToken;

use super::{measure, serve};
use crate::clock::SystemClock;
use crate::config::ClusterConfig;

const CLUSTER: &str = "bench";

#[derive(Debug, clap::Subcommand)]
pub(crate) enum BenchCommand {
    /// How many trace records a second are taken in
    Ingest {
        /// Name servers of a broker whose trace topics are read to their end; made-up traces where not given
        #[arg(long, value_name = "HOST:PORT")]
        name_servers: Option<String>,
        /// Made-up trace records to take in
        #[arg(long, default_value_t = 2_000_000)]
        records: u64,
        /// Database to fill; a temporary SQLite folder where not given
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
    /// How long a look-up by key takes in a database that `bench ingest` filled with made-up traces
    Lookup {
        #[arg(long, value_name = "URL")]
        database: String,
        #[arg(long, default_value_t = 2_000)]
        count: usize,
    },
    /// How long the console's calls take on a cluster filled with made-up topics, groups and messages
    Console(console::ConsoleArgs),
}

pub(crate) async fn run(command: BenchCommand) -> Result<()> {
    match command {
        BenchCommand::Ingest { name_servers, records, database } => {
            let folder = tempfile::Builder::new().prefix("millrace-bench-").tempdir().context("no temporary folder")?;
            let (stores, store) = open(database, folder.path().to_owned()).await?;
            match name_servers {
                Some(name_servers) => ingest_broker(store, &name_servers).await?,
                None => measure::ingest_synthetic(&*store, records, &SystemClock).await?,
            }
            stores.close().await;
        }
        BenchCommand::Lookup { database, count } => {
            let (stores, store) = open(Some(database), PathBuf::new()).await?;
            measure::lookup_synthetic(&*store, count).await?;
            stores.close().await;
        }
        BenchCommand::Console(args) => console::run(&args).await?,
    }
    Ok(())
}

async fn open(database: Option<String>, folder: PathBuf) -> Result<(Stores, Arc<dyn TraceStore>)> {
    let url = database.unwrap_or_else(|| format!("sqlite:{}", folder.display()));
    let url: DatabaseUrl = url.parse().context("--database")?;
    let stores = Stores::open(&url).await.context("--database")?;
    let store = stores.traces(CLUSTER, SegmentRules::default()).await.context("the traces")?;
    Ok((stores, store))
}

/// Reads a real cluster's trace topics to their end with the program's own ingest, and prints the rate each second.
async fn ingest_broker(store: Arc<dyn TraceStore>, name_servers: &str) -> Result<()> {
    let clients = Clients::new();
    let settings = ClusterConfig {
        name_servers: name_servers.split(';').map(str::to_owned).collect(),
        ..ClusterConfig::default()
    };
    let adapter = serve::connect(CLUSTER, &settings, &clients);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let stop = CancellationToken::new();
    // A group of its own: the bench neither takes queues from a running server nor moves its offsets.
    let group = format!("millrace_bench_{}", clock.now().0);
    let settings = IngestSettings { group: group.clone(), ..IngestSettings::new(group) };
    let began = Instant::now();
    let ingest = Ingest::start(adapter.cluster(), store, settings, Arc::clone(&clock), stop.clone());
    println!("   seconds      records  records/s  behind (messages)");
    let mut last = 0;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let status = ingest.state.status(clock.now());
        let lag: Option<i64> = status.queues.iter().map(millrace_tracker::ingest::QueueProgress::lag).sum();
        println!(
            "{:>10.1}  {:>11}  {:>9}  {:>17}",
            began.elapsed().as_secs_f64(),
            status.records,
            status.records - last,
            lag.map_or_else(|| "unknown".to_owned(), |lag| lag.to_string()),
        );
        let still = status.records == last;
        last = status.records;
        if still && lag == Some(0) && !status.queues.is_empty() {
            break;
        }
        if began.elapsed() > Duration::from_mins(10) {
            bail!("the trace topics were not read to their end in 10 minutes");
        }
    }
    stop.cancel();
    ingest.finished().await;
    adapter.shutdown().await;
    clients.shutdown().await;
    Ok(())
}
