//! The audit trail, and databases that cannot be used.

use millrace_core::time::Millis;
use millrace_store::{AuditEntry, AuditOutcome, DatabaseUrl, StoreError, Stores};
use sqlx::ConnectOptions;

use crate::on_both_engines;
use crate::place::Place;

on_both_engines! {
    the_audit_trail_is_kept_newest_first
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
