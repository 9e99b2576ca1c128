//! A PostgreSQL for the tests: the one that `MILLRACE_TEST_POSTGRES` names, or one started here from Debian's binaries,
//! which ends when the test process does. Without either the tests fail.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use millrace_store::DatabaseUrl;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::sync::OnceCell;

static SERVER: OnceCell<String> = OnceCell::const_new();
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A new database, of which nobody else knows.
pub(crate) async fn empty_database() -> DatabaseUrl {
    let server = SERVER.get_or_init(server).await;
    let name = format!("millrace_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let options: PgConnectOptions = server.parse().expect("MILLRACE_TEST_POSTGRES is a URL");
    let mut admin = options.connect().await.expect("the test PostgreSQL answers");
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut admin).await.unwrap();
    admin.close().await.unwrap();
    DatabaseUrl::Postgres(Box::new(options.database(&name)))
}

async fn server() -> String {
    if let Ok(url) = std::env::var("MILLRACE_TEST_POSTGRES") {
        return url;
    }
    let binaries = newest_binaries().expect(
        "no PostgreSQL to test on: install Debian's `postgresql`, or set MILLRACE_TEST_POSTGRES=postgres://USER@HOST/DATABASE",
    );
    tokio::task::spawn_blocking(move || start(&binaries)).await.unwrap()
}

fn newest_binaries() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    versions.sort_by_key(version);
    versions.into_iter().rev().map(|path| path.join("bin")).find(|bin| bin.join("initdb").exists())
}

/// PostgreSQL refuses root: then it runs as the user Debian made for it.
fn as_server_user(program: &Path) -> Command {
    let root = std::fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    if root {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

#[expect(clippy::zombie_processes, reason = "the server outlives this function; a shell stops it after this process")]
fn start(binaries: &Path) -> String {
    let folder = tempfile::Builder::new().prefix("millrace-postgres-").tempdir().unwrap().keep();
    // The server's user must be able to enter and to own it.
    std::os::unix::fs::chown(&folder, owner(), None).unwrap();
    let data = folder.join("data");
    let made = as_server_user(&binaries.join("initdb"))
        .args(["-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-U", "postgres", "-N", "-D"])
        .arg(&data)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    as_server_user(&binaries.join("postgres"))
        .arg("-D")
        .arg(&data)
        .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=300"])
        .args(["-c", "fsync=off", "-c"])
        .arg(format!("unix_socket_directories={}", folder.display()))
        .current_dir("/")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    stop_with_this_process(&data, &folder);
    wait_for(binaries, port);
    format!("postgres://postgres@127.0.0.1:{port}/postgres")
}

fn owner() -> Option<u32> {
    let id = Command::new("id").args(["-u", "postgres"]).output().ok()?;
    let root = std::fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    root.then(|| String::from_utf8_lossy(&id.stdout).trim().parse().ok()).flatten()
}

/// A test process ends without running destructors of statics, or is killed: a shell waits for its end and stops the
/// server that it started, and only that.
#[expect(clippy::zombie_processes, reason = "the shell outlives this process, by design")]
fn stop_with_this_process(data: &Path, folder: &Path) {
    let script = "while kill -0 \"$1\" 2>/dev/null; do sleep 0.2; done; \
                  kill -INT \"$(head -1 \"$2/postmaster.pid\")\"; \
                  while [ -e \"$2/postmaster.pid\" ]; do sleep 0.1; done; rm -rf \"$3\"";
    Command::new("sh")
        .args(["-c", script, "stop", &std::process::id().to_string()])
        .arg(data)
        .arg(folder)
        // A group of its own: what ends the tests' group leaves it to tidy up.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
}

fn wait_for(binaries: &Path, port: u16) {
    for _ in 0..200 {
        let ready = Command::new(binaries.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
            .status()
            .unwrap();
        if ready.success() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the test PostgreSQL on port {port} did not come up in ten seconds");
}
