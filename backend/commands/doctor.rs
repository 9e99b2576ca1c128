//! `millrace doctor`: checks a deployment, says what is wrong and how to mend it.

use std::process::ExitCode;

use anyhow::Result;
use millrace_broker::{Broker, BrokerError, BrokerRead, Cluster};
use millrace_broker_rocketmq::client::Clients;
use millrace_core::name::{TRACE_TOPIC, is_trace_topic};
use millrace_store::StoreError;

use crate::commands::serve;
use crate::config::{ClusterConfig, Config, ConfigArgs};

/// More than this between a broker's clock and ours is worth saying: findings compare times.
/// Brokers tell their clock to the second.
const SKEW_WORTH_SAYING_MS: i64 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Fine,
    Note,
    Wrong,
}

/// What a check found, and the way out where something is wrong.
#[derive(Debug)]
struct Check {
    mark: Mark,
    what: String,
    mend: Option<String>,
}

#[derive(Debug, Default)]
struct Report {
    checks: Vec<Check>,
}

impl Report {
    fn fine(&mut self, what: impl Into<String>) {
        self.checks.push(Check { mark: Mark::Fine, what: what.into(), mend: None });
    }

    fn note(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.checks.push(Check { mark: Mark::Note, what: what.into(), mend: Some(mend.into()) });
    }

    fn wrong(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.checks.push(Check { mark: Mark::Wrong, what: what.into(), mend: Some(mend.into()) });
    }

    fn print(&self) {
        for check in &self.checks {
            let mark = match check.mark {
                Mark::Fine => "ok   ",
                Mark::Note => "note ",
                Mark::Wrong => "WRONG",
            };
            println!("{mark}  {}", check.what);
            if let Some(mend) = &check.mend {
                println!("       -> {mend}");
            }
        }
    }
}

/// Exit code 1 when something is wrong.
pub(crate) async fn run(args: &ConfigArgs) -> Result<ExitCode> {
    let config = Config::load(args)?;
    let mut report = Report::default();
    let clients = Clients::new();
    check_database(&config, &mut report).await;
    if config.clusters.is_empty() {
        report.wrong(
            "no cluster is configured",
            "add [clusters.NAME] with name_servers, or give --cluster NAME=HOST:PORT",
        );
    }
    for (name, settings) in &config.clusters {
        let adapter = serve::connect(name, settings, &clients);
        check_cluster(&adapter.cluster(), settings, &mut report).await;
        adapter.shutdown().await;
    }
    report.print();
    let wrong = report.checks.iter().filter(|check| check.mark == Mark::Wrong).count();
    println!("{} checks, {wrong} wrong", report.checks.len());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn check_database(config: &Config, report: &mut Report) {
    let checked = async {
        let stores = serve::open_stores(config).await?;
        stores.meta().check().await?;
        stores.close().await;
        anyhow::Ok(())
    };
    match checked.await {
        Ok(()) => report.fine("the database opens, is migrated and can be written"),
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::Locked(_))) => report.note(
            format!("the database is in use: {error:#}"),
            "nothing to do if that is this deployment's server: its /readyz tells whether the database answers",
        ),
        Err(error) => report.wrong(
            format!("database: {error:#}"),
            "check `database` in the configuration, the rights on its folder, and that no other Millrace uses it",
        ),
    }
}

async fn check_cluster(cluster: &Cluster, settings: &ClusterConfig, report: &mut Report) {
    let name = &cluster.name;
    for (address, answer) in cluster.read.name_servers().await {
        match answer {
            Ok(()) => report.fine(format!("{name}: name server {address} answers")),
            Err(error) => report.wrong(
                format!("{name}: name server: {error}"),
                "check the address and port, and that the name server runs and is not behind a firewall",
            ),
        }
    }
    let topology = match cluster.read.topology().await {
        Ok(topology) => topology,
        Err(error) => {
            report.wrong(format!("{name}: the brokers are not known: {error}"), "mend the name server first");
            return;
        }
    };
    if topology.brokers.is_empty() {
        report.wrong(
            format!("{name}: no broker is registered"),
            "start a broker with namesrvAddr set to these name servers",
        );
    }
    // None once a broker did not tell its topics: it may have some.
    let mut trace_topics = Some(0);
    for broker in &topology.brokers {
        check_addresses(cluster, broker, report).await;
        let found = check_topics(cluster, broker, settings, report).await;
        trace_topics = trace_topics.zip(found).map(|(before, found)| before + found);
        check_settings(&*cluster.read, name, broker, report).await;
        check_clock(&*cluster.read, name, broker, report).await;
    }
    if trace_topics == Some(0) && !topology.brokers.is_empty() {
        report.wrong(
            format!("{name}: no broker has a trace topic, so there is nothing to follow records by"),
            format!("set traceTopicEnable=true on a broker and restart it, or create the topic {TRACE_TOPIC}"),
        );
    }
    if settings.read_only {
        report.fine(format!("{name}: configured read-only, nothing can be changed or sent from here"));
    }
}

async fn check_addresses(cluster: &Cluster, broker: &Broker, report: &mut Report) {
    for replica in &broker.replicas {
        match cluster.read.reachable(&replica.address).await {
            Ok(()) => report.fine(format!("{}: broker {} answers at {}", cluster.name, broker.name, replica.address)),
            Err(error) => report.wrong(
                format!(
                    "{}: broker {} advertises an address that does not work from here: {error}",
                    cluster.name, broker.name
                ),
                "set brokerIP1 on that broker to an address that clients reach, or open the way to it",
            ),
        }
    }
}

/// How many trace topics the broker has, if it tells.
async fn check_topics(
    cluster: &Cluster,
    broker: &Broker,
    settings: &ClusterConfig,
    report: &mut Report,
) -> Option<usize> {
    let (name, broker) = (&cluster.name, &broker.name);
    let topics = match cluster.read.topics(broker).await {
        Ok(topics) => topics,
        Err(error @ BrokerError::NotPermitted { .. }) => {
            report.wrong(
                format!("{name}: {error}"),
                "give the configured access key the right to list and read topics, or set access_key and secret_key",
            );
            return None;
        }
        Err(error) => {
            report.wrong(format!("{name}: the topics of {broker} are not known: {error}"), "mend the broker first");
            return None;
        }
    };
    let mut found = 0;
    for topic in topics.iter().filter(|topic| is_trace_topic(&topic.name, &settings.trace_topics)) {
        found += 1;
        if topic.perm.readable() && topic.perm.writable() {
            report.fine(format!("{name}: {broker} has trace topic {} with {} queue(s)", topic.name, topic.read_queues));
        } else {
            report.wrong(
                format!("{name}: trace topic {} on {broker} has permission {}", topic.name, topic.perm.0),
                "give it permission 6 (read and write): clients must write traces and Millrace must read them",
            );
        }
    }
    for wanted in &settings.trace_topics {
        if !topics.iter().any(|topic| &topic.name == wanted) {
            report.note(
                format!("{name}: {broker} has no topic {wanted}, which trace_topics names"),
                "create it there, or take it out of trace_topics",
            );
        }
    }
    Some(found)
}

async fn check_settings(read: &dyn BrokerRead, cluster: &str, broker: &Broker, report: &mut Report) {
    let broker_name = &broker.name;
    let settings = match read.config(broker_name).await {
        Ok(settings) => settings,
        Err(error) => {
            report.note(
                format!("{cluster}: the configuration of {broker_name} is not known: {error}"),
                "nothing to do if this is not wanted",
            );
            return;
        }
    };
    let is = |key: &str, value: &str| settings.get(key).is_some_and(|found| found.eq_ignore_ascii_case(value));
    if is("traceOn", "false") {
        report.wrong(
            format!("{cluster}: {broker_name} has traceOn=false, so its clients write no traces"),
            "set traceOn=true on that broker",
        );
    } else if settings.contains_key("traceOn") {
        report.fine(format!("{cluster}: {broker_name} lets its clients trace (traceOn)"));
    }
    if is("brokerRole", "SYNC_MASTER") && is("inSyncReplicas", "1") {
        report.note(
            format!("{cluster}: {broker_name} is SYNC_MASTER with inSyncReplicas=1: a send is acknowledged before a slave has it"),
            "set inSyncReplicas=2 if a master's loss must lose nothing",
        );
    }
    let batched = settings.get("transactionOpBatchInterval").and_then(|value| value.parse::<i64>().ok());
    if batched.is_some_and(|millis| millis < 60_000) {
        report.note(
            format!("{cluster}: {broker_name} may use a whole core for ever after its first transactional message (apache/rocketmq#10966)"),
            "set transactionOpBatchInterval=86400000 and transactionOpMsgMaxSize=1 until it is mended there",
        );
    }
}

async fn check_clock(read: &dyn BrokerRead, cluster: &str, broker: &Broker, report: &mut Report) {
    let broker = &broker.name;
    match read.runtime(broker).await.map(|runtime| runtime.clock_offset_ms) {
        Ok(Some(offset)) if offset.abs() > SKEW_WORTH_SAYING_MS => report.note(
            format!("{cluster}: the clock of {broker} is {offset} ms from ours"),
            "let both machines keep time by NTP: ages and lags are compared across them",
        ),
        Ok(Some(_)) => report.fine(format!("{cluster}: the clock of {broker} agrees with ours to the second")),
        Ok(None) => {}
        Err(error) => {
            report.note(format!("{cluster}: the figures of {broker} are not known: {error}"), "mend the broker first");
        }
    }
}
