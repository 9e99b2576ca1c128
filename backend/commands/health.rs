//! `millrace health`: asks a running server on loopback, so that a container needs no other program for it.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::http;

#[derive(Debug, clap::Args)]
pub(crate) struct HealthArgs {
    /// Where the server listens
    #[arg(long, default_value = crate::config::DEFAULT_BIND, env = "MILLRACE_BIND")]
    bind: SocketAddr,
}

pub(crate) async fn run(args: &HealthArgs) -> Result<ExitCode> {
    let answer = http::get(args.bind, "/healthz", Duration::from_secs(2)).await?;
    println!("{} {}", answer.status, answer.body.trim_end());
    Ok(if answer.status == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
