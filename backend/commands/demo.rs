//! `millrace demo`: an embedded RocketMQ, a small shop's pipeline that really runs on it, and the pages.
//!
//! Nothing is canned: what the pages show was sent, consumed and traced through the broker.

mod pipeline;

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use millrace_broker_rocketmq::client::ClientTarget;
use millrace_broker_rocketmq::embedded::{Embedded, EmbeddedPorts};

use crate::config::{ClusterConfig, Config, Secret};
use crate::{commands::serve, telemetry::Telemetry};

const CLUSTER: &str = "demo";

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Folder for the broker's and Millrace's data; a temporary one where not given
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Port of the pages; a free one if it is taken
    #[arg(long, default_value_t = 8700)]
    port: u16,
    /// Records a second that the source sends after the first hundred
    #[arg(long, default_value_t = 2, conflicts_with = "bare")]
    rate: u32,
    /// No pipeline: an empty RocketMQ and the pages, for clients of your own
    #[arg(long)]
    bare: bool,
    /// Port of the name server; a free one if not given
    #[arg(long, value_name = "PORT")]
    name_server_port: Option<u16>,
}

pub(crate) async fn run(args: DemoArgs) -> Result<ExitCode> {
    let config = Config::default();
    let telemetry = Telemetry::install(&config.telemetry, true)?;
    let temporary = match &args.data {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("millrace-demo-").tempdir().context("no temporary folder")?),
    };
    let folder = args.data.clone().or_else(|| temporary.as_ref().map(|dir| dir.path().to_owned())).unwrap_or_default();

    println!("Starting an embedded RocketMQ in {} …", folder.display());
    let ports = EmbeddedPorts { name_server: args.name_server_port.unwrap_or(0), ..EmbeddedPorts::default() };
    let embedded = Embedded::start(&folder.join("rocketmq"), ports).await?;
    println!("  name server {}", embedded.name_server_address);

    let mut config = config;
    config.database = Secret(format!("sqlite:{}", folder.join("millrace").display()));
    config.bind.set_port(free_port(args.port)?);
    config.clusters.insert(
        CLUSTER.to_owned(),
        ClusterConfig { name_servers: vec![embedded.name_server_address.clone()], ..ClusterConfig::default() },
    );
    let server = serve::start(&config).await?;
    let cluster = server.cluster(CLUSTER).context("the demo cluster")?;
    let target = ClientTarget::new([&embedded.name_server_address]);
    let pipeline = if args.bare { None } else { Some(pipeline::start(cluster, target, args.rate).await?) };

    println!("\nMillrace is at  http://{}\n", server.address());
    if pipeline.is_some() {
        println!("A source sends orders through three operators to two sinks. Records worth looking up:");
        for (key, why) in pipeline::WORTH_A_LOOK {
            println!("  http://{}/c/{CLUSTER}/records?q={key:<12}  {why}", server.address());
        }
        println!();
    }
    println!("Ctrl-C ends it.");

    serve::signal().await?;
    println!("\nStopping …");
    if let Some(pipeline) = pipeline {
        pipeline.stop().await;
    }
    server.stop().await;
    embedded.stop().await;
    telemetry.shutdown();
    Ok(ExitCode::SUCCESS)
}

/// `port` where it is free on loopback, else one that the system picks.
fn free_port(port: u16) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", port))
        .or_else(|_| TcpListener::bind(("127.0.0.1", 0)))
        .context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr().context("the listener has no address")?.port())
}
