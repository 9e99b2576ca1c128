//! Databases that are full, in use, newer, or shared by two servers.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::load::{fill_trace_topic, stored, trace_topic, undisturbed};
use crate::support::api::Api;
use crate::support::millrace::{CLUSTER, Database, Server, Setup, name_server, run};

const LOAD: u64 = 60_000;
/// What stays free when the server starts: enough for an empty database, not for the load.
const ROOM_KIB: u64 = 1_500;
const DISK_KIB: u64 = 96 * 1_024;

fn text(output: &std::process::Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// Runs `serve` although it cannot, and returns what it says.
fn refused(setup: &Setup) -> String {
    let output = setup.command().output().expect("the binary runs");
    assert!(!output.status.success(), "{}", text(&output));
    text(&output)
}

fn psql(url: &str, statement: &str) {
    let done = Command::new("psql").args(["--no-psqlrc", "--quiet", "--command", statement, url]).output();
    let done = done.expect("psql is installed");
    assert!(done.status.success(), "{}", text(&done));
}

/// A disk of its own that only the server sees, and a file on it that leaves little room.
#[derive(Debug)]
struct SmallDisk {
    root: PathBuf,
}

impl SmallDisk {
    fn command(setup: &Setup) -> Command {
        let Database::Sqlite(data) = &setup.database else { panic!("only a file can fill a disk") };
        std::fs::create_dir_all(data).unwrap();
        let serve = setup.command();
        let mount = format!(
            "mount -t tmpfs -o size={DISK_KIB}k tmpfs {0} && head -c {1} /dev/zero >{0}/ballast && exec \"$@\"",
            data.display(),
            (DISK_KIB - ROOM_KIB) * 1_024,
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &mount, "sh"]).arg(serve.get_program());
        command.args(serve.get_args()).current_dir(setup.folder.path());
        for (name, value) in serve.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The server's disk, seen from here.
    fn of(server: &Server, setup: &Setup) -> Self {
        let Database::Sqlite(data) = &setup.database else { panic!("only a file can fill a disk") };
        let root = format!("/proc/{}/root{}", server.pid(), data.display());
        Self { root: root.into() }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.root.join("ballast")).unwrap();
    }

    /// What lies there, copied to a place that outlives the server.
    fn copy_to(&self, folder: &Path) {
        let copied = Command::new("cp").arg("-r").arg(&self.root).arg(folder).status().expect("cp");
        assert!(copied.success());
    }
}

#[tokio::test]
async fn a_full_disk_stops_nothing_but_ingest_which_goes_on_when_there_is_room() {
    let _turn = trace_topic().await;
    fill_trace_topic(LOAD);
    let setup = Setup::new();
    let server = Server::start(SmallDisk::command(&setup), &setup.folder.path().join("server.log"));
    let ingest = Api::of_cluster("/ingest");
    let full = |answer: &Value| answer["why"].as_str().is_some_and(|why| why.contains("disk") && why.contains("full"));
    let told = server.api.until(&ingest, full).await;
    assert_eq!(told["health"], "degraded", "{told:#}");
    for page in [format!("/c/{CLUSTER}"), format!("/c/{CLUSTER}/topics"), format!("/c/{CLUSTER}/records?q=order-1")] {
        let answer = server.api.get(&page).await;
        assert!(answer.status.is_success(), "{page}: {}", answer.status);
    }

    let disk = SmallDisk::of(&server, &setup);
    disk.make_room();
    server.api.until(&ingest, |answer| answer["health"] == "running").await;
    server.api.until_ingested().await;
    let kept = Setup::new();
    let Database::Sqlite(copy) = &kept.database else { panic!("a copy of files") };
    disk.copy_to(copy);
    assert!(server.stop().success());

    assert_eq!(stored(&kept).await, undisturbed().await);
}

#[tokio::test]
async fn a_database_in_use_is_refused_by_its_name_and_user() {
    let setup = Setup::new();
    let server = setup.start();
    let said = refused(&setup);
    assert!(said.contains("locked by another program"), "{said}");
    assert!(said.contains(&setup.folder.path().display().to_string()), "the folder is named: {said}");
    assert!(said.contains(&format!("process {}", server.pid())), "the other program is named: {said}");
    assert_eq!(server.api.json("/readyz").await["ready"], true, "the first goes on");

    let cluster = format!("{CLUSTER}={}", setup.name_server);
    let doctor = run(&["doctor", "--cluster", &cluster, "--database", &setup.database.url()], "");
    assert!(doctor.status.success(), "a running server is no fault: {}", text(&doctor));
    assert!(text(&doctor).contains("in use"), "{}", text(&doctor));
}

#[tokio::test]
async fn a_newer_database_is_refused_with_both_versions() {
    let setup = Setup::on_postgres("127.0.0.1:9");
    let server = setup.start();
    assert!(server.stop().success());
    psql(
        &setup.database.url(),
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'of a later version', true, '', 0)",
    );
    let said = refused(&setup);
    assert!(said.contains("newer Millrace") && said.contains("9999"), "{said}");
}

/// Two servers on one PostgreSQL share the trace queues; when one is killed the other takes over, and every record is
/// there once.
#[tokio::test]
async fn two_servers_on_one_database_share_the_work_and_the_loss_of_one_costs_nothing() {
    let _turn = trace_topic().await;
    let setup = Setup::on_postgres(&name_server());
    let (first, second) = (setup.start(), setup.start());
    let ingest = Api::of_cluster("/ingest");
    let both = |answer: &Value| answer["members"].as_array().is_some_and(|members| members.len() == 2);
    let shared = |answer: &Value| both(answer) && answer["queues"].as_array().is_some_and(|queues| !queues.is_empty());
    first.api.until(&ingest, shared).await;
    second.api.until(&ingest, shared).await;
    fill_trace_topic(LOAD);
    second.api.until(&ingest, |answer| answer["records"].as_u64().is_some_and(|records| records > 0)).await;
    second.kill();
    let alone = |answer: &Value| answer["members"].as_array().is_some_and(|members| members.len() == 1);
    first.api.until(&ingest, alone).await;
    first.api.until_ingested().await;
    assert!(first.stop().success());

    assert_eq!(stored(&setup).await, undisturbed().await);
}
