//! Every operation of the JSON API as a command: `millrace topics list`, `millrace groups plan billing --to latest`.
//!
//! Invariant: there is no list of commands. They are read from the API's own document, so that page, API and command
//! line do the same with the same function behind them.

mod answer;
mod arguments;
mod operation;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{ArgMatches, Command, FromArgMatches};
use serde_json::Value;

use self::answer::Amount;
use self::arguments::Request;
use self::operation::Operation;
use super::serve::{self, Server};
use crate::config::{Config, ConfigArgs};

/// For one answer. What asks every broker may take some of their deadlines one after the other.
const WITHIN: Duration = Duration::from_mins(2);
/// A server that does not take a connection on this machine within that time does not run.
const CONNECT: Duration = Duration::from_secs(2);

/// What has a command of its own.
const ELSEWHERE: &[&str] = &["records"];

fn operations() -> Vec<Operation> {
    let mut operations = operation::operations(&millrace_web::api_document());
    operations.retain(|operation| !ELSEWHERE.contains(&operation.subject.as_str()));
    operations
}

/// `command` with everything that the API can do.
pub(crate) fn add_to(command: Command) -> Command {
    command.subcommands(arguments::commands(&operations()))
}

/// Exit codes: 0 found or done, 1 nothing there, 2 wrong arguments, 3 in part, 4 refused or failed.
pub(crate) async fn run(subject: &str, matches: &ArgMatches) -> Result<ExitCode> {
    let (verb, matches) = matches.subcommand().context("a subject needs a verb")?;
    let operation = operations()
        .into_iter()
        .find(|operation| operation.subject == subject && operation.verb == verb)
        .with_context(|| format!("there is no {subject} {verb}"))?;
    let config = Config::load(&ConfigArgs::from_arg_matches(matches)?)?;
    let place = Place::find(&config).await?;
    let asked = ask(&operation, matches, &config, &place).await;
    place.leave().await;
    let (status, body) = asked?;
    println!("{}", answer::printed(&body));
    let amount = Amount::of(status, &serde_json::from_str(&body).unwrap_or(Value::Null));
    Ok(amount.code())
}

/// Who answers: the server that runs on this machine, or one of our own for this one question.
enum Place {
    Running(SocketAddr),
    Own(Box<Server>),
}

impl Place {
    async fn find(config: &Config) -> Result<Self> {
        let connected = tokio::time::timeout(CONNECT, tokio::net::TcpStream::connect(config.bind)).await;
        if let Ok(Ok(_)) = connected {
            return Ok(Self::Running(config.bind));
        }
        if config.clusters.is_empty() {
            bail!(
                "no server runs at {} and no cluster is configured: start one, or give --cluster NAME=HOST:PORT",
                config.bind
            );
        }
        let server = serve::start(&config.for_one_question()).await?;
        server.settled().await;
        Ok(Self::Own(Box::new(server)))
    }

    fn address(&self) -> SocketAddr {
        match self {
            Self::Running(address) => *address,
            Self::Own(server) => server.address(),
        }
    }

    async fn leave(self) {
        if let Self::Own(server) = self {
            server.stop().await;
        }
    }
}

async fn ask(operation: &Operation, matches: &ArgMatches, config: &Config, place: &Place) -> Result<(u16, String)> {
    let http = reqwest::Client::builder().timeout(WITHIN).no_proxy().build().context("the HTTP client")?;
    let address = place.address();
    let mut cluster = arguments::cluster(matches).map(str::to_owned);
    if cluster.is_none() && arguments::in_a_cluster(operation) {
        cluster = Some(only_cluster(&http, address).await?);
    }
    let request = arguments::request(operation, cluster.as_deref().unwrap_or_default(), matches)?;
    send(&http, address, request).await.with_context(|| format!("asking {} of {}", operation.path, config.bind))
}

/// The one cluster that the server knows.
async fn only_cluster(http: &reqwest::Client, address: SocketAddr) -> Result<String> {
    let request = Request { method: "GET".to_owned(), path: "/api/v1/clusters".to_owned(), body: None };
    let (_, body) = send(http, address, request).await?;
    let served: Value = serde_json::from_str(&body).context("what listens there is no Millrace")?;
    let clusters = served.get("clusters").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = clusters.iter().filter_map(|cluster| cluster.get("name")?.as_str()).collect();
    match names[..] {
        [only] => Ok(only.to_owned()),
        [] => bail!("the server at {address} has no cluster"),
        _ => bail!("several clusters: say --in with one of {}", names.join(", ")),
    }
}

async fn send(http: &reqwest::Client, address: SocketAddr, request: Request) -> Result<(u16, String)> {
    let method = request.method.parse().context("the method")?;
    let mut asked =
        http.request(method, format!("http://{address}{}", request.path)).header("accept", "application/json");
    if let Some(body) = &request.body {
        asked = asked.json(body);
    }
    let answer = asked.send().await.context("the server did not answer")?;
    Ok((answer.status().as_u16(), answer.text().await.context("the answer was not read")?))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use clap::Command;
    use serde_json::json;

    use super::arguments::{Request, request};
    use super::{add_to, operations};

    fn asked(words: &[&str]) -> Request {
        let matches = add_to(Command::new("millrace")).try_get_matches_from([&["millrace"], words].concat()).unwrap();
        let (subject, matches) = matches.subcommand().unwrap();
        let (verb, matches) = matches.subcommand().unwrap();
        let operation = operations().into_iter().find(|known| known.subject == subject && known.verb == verb).unwrap();
        request(&operation, "shop", matches).unwrap()
    }

    /// What clap asserts only in debug builds: no name twice below one command.
    #[test]
    fn commands_and_arguments_have_names_of_their_own() {
        let known = operations();
        let mut names = BTreeSet::new();
        for operation in &known {
            assert!(names.insert((operation.subject.clone(), operation.verb.clone())), "twice: {operation:?}");
            assert!(!operation.summary.is_empty(), "{operation:?}");
        }
        for subject in add_to(Command::new("millrace")).get_subcommands_mut() {
            for verb in subject.get_subcommands() {
                let mut ids = BTreeSet::new();
                let mut longs = BTreeSet::new();
                for arg in verb.get_arguments() {
                    assert!(ids.insert(arg.get_id().to_string()), "{}: {}", verb.get_name(), arg.get_id());
                    assert!(arg.get_long().is_none_or(|long| longs.insert(long.to_owned())), "{}", arg.get_id());
                }
            }
        }
        assert!(known.len() > 20, "{}", known.len());
    }

    #[test]
    fn what_is_typed_becomes_a_request() {
        let listed = asked(&["topics", "list", "--filter", "a b/订", "--size", "20"]);
        assert_eq!((listed.method.as_str(), listed.body), ("GET", None));
        assert_eq!(listed.path, "/api/v1/clusters/shop/topics?filter=a%20b%2F%E8%AE%A2&size=20");

        let made = asked(&["groups", "create", "--name", "billing", "--brokers", "a", "--brokers", "b", "--orderly"]);
        assert_eq!((made.method.as_str(), made.path.as_str()), ("POST", "/api/v1/clusters/shop/groups"));
        assert_eq!(made.body, Some(json!({"name": "billing", "brokers": ["a", "b"], "orderly": true})));

        let changed = asked(&["groups", "change", "billing", "--consume-enable=false", "--retry-max-times", "-1"]);
        assert_eq!(changed.path, "/api/v1/clusters/shop/groups/billing");
        assert_eq!(changed.body, Some(json!({"consume_enable": false, "retry_max_times": -1})));

        let sent = asked(&["messages", "send", "orders", "--body", "{}", "--properties", r#"{"step": "2"}"#]);
        assert_eq!(sent.body, Some(json!({"body": "{}", "properties": {"step": "2"}})));
    }

    #[test]
    fn what_an_operation_needs_is_asked_for() {
        let missing = add_to(Command::new("millrace")).try_get_matches_from(["millrace", "topics", "delete", "orders"]);
        assert!(missing.unwrap_err().to_string().contains("--confirm"));
    }
}
