//! `millrace`: wires things together, nothing else: arguments, configuration, adapters, run until a signal.

#![recursion_limit = "512"]

mod clock;
mod commands;
mod config;
mod otlp;
mod telemetry;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use config::ConfigArgs;

#[derive(Debug, Parser)]
#[command(
    name = "millrace",
    version,
    args_override_self = true,
    about = "Console, tracker and sync runtime for Apache RocketMQ"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Boot an embedded RocketMQ with a small pipeline on it, and serve the pages
    #[cfg(feature = "embedded")]
    Demo(commands::demo::DemoArgs),
    /// Serve the pages and the API, and read the trace topics
    Serve(ConfigArgs),
    /// Check a deployment: what is wrong, and how to mend it
    Doctor(ConfigArgs),
    /// Where is this record? By key, message id or offset message id
    Record(commands::record::RecordArgs),
    /// Decode trace messages from files, without a server
    #[command(subcommand)]
    Trace(commands::trace::TraceCommand),
    /// Measure ingest and look-up on this machine
    #[command(subcommand)]
    Bench(commands::bench::BenchCommand),
    /// Ask a running server whether it is alive; for container health checks
    Health(commands::health::HealthArgs),
}

fn main() -> ExitCode {
    // More than one crypto provider is linked; TLS picks this one.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let matches = commands::api::add_to(Arguments::command()).get_matches();
    // What is not in the enumeration is an operation of the API.
    let command = Command::from_arg_matches(&matches).map_err(|_| matches.subcommand());
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("millrace: the async runtime cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        let command = match command {
            Ok(command) => command,
            Err(Some((subject, matches))) => return Box::pin(commands::api::run(subject, matches)).await,
            Err(None) => anyhow::bail!("a command is missing: millrace --help lists them"),
        };
        match command {
            #[cfg(feature = "embedded")]
            Command::Demo(args) => Box::pin(commands::demo::run(args)).await,
            Command::Serve(args) => commands::serve::run(&args).await,
            Command::Doctor(args) => commands::doctor::run(&args).await,
            Command::Record(args) => Box::pin(commands::record::run(&args)).await,
            Command::Trace(command) => commands::trace::run(&command),
            Command::Bench(command) => Box::pin(commands::bench::run(command)).await.map(|()| ExitCode::SUCCESS),
            Command::Health(args) => commands::health::run(&args).await,
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    outcome.unwrap_or_else(|error| {
        eprintln!("millrace: {error:#}");
        ExitCode::FAILURE
    })
}
