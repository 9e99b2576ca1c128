//! What happens to files: kills, damage, a second program, a newer version. Only SQLite has files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use millrace_core::time::Millis;
use millrace_store::{StoreError, Stores};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use crate::place::{CLUSTER, ENDLESS, Place, rolled_at};
use crate::sample::{batch, found_at, offsets, term};

/// What a kill leaves: the files as they are at this moment, without a close.
fn copy_of(place: &Place) -> Place {
    // Sealing goes on in the background: files that change while they are copied are of no one moment.
    loop {
        let copy = Place::sqlite();
        let before = files(&place.folder());
        if copy_folder(&place.folder(), &copy.folder()).is_ok() && files(&place.folder()) == before {
            return copy;
        }
    }
}

/// Every file below, with its size and when it was written.
fn files(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path));
        } else if let Ok(data) = std::fs::metadata(&path) {
            found.push((path, data.len(), data.modified().ok()));
        }
    }
    found.sort();
    found
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            std::fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(rolled_at(3)).await;
    for at in 0..10 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
        let killed = copy_of(&place);
        let (again, found) = killed.traces(rolled_at(3)).await;
        assert_eq!(found.positions().await.unwrap()[0].next, at + 1);
        let expected: Vec<i64> = (0..=at).collect();
        assert_eq!(found_at(&found.find(&term("order-1"), 99).await.unwrap()), expected);
        found.seal().await.unwrap();
        assert_eq!(found_at(&found.find(&term("order-1"), 99).await.unwrap()), expected);
        again.close().await;
    }
    stores.close().await;
}

#[tokio::test]
async fn a_kill_while_sealing_leaves_a_segment_that_is_sealed_later() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1", "order-2"]), Millis(5)).await.unwrap();
    stores.close().await;
    drop((stores, traces));
    let file = place.segment_file(1);
    // A seal that was cut off: its changes are in the log, without the commit.
    let mut sealing = SqliteConnectOptions::new().filename(&file).pragma("cache_size", "-1").connect().await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE; DELETE FROM trace_postings; UPDATE trace_segment SET state = 2;")
        .execute(&mut sealing)
        .await
        .unwrap();
    for block in 0..2000 {
        sqlx::query("INSERT INTO trace_block (block, first, entries) VALUES ($1, 0, zeroblob(900))")
            .bind(block)
            .execute(&mut sealing)
            .await
            .unwrap();
    }
    let killed = copy_of(&place);
    let log = std::fs::metadata(killed.segment_file(1).with_extension("db-wal")).unwrap().len();
    assert!(log > 100_000, "the cut-off seal has reached the log: {log} bytes");
    let (stores, traces) = killed.traces(rolled_at(1)).await;
    assert_eq!(found_at(&traces.find(&term("order-1"), 9).await.unwrap()), [0]);
    traces.append(batch(0, 2, &["order-1"]), Millis(6)).await.unwrap();
    traces.seal().await.unwrap();
    assert!(traces.segments().await.unwrap()[0].sealed);
    assert_eq!(found_at(&traces.find(&term("order-1"), 9).await.unwrap()), [0, 2]);
    assert!(!killed.segment_file(1).with_extension("db-wal").exists(), "a sealed file is whole in itself");
    stores.close().await;
}

#[tokio::test]
async fn an_unfinished_segment_file_is_replaced() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    traces.append(batch(0, 0, &["order-1"]), Millis(5)).await.unwrap();
    stores.close().await;
    drop((stores, traces));
    let unfinished = place.segment_file(2).with_extension("new");
    std::fs::write(&unfinished, b"SQLite format 3\0 and no more").unwrap();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    assert!(!unfinished.exists());
    traces.append(batch(0, 1, &["order-1"]), Millis(5)).await.unwrap();
    assert_eq!(found_at(&traces.find(&term("order-1"), 9).await.unwrap()), [0, 1]);
    stores.close().await;
}

#[tokio::test]
async fn a_damaged_segment_is_named_and_the_others_answer() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..4 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    stores.close().await;
    drop((stores, traces));
    std::fs::write(place.segment_file(2), vec![0x5a; 40_000]).unwrap();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    let found = traces.find(&term("order-1"), 9).await.unwrap();
    assert_eq!(offsets(&found.records), [(0, 0), (0, 2), (0, 3)]);
    assert_eq!((found.missed.len(), found.segments_searched), (1, 3));
    assert!(found.missed[0].what.contains("0000000002.db"), "{found:?}");
    assert!(traces.segments().await.unwrap()[1].damaged.is_some());
    traces.append(batch(0, 4, &["order-1"]), Millis(5)).await.unwrap();
    stores.close().await;
}

#[tokio::test]
async fn a_damaged_chunk_is_named() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..2 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    traces.seal().await.unwrap();
    let mut hand = SqliteConnectOptions::new().filename(place.segment_file(1)).connect().await.unwrap();
    sqlx::query("UPDATE trace_chunk SET body = zeroblob(50)").execute(&mut hand).await.unwrap();
    let found = traces.find(&term("order-1"), 9).await.unwrap();
    assert_eq!(offsets(&found.records), [(0, 1)]);
    assert!(found.missed[0].why.english().contains("chunk 1"), "{found:?}");
    stores.close().await;
}

#[tokio::test]
async fn a_damaged_newest_segment_does_not_stop_ingest() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    for at in 0..2 {
        traces.append(batch(0, at, &["order-1"]), Millis(5)).await.unwrap();
    }
    stores.close().await;
    drop((stores, traces));
    std::fs::write(place.segment_file(2), b"").unwrap();
    let (stores, traces) = place.traces(rolled_at(1)).await;
    // The position goes back to what is kept for certain: the lost message is read again.
    assert_eq!(traces.positions().await.unwrap()[0].next, 1);
    traces.append(batch(0, 1, &["order-1"]), Millis(5)).await.unwrap();
    let found = traces.find(&term("order-1"), 9).await.unwrap();
    assert_eq!(offsets(&found.records), [(0, 0), (0, 1)]);
    assert_eq!(found.missed.len(), 1);
    stores.close().await;
}

#[tokio::test]
async fn a_folder_has_one_program() {
    let place = Place::sqlite();
    let stores = place.open().await;
    let error = Stores::open(&place.url).await.unwrap_err();
    assert!(matches!(&error, StoreError::Locked(what) if what.contains(&std::process::id().to_string())), "{error}");
    stores.close().await;
    drop(stores);
    place.open().await.close().await;
}

#[tokio::test]
async fn a_segment_of_a_newer_version_is_refused() {
    let place = Place::sqlite();
    let (stores, traces) = place.traces(ENDLESS).await;
    traces.append(batch(0, 0, &["order-1"]), Millis(5)).await.unwrap();
    stores.close().await;
    drop((stores, traces));
    let mut hand = SqliteConnectOptions::new().filename(place.segment_file(1)).connect().await.unwrap();
    sqlx::query("PRAGMA user_version = 2").execute(&mut hand).await.unwrap();
    let stores = place.open().await;
    match stores.traces(CLUSTER, ENDLESS).await {
        Err(StoreError::Newer { found: 2, known: 1, what }) => assert!(what.contains("0000000001.db")),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_told() {
    let place = Place::sqlite();
    std::fs::write(place.folder().join("millrace.db"), "no database, but long enough to be looked at".repeat(200))
        .unwrap();
    let error = Stores::open(&place.url).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}
