//! `millrace record KEY`: where is this record, on the command line.
//!
//! A running server on this machine is asked; where there is none, the database and the cluster are used directly.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use millrace_broker_rocketmq::client::Clients;
use millrace_core::inert::inert;
use millrace_core::time::Clock;
use millrace_store::SegmentRules;
use millrace_tracker::ingest::IngestState;
use millrace_tracker::record::{Question, RecordFinder};
use serde_json::Value;

use super::{http, serve};
use crate::clock::SystemClock;
use crate::config::{Config, ConfigArgs};

/// A look-up asks every broker; they have 3 s each.
const WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// A record key, a message id of any kind, or an offset message id
    key: String,
    /// Which cluster, where several are configured
    #[arg(long = "in", value_name = "CLUSTER")]
    cluster: Option<String>,
    /// The whole answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Exit code 1 when nothing was found.
pub(crate) async fn run(args: &RecordArgs) -> Result<ExitCode> {
    let config = Config::load(&args.config)?;
    let answer = match ask_server(args, &config).await {
        Ok(answer) => answer,
        Err(Unasked::NoServer) => look_up(args, &config).await?,
        Err(Unasked::Failed(error)) => return Err(error),
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print!("{}", text(&answer));
    }
    let found = answer.pointer("/flow/messages").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

enum Unasked {
    NoServer,
    Failed(anyhow::Error),
}

async fn ask_server(args: &RecordArgs, config: &Config) -> Result<Value, Unasked> {
    let Ok(answer) = http::get(config.bind, "/api/v1/clusters", WITHIN).await else {
        return Err(Unasked::NoServer);
    };
    let ask = async {
        let served: Value = serde_json::from_str(&answer.body).context("the server's answer is not JSON")?;
        let names: Vec<&str> = served
            .pointer("/clusters")
            .or(Some(&served))
            .and_then(Value::as_array)
            .map(|clusters| clusters.iter().filter_map(|cluster| cluster.get("name")?.as_str()).collect())
            .unwrap_or_default();
        let cluster = pick(args.cluster.as_deref(), &names)?;
        let path = format!("/api/v1/clusters/{}/records/{}", http::encode(cluster), http::encode(&args.key));
        let answer = http::get(config.bind, &path, WITHIN).await?;
        if answer.status != 200 {
            bail!("{} answered {}: {}", config.bind, answer.status, answer.body);
        }
        serde_json::from_str(&answer.body).context("the server's answer is not JSON")
    };
    ask.await.map_err(Unasked::Failed)
}

async fn look_up(args: &RecordArgs, config: &Config) -> Result<Value> {
    let names: Vec<&str> = config.clusters.keys().map(String::as_str).collect();
    let name = pick(args.cluster.as_deref(), &names)?;
    let settings = config.clusters.get(name).context("the cluster is not configured")?;
    let clients = Clients::new();
    let adapter = serve::connect(name, settings, &clients);
    let stores = serve::open_stores(config).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let traces = stores.traces(name, SegmentRules::default()).await.context("the stored traces")?;
    let finder = RecordFinder::new(adapter.cluster(), traces, Arc::new(IngestState::idle(name)), clock);
    let answer = finder.look_up(&Question::of(&args.key)).await?;
    adapter.shutdown().await;
    stores.close().await;
    serde_json::to_value(&answer).context("the answer is not JSON")
}

fn pick<'a>(wanted: Option<&'a str>, names: &[&'a str]) -> Result<&'a str> {
    match (wanted, names) {
        (Some(wanted), names) if names.contains(&wanted) => Ok(wanted),
        (Some(wanted), names) => bail!("there is no cluster {wanted}; there are: {}", names.join(", ")),
        (None, [only]) => Ok(only),
        (None, []) => bail!("no server runs and no cluster is configured: give --cluster NAME=HOST:PORT"),
        (None, names) => bail!("several clusters: say --in with one of {}", names.join(", ")),
    }
}

/// The verdict, then a line for each hop and message, then what is wrong.
fn text(answer: &Value) -> String {
    let mut lines = Vec::new();
    let flow = answer.get("flow").cloned().unwrap_or_default();
    let question = answer.get("question").and_then(Value::as_str).unwrap_or_default();
    lines.push(format!("{question}: {}", sentence(flow.get("verdict").unwrap_or(&Value::Null), "code")));
    let messages = list(&flow, "messages");
    for (index, message) in messages.iter().enumerate() {
        let topic = message.get("topic").and_then(Value::as_str).unwrap_or("topic unknown");
        let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
        lines.push(format!(
            "  topic {topic}  {id}  ({})",
            sentence(message.get("evidence").unwrap_or(&Value::Null), "code")
        ));
        for hop in list(&flow, "hops") {
            if hop.get("message").and_then(Value::as_u64) != u64::try_from(index).ok() {
                continue;
            }
            let group = hop.get("group").and_then(Value::as_str).unwrap_or("group unknown");
            let state = sentence(hop.get("state").unwrap_or(&Value::Null), "code");
            let evidence = sentence(hop.get("evidence").unwrap_or(&Value::Null), "code");
            let tries = match list(hop, "attempts").len() {
                1 => "1 try".to_owned(),
                more => format!("{more} tries"),
            };
            lines.push(format!("    group {group}: {state}; {tries}; {evidence}"));
        }
    }
    for finding in list(&flow, "findings") {
        let about = finding.get("about").and_then(Value::as_str).unwrap_or_default();
        lines.push(format!("  finding at {about}: {}", sentence(finding, "finding")));
    }
    for reason in list(answer, "unfound") {
        lines.push(format!("  likely: {}", sentence(reason, "reason")));
    }
    lines.push(String::new());
    inert(&lines.join("\n")).into_owned()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A code with its plain values, as in `stopped at (group price-enricher, tries 3)`.
fn sentence(value: &Value, code: &str) -> String {
    const PLACES: [&str; 5] = ["severity", "hop", "message", "about", "missed"];
    let Some(fields) = value.as_object() else {
        return value.as_str().unwrap_or("unknown").replace('_', " ");
    };
    let name = fields.get(code).and_then(Value::as_str).unwrap_or("unknown").replace('_', " ");
    let values: Vec<String> = fields
        .iter()
        .filter(|(key, value)| *key != code && !PLACES.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| match (key.as_str(), value) {
            ("at" | "since" | "dead_since" | "next_due", Value::Number(ms)) => {
                format!("{} {}", key.replace('_', " "), instant(ms.as_i64()))
            }
            (_, Value::String(text)) => format!("{} {text}", key.replace('_', " ")),
            (_, value) => format!("{} {value}", key.replace('_', " ")),
        })
        .collect();
    if values.is_empty() { name } else { format!("{name} ({})", values.join(", ")) }
}

fn instant(ms: Option<i64>) -> String {
    ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(|| "unknown".to_owned(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::text;

    /// Keys and groups come from traces: a terminal must not take them for commands.
    #[test]
    fn a_hostile_trace_does_not_act_on_the_terminal() {
        let message =
            serde_json::json!({"id": "M\u{1b}[2J", "topic": "orders\u{202e}", "evidence": {"code": "traced"}});
        let told = text(&serde_json::json!({"question": "k\u{7}", "flow": {"messages": [message], "hops": []}}));
        assert!(!told.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{told:?}");
        assert!(told.contains("orders\\u{202e}"), "{told}");
    }

    #[test]
    fn the_verdict_comes_first_and_every_hop_follows() {
        let answer = serde_json::json!({
            "question": "order-7",
            "flow": {
                "verdict": {"code": "stopped_at", "group": "price-enricher", "tries": 3, "dead_since": 0, "reached": 1, "of": 2},
                "messages": [{"id": "M1", "topic": "orders", "evidence": {"code": "traced"}}],
                "hops": [{"message": 0, "group": "price-enricher", "state": {"code": "dead_lettered", "tries": 3},
                          "evidence": {"code": "traced"}, "attempts": [1, 2, 3]}],
                "findings": [{"severity": "bad", "hop": 0, "about": "price-enricher", "finding": "dead", "tries": 3}],
            },
            "unfound": [],
        });
        assert_eq!(
            text(&answer),
            "order-7: stopped at (dead since 1970-01-01T00:00:00Z, group price-enricher, of 2, reached 1, tries 3)\n  \
             topic orders  M1  (traced)\n    \
             group price-enricher: dead lettered (tries 3); 3 tries; traced\n  \
             finding at price-enricher: dead (tries 3)\n"
        );
    }
}
