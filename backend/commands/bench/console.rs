//! Measures the console: how long its calls take, over HTTP, with one client and with eight, on a cluster filled with
//! made-up topics, groups and messages.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use futures::StreamExt as _;
use millrace_broker::{Cluster, GroupConfig, MessageToSend, MessageType, Perm, TopicConfig};
use millrace_broker_rocketmq::client::Clients;

use super::super::{http, serve};
use crate::config::{ClusterConfig, Config, Secret};

/// What is measured, as the name servers give it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConsoleArgs {
    /// Name servers of the cluster to measure on; it is filled with topics, groups and messages named `bench_…`
    #[arg(long, value_name = "HOST:PORT")]
    name_servers: String,
    #[arg(long, default_value_t = 200)]
    topics: usize,
    #[arg(long, default_value_t = 50)]
    groups: usize,
    /// Messages in each of the first two topics
    #[arg(long, default_value_t = 25_000)]
    messages: usize,
    /// Seconds a call is measured, with each number of clients
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Database of the measured server; a temporary SQLite folder where not given
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

const CLUSTER: &str = "bench";
const SENDS_AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_mins(2);

/// One call: what it is, and its address.
struct Call {
    what: &'static str,
    path: String,
}

pub(super) async fn run(args: &ConsoleArgs) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("millrace-bench-").tempdir().context("no temporary folder")?;
    let cluster = ClusterConfig {
        name_servers: args.name_servers.split(';').map(str::to_owned).collect(),
        ..ClusterConfig::default()
    };
    fill(&cluster, args).await?;
    let mut config = Config { bind: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() };
    config.database = Secret(args.database.clone().unwrap_or_else(|| format!("sqlite:{}", folder.path().display())));
    config.clusters.insert(CLUSTER.to_owned(), cluster);
    let server = serve::start(&config).await?;
    let address = server.address();
    let calls = calls(address, args).await?;
    println!("{:<34} {:>31}   {:>31}", "", "1 client", "8 clients");
    println!(
        "{:<34} {:>9} {:>9} {:>11}   {:>9} {:>9} {:>11}",
        "call", "p50 ms", "p99 ms", "req/s", "p50 ms", "p99 ms", "req/s"
    );
    for call in &calls {
        let one = measure(address, &call.path, 1, args.seconds).await?;
        let eight = measure(address, &call.path, 8, args.seconds).await?;
        println!("{:<34} {one}   {eight}", call.what);
    }
    match super::super::measure::resident_mb() {
        Some(mb) => println!("resident memory after that, server and clients in one process: {mb} MB"),
        None => println!("resident memory: unknown"),
    }
    server.stop().await;
    Ok(())
}

/// Puts topics, groups and messages on the cluster, unless an earlier run did.
async fn fill(settings: &ClusterConfig, args: &ConsoleArgs) -> Result<()> {
    let clients = Clients::new();
    let adapter = serve::connect(CLUSTER, settings, &clients);
    let filled = fill_cluster(&adapter.cluster(), args).await;
    adapter.shutdown().await;
    clients.shutdown().await;
    filled
}

async fn fill_cluster(cluster: &Cluster, args: &ConsoleArgs) -> Result<()> {
    let write = cluster.write.as_deref().context("the cluster is read-only")?;
    let topology = cluster.read.topology().await.context("the name servers")?;
    let brokers: Vec<&str> = topology.brokers.iter().map(|broker| broker.name.as_str()).collect();
    ensure!(!brokers.is_empty(), "the name servers list no broker");
    for broker in &brokers {
        for topic in 0..args.topics {
            let config = TopicConfig {
                name: topic_name(topic),
                read_queues: 4,
                write_queues: 4,
                perm: Perm::READ_WRITE,
                message_type: MessageType::Normal,
                order: false,
                attributes: std::collections::BTreeMap::new(),
            };
            write.put_topic(broker, &config).await.with_context(|| format!("{} at {broker}", config.name))?;
        }
        for group in 0..args.groups {
            let config = GroupConfig {
                name: format!("bench_group_{group}"),
                consume_enable: true,
                broadcast_enable: false,
                orderly: false,
                retry_queues: 1,
                retry_max_times: 16,
            };
            write.put_group(broker, &config).await.with_context(|| format!("{} at {broker}", config.name))?;
        }
    }
    for topic in 0..args.topics.min(2) {
        send(cluster, &topic_name(topic), args.messages).await?;
    }
    Ok(())
}

fn topic_name(number: usize) -> String {
    format!("bench_topic_{number}")
}

/// Sends as many as are missing.
async fn send(cluster: &Cluster, topic: &str, wanted: usize) -> Result<()> {
    let mut held = 0;
    for broker in &cluster.read.topology().await.context("the name servers")?.brokers {
        let queues = cluster.read.topic_stats(&broker.name, topic).await.with_context(|| topic.to_owned())?;
        held += queues.iter().map(|queue| usize::try_from(queue.max - queue.min).unwrap_or(0)).sum::<usize>();
    }
    let send = cluster.send.as_deref().context("the cluster is read-only")?;
    let mut sends = futures::stream::iter(held..wanted)
        .map(|number| {
            let body = format!("{{\"order\":{number},\"shop\":\"made-up\",\"total\":\"12.50\"}}");
            send.send(MessageToSend {
                topic: topic.to_owned(),
                tags: Some("paid".to_owned()),
                keys: vec![format!("bench-{number}")],
                properties: millrace_broker::Properties::default(),
                body: Bytes::from(body),
                queue: None,
            })
        })
        .buffer_unordered(SENDS_AT_ONCE);
    while let Some(sent) = sends.next().await {
        sent.with_context(|| format!("sending to {topic}"))?;
    }
    Ok(())
}

/// Waits until the server has read the cluster, and finds a message to look up.
async fn calls(address: SocketAddr, args: &ConsoleArgs) -> Result<Vec<Call>> {
    let api = format!("/api/v1/clusters/{CLUSTER}");
    let topic = topic_name(0);
    let began = Instant::now();
    let id = loop {
        let found = http::get(address, &format!("{api}/topics/{topic}/messages?size=1"), PATIENCE).await?;
        let json: serde_json::Value = serde_json::from_str(&found.body).unwrap_or_default();
        let id = json.pointer("/messages/0/id").and_then(serde_json::Value::as_str).map(str::to_owned);
        let groups = http::get(address, &format!("{api}/groups"), PATIENCE).await?;
        let settled = groups.body.contains("bench_group_") || args.groups == 0;
        match id {
            Some(id) if settled => break id,
            _ if began.elapsed() > PATIENCE => bail!("{topic} shows no message: {}", found.body),
            _ => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    };
    let key = args.messages / 2;
    let id = http::encode(&id);
    let call = |what, path: String| Call { what, path };
    Ok(vec![
        call("topic list, 200 rows", format!("{api}/topics?size=200")),
        call("topic list, the page", format!("/c/{CLUSTER}/topics")),
        call("topic statistics", format!("{api}/topics/{topic}")),
        call("message by topic and key", format!("{api}/topics/{topic}/messages?by=key&key=bench-{key}")),
        call("message by id", format!("{api}/topics/{topic}/messages?by=id&id={id}")),
        call("20 newest of all messages", format!("{api}/topics/{topic}/messages?size=20")),
        call("20 of a time window", format!("{api}/topics/{topic}/messages?by=time&from=-1d&order=oldest&size=20")),
        call("record by id", format!("{api}/records/{id}")),
        call("group list", format!("{api}/groups?size=200")),
        call("cluster", api.clone()),
        call("cluster, the page", format!("/c/{CLUSTER}")),
    ])
}

/// How long a call took.
struct Measured {
    millis: Vec<f64>,
    per_second: f64,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |share: f64| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place in a list"
            )]
            let place = (self.millis.len() as f64 * share) as usize;
            self.millis.get(place.min(self.millis.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
        };
        write!(f, "{:>9.2} {:>9.2} {:>11.0}", at(0.5), at(0.99), self.per_second)
    }
}

/// Each client asks again as soon as it has its answer, on a new connection.
async fn measure(address: SocketAddr, path: &str, clients: usize, seconds: u64) -> Result<Measured> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let asked = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (path, asked) = (path.to_owned(), Arc::clone(&asked));
            tokio::spawn(async move {
                let mut millis = Vec::new();
                while Instant::now() < until {
                    let began = Instant::now();
                    let answer = http::get(address, &path, PATIENCE).await?;
                    millis.push(began.elapsed().as_secs_f64() * 1_000.0);
                    ensure!(answer.status == 200, "{path} answers {}: {}", answer.status, answer.body);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
                Ok(millis)
            })
        })
        .collect();
    let mut millis = Vec::new();
    for task in tasks {
        millis.extend(task.await.context("a client")??);
    }
    millis.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let per_second = asked.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    Ok(Measured { millis, per_second })
}
