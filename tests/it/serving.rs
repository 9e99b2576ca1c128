//! Starting, being ready, and what wrong settings are answered with.

use std::process::Command;

use reqwest::StatusCode;

use crate::support::api::Api;
use crate::support::millrace::{CLUSTER, Setup, millrace};

fn said(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("the binary runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

#[tokio::test]
async fn a_server_is_ready_and_ends_when_asked() {
    let setup = Setup::new();
    let server = setup.start();
    assert_eq!(server.api.get("/healthz").await.status, StatusCode::OK);
    let ready = server.api.json("/readyz").await;
    assert_eq!(ready["ready"], true, "{ready:#}");
    let clusters = server.api.json("/api/v1/clusters").await;
    assert!(clusters.to_string().contains(CLUSTER), "{clusters:#}");
    assert!(server.stop().success());
}

/// The same database and group again: nothing is read twice, and nothing that was read is lost.
#[tokio::test]
async fn a_restart_goes_on_where_it_was() {
    let setup = Setup::new();
    let server = setup.start();
    let first = server.api.until_ingested().await;
    let before = server.api.record("order-001").await;
    assert!(server.stop().success());

    let server = setup.start();
    let ingest = server.api.until_ingested().await;
    // Other tests trace what they send meanwhile; reading again from the start would be all of it.
    let (first, again) = (first["records"].as_u64().unwrap(), ingest["records"].as_u64().unwrap());
    assert!(again * 4 < first, "{again} of {first} were read again: {ingest:#}");
    let after = server.api.record("order-001").await;
    assert_eq!(before["flow"], after["flow"]);
}

#[test]
fn it_listens_on_loopback_only() {
    let (ok, text) = said(Setup::on("127.0.0.1:9").command().args(["--bind", "0.0.0.0:0"]));
    assert!(!ok);
    assert!(text.contains("0.0.0.0") && text.contains("loopback"), "{text}");
}

#[test]
fn a_setting_that_does_not_exist_is_refused_with_the_nearest_name() {
    let setup = Setup::on("127.0.0.1:9");
    let file = setup.folder.path().join("wrong.toml");
    std::fs::write(&file, "bindd = \"127.0.0.1:0\"\n").unwrap();
    let (ok, text) = said(millrace().arg("serve").arg("--config").arg(&file));
    assert!(!ok);
    assert!(text.contains("bindd") && text.contains("bind"), "{text}");
    assert!(text.contains("wrong.toml"), "the file is named: {text}");
}

#[test]
fn a_database_that_cannot_be_is_named() {
    let (ok, text) = said(millrace().args(["serve", "--cluster", "shop=127.0.0.1:9", "--database", "mysql://shop"]));
    assert!(!ok);
    assert!(text.contains("database") && text.contains("mysql"), "{text}");
}

/// A cluster that is down is shown as down; the rest is served.
#[tokio::test]
async fn a_cluster_that_is_down_does_not_stop_the_server() {
    let setup = Setup::on("127.0.0.1:9");
    let server = setup.start();
    assert_eq!(server.api.json("/readyz").await["ready"], true);
    for path in [format!("/c/{CLUSTER}"), format!("/c/{CLUSTER}/topics")] {
        let answer = server.api.get(&path).await;
        assert!(
            !answer.status.is_server_error()
                || answer.status == StatusCode::BAD_GATEWAY
                || answer.status == StatusCode::SERVICE_UNAVAILABLE,
            "{path}: {}",
            answer.status
        );
        assert!(answer.body.contains("<main"), "{path} is a whole page: {}", answer.body);
    }
    let answer = server.api.get(&Api::of_cluster("/ingest")).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.body.contains("\"health\":\"running\""), "{}", answer.body);
}

#[tokio::test]
async fn a_foreign_host_and_a_foreign_origin_are_refused() {
    let setup = Setup::new();
    let server = setup.start();
    let client = reqwest::Client::new();
    let answer = client.get(server.api.url("/about")).header("host", "evil.example").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST);
    let answer = client
        .post(server.api.url("/settings"))
        .header("origin", "http://evil.example")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("theme=dark")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
}

#[test]
fn the_doctor_finds_a_healthy_cluster_healthy_and_a_dead_one_dead() {
    let healthy = Setup::new();
    let cluster = format!("{CLUSTER}={}", healthy.name_server);
    let (ok, text) = said(millrace().args(["doctor", "--cluster", &cluster, "--database", &healthy.database.url()]));
    assert!(ok, "{text}");
    let (ok, text) =
        said(millrace().args(["doctor", "--cluster", "shop=127.0.0.1:9", "--database", &healthy.database.url()]));
    assert!(!ok, "{text}");
    assert!(text.contains("127.0.0.1:9"), "{text}");
}
