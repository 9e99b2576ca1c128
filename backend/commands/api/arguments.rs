//! Operations as subcommands, and what was typed as a request.

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, value_parser};
use serde_json::{Map, Value};

use super::operation::{Argument, Operation, Place, Shape};
use crate::commands::http::encode;
use crate::config::ConfigArgs;

/// The argument that names the cluster, as `millrace record` calls it.
const IN: &str = "in";
/// The parameter that it stands for.
const CLUSTER: &str = "cluster";

/// One subcommand a subject, with one a verb below it.
pub(super) fn commands(operations: &[Operation]) -> Vec<Command> {
    let mut subjects: Vec<Command> = Vec::new();
    for operation in operations {
        let at = subjects.iter().position(|command| command.get_name() == operation.subject).unwrap_or_else(|| {
            let about = format!("Ask or change: {}", operation.subject.replace('-', " "));
            subjects.push(
                Command::new(operation.subject.clone())
                    .about(about)
                    .subcommand_required(true)
                    .arg_required_else_help(true),
            );
            subjects.len() - 1
        });
        if let Some(subject) = subjects.get_mut(at) {
            *subject = subject.clone().subcommand(command(operation));
        }
    }
    subjects
}

fn command(operation: &Operation) -> Command {
    let mut command = Command::new(operation.verb.clone()).about(operation.summary.clone());
    for argument in &operation.arguments {
        command = command.arg(typed(argument));
    }
    ConfigArgs::augment_args(command.next_help_heading("Where to ask"))
}

fn typed(argument: &Argument) -> Arg {
    let arg = Arg::new(argument.name.clone()).help(argument.help.clone());
    if argument.place == Place::Path && argument.name == CLUSTER {
        return arg.id(IN).long(IN).value_name("CLUSTER").help("Which cluster, where several are configured");
    }
    let value = argument.name.to_uppercase();
    let arg = arg.value_name(value).required(argument.required);
    if argument.place == Place::Path {
        return arg;
    }
    let arg = arg.long(argument.name.replace('_', "-"));
    match argument.shape {
        Shape::Text | Shape::Json => arg,
        Shape::Number => arg.value_parser(value_parser!(i64)).allow_negative_numbers(true),
        Shape::Switch => {
            arg.value_parser(value_parser!(bool)).num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        Shape::Texts => arg.action(ArgAction::Append),
    }
}

/// What is asked of a server.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query, percent-encoded.
    pub(super) path: String,
    pub(super) body: Option<Value>,
}

/// Which cluster was asked for; `None` where none was, or where the operation is about all of them.
pub(super) fn cluster(matches: &ArgMatches) -> Option<&str> {
    matches.try_get_one::<String>(IN).ok().flatten().map(String::as_str)
}

pub(super) fn in_a_cluster(operation: &Operation) -> bool {
    operation.arguments.iter().any(|argument| argument.place == Place::Path && argument.name == CLUSTER)
}

pub(super) fn request(operation: &Operation, cluster: &str, matches: &ArgMatches) -> Result<Request> {
    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let mut body = Map::new();
    for argument in &operation.arguments {
        if argument.place == Place::Path {
            let text = if argument.name == CLUSTER { cluster } else { text(argument, matches).unwrap_or_default() };
            path = path.replace(&format!("{{{}}}", argument.name), &encode(text));
            continue;
        }
        let Some(value) = value(argument, matches)? else { continue };
        if argument.place == Place::Body {
            body.insert(argument.name.clone(), value);
            continue;
        }
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        query.extend(values.iter().map(|value| format!("{}={}", encode(&argument.name), encode(&plain(value)))));
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    let sends = operation.arguments.iter().any(|argument| argument.place == Place::Body);
    Ok(Request { method: operation.method.clone(), path, body: sends.then_some(Value::Object(body)) })
}

fn text<'a>(argument: &Argument, matches: &'a ArgMatches) -> Option<&'a str> {
    matches.get_one::<String>(&argument.name).map(String::as_str)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn value(argument: &Argument, matches: &ArgMatches) -> Result<Option<Value>> {
    let name = argument.name.as_str();
    Ok(match argument.shape {
        Shape::Text => text(argument, matches).map(Value::from),
        Shape::Number => matches.get_one::<i64>(name).copied().map(Value::from),
        Shape::Switch => matches.get_one::<bool>(name).copied().map(Value::from),
        Shape::Texts => matches
            .get_many::<String>(name)
            .map(|texts| Value::Array(texts.map(|text| Value::from(text.as_str())).collect())),
        Shape::Json => match text(argument, matches) {
            Some(text) => Some(serde_json::from_str(text).with_context(|| {
                format!("--{} takes JSON, as in '{{\"a\": \"b\"}}'; this is none: {text}", name.replace('_', "-"))
            })?),
            None => None,
        },
    })
}
