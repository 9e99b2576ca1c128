//! Every call of the port on a real broker: the embedded one always, and the one behind `MILLRACE_TEST_NAMESRV` where
//! that is set.

#![cfg(feature = "embedded")]
#![recursion_limit = "512"]
#![expect(clippy::unwrap_used, reason = "tests")]

mod suite;

use millrace_broker_rocketmq::RocketMq;
use millrace_broker_rocketmq::client::Clients;
use millrace_broker_rocketmq::embedded::{Embedded, EmbeddedPorts};

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_broker_serves_every_call() {
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::start(folder.path(), EmbeddedPorts::default()).await.unwrap();
    let clients = Clients::new();
    let name_server = embedded.name_server_address.clone();
    suite::run(&clients, &name_server).await;
    suite::pipeline(&clients, &name_server).await;
    clients.shutdown().await;
    embedded.stop().await;

    // What was written is there again, at other ports.
    let again = Embedded::start(folder.path(), EmbeddedPorts::default()).await.unwrap();
    assert_ne!(again.name_server_address, name_server);
    suite::survived(&again.name_server_address).await;
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_down_at_first_is_there_when_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let clients = Clients::new();
    let rocketmq = RocketMq::connect(&suite::settings(&format!("127.0.0.1:{free}")), &clients);
    let cluster = rocketmq.cluster();
    assert!(cluster.read.topology().await.is_err_and(|error| error.transient()));
    assert!(cluster.read.name_servers().await.iter().all(|(_, answer)| answer.is_err()));
    let embedded = Embedded::start(folder.path(), EmbeddedPorts { name_server: free, broker: 0 }).await.unwrap();
    suite::until("the broker is registered", async || {
        cluster.read.topology().await.is_ok_and(|topology| !topology.brokers.is_empty())
    })
    .await;
    assert!(cluster.read.topics(embedded.broker_name).await.is_ok());
    rocketmq.shutdown().await;
    embedded.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_java_broker_serves_every_call() {
    let Ok(name_server) = std::env::var("MILLRACE_TEST_NAMESRV") else {
        eprintln!("MILLRACE_TEST_NAMESRV is not set: not run against a Java broker");
        return;
    };
    let clients = Clients::new();
    suite::run(&clients, &name_server).await;
    suite::pipeline(&clients, &name_server).await;
    clients.shutdown().await;
}
