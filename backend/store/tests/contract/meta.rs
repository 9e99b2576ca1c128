//! The audit trail, what is sent again, and databases that cannot be used.

use millrace_core::name::QueueRef;
use millrace_core::time::Millis;
use millrace_store::fake::FakeMeta;
use millrace_store::{AuditEntry, AuditOutcome, Claim, DatabaseUrl, MetaStore, Resend, StoreError, Stores};
use sqlx::ConnectOptions;

use crate::on_both_engines;
use crate::place::Place;

on_both_engines! {
    the_audit_trail_is_kept_newest_first
    a_message_is_claimed_once_an_attempt
    a_newer_database_is_refused
}

async fn the_audit_trail_is_kept_newest_first(place: Place) {
    let stores = place.open().await;
    let entry = |at: i64, cluster: &str| AuditEntry {
        at: Millis(at),
        who: "operator".into(),
        cluster: cluster.into(),
        action: "topic.create".into(),
        target: format!("orders-{at}"),
        detail: r#"{"queues":4}"#.into(),
        outcomes: vec![
            AuditOutcome { at: "broker-a".into(), error: None },
            AuditOutcome { at: "broker-b".into(), error: Some("no permission: 'x'".into()) },
        ],
    };
    for (at, cluster) in [(1, "shop"), (3, "shop"), (2, "shop"), (4, "other")] {
        stores.meta().audit(&entry(at, cluster)).await.unwrap();
    }
    stores.meta().check().await.unwrap();
    stores.close().await;
    drop(stores);
    let stores = place.open().await;
    assert_eq!(stores.meta().audit_trail("shop", 2).await.unwrap(), [entry(3, "shop"), entry(2, "shop")]);
    assert_eq!(stores.meta().audit_trail("other", 9).await.unwrap(), [entry(4, "other")]);
    stores.close().await;
}

async fn a_message_is_claimed_once_an_attempt(place: Place) {
    let stores = place.open().await;
    claims_hold(&*stores.meta()).await;
    stores.close().await;
    drop(stores);
    // What was begun when the program died is still begun.
    let stores = place.open().await;
    let begun = resend("press-1", 6);
    assert_eq!(stores.meta().claim(&begun, "operator", Millis(50)).await.unwrap(), Claim::Begun { at: Millis(12) });
    stores.close().await;
}

#[tokio::test]
async fn the_fake_claims_as_the_engines_do() {
    claims_hold(&FakeMeta::default()).await;
}

fn resend(attempt: &str, offset: i64) -> Resend {
    let queue = QueueRef { topic: "%DLQ%billing".into(), broker: "broker-a".into(), queue: 0 };
    Resend { cluster: "shop".into(), attempt: attempt.into(), queue, offset }
}

async fn claims_hold(meta: &dyn MetaStore) {
    let claim = async |resend: &Resend, at| meta.claim(resend, "operator", Millis(at)).await.unwrap();
    let (first, second, begun) = (resend("press-1", 5), resend("press-2", 5), resend("press-1", 6));
    assert_eq!(claim(&first, 10).await, Claim::Ours);
    assert_eq!(claim(&first, 11).await, Claim::Begun { at: Millis(10) });
    assert_eq!(claim(&begun, 12).await, Claim::Ours);
    meta.sent(&first, "M1").await.unwrap();
    let sent = Claim::Sent { at: Millis(10), message_id: "M1".into() };
    assert_eq!(claim(&first, 13).await, sent);
    meta.release(&first).await.unwrap();
    assert_eq!(claim(&first, 14).await, sent, "what was sent is not released");
    // Another press is another attempt, and one that was not sent is as if it had not been.
    assert_eq!(claim(&second, 15).await, Claim::Ours);
    meta.release(&second).await.unwrap();
    assert_eq!(claim(&second, 16).await, Claim::Ours);
    meta.sent(&second, "M2").await.unwrap();
    let told = meta.resent("shop", &first.queue, 0, 9).await.unwrap();
    assert_eq!(
        told.iter().map(|resent| (resent.at.0, resent.message_id.as_str())).collect::<Vec<_>>(),
        [(16, "M2"), (10, "M1")]
    );
    for (cluster, from, to) in [("other", 0, 9), ("shop", 6, 9), ("shop", 0, 4)] {
        assert_eq!(meta.resent(cluster, &first.queue, from, to).await.unwrap(), []);
    }
}

async fn a_newer_database_is_refused(place: Place) {
    place.open().await.close().await;
    let statement = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                     VALUES (9999, 'later', TRUE, '\\x00', 0)";
    match &place.url {
        DatabaseUrl::Sqlite(path) => {
            let mut connection = sqlx::sqlite::SqliteConnectOptions::new().filename(path).connect().await.unwrap();
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
        DatabaseUrl::Postgres(options) => {
            let mut connection = options.connect().await.unwrap();
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
    }
    match Stores::open(&place.url).await {
        Err(StoreError::Newer { found: 9999, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_named() {
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let url: DatabaseUrl = format!("postgres://shop:s3cret@127.0.0.1:{port}/traces").parse().unwrap();
    let error = Stores::open(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}/traces")), "{error}");
    assert!(!format!("{error:?} {error}").contains("s3cret"));
}

#[tokio::test]
async fn a_folder_is_as_good_as_the_file_in_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let url: DatabaseUrl = format!("sqlite:{}", folder.path().display()).parse().unwrap();
    Stores::open(&url).await.unwrap().close().await;
    assert!(folder.path().join("millrace.db").is_file());
}
