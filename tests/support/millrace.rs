//! The real binary, as a process of its own.
//!
//! Invariant: a process that was started here is gone when its handle is dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::api::Api;

/// The cluster's name in the configuration of every server under test.
pub(crate) const CLUSTER: &str = "shop";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Where a server keeps its data.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Database {
    /// An empty one, on the engine that `MILLRACE_TEST_DATABASE` names: `sqlite` (default) or `postgres`.
    pub(crate) fn empty(folder: &Path) -> Self {
        match std::env::var("MILLRACE_TEST_DATABASE").as_deref() {
            Err(_) | Ok("sqlite") => Self::Sqlite(folder.join("data")),
            Ok("postgres") => Self::Postgres(create_postgres_database()),
            Ok(other) => panic!("MILLRACE_TEST_DATABASE={other}: sqlite or postgres"),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", folder.display()),
            Self::Postgres(url) => url.clone(),
        }
    }
}

fn create_postgres_database() -> String {
    let server = variable("MILLRACE_TEST_POSTGRES");
    let name = format!("it_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let made = Command::new("psql")
        .args(["--no-psqlrc", "--quiet", "--command", &format!("CREATE DATABASE {name}"), &server])
        .output()
        .expect("psql is installed");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (base, _) = server.rsplit_once('/').expect("MILLRACE_TEST_POSTGRES names a database");
    format!("{base}/{name}")
}

/// What `tests/run` tells the tests.
pub(crate) fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests through tests/run"))
}

pub(crate) fn name_server() -> String {
    variable("MILLRACE_TEST_NAMESRV")
}

/// The binary with nothing of the tests' own environment that it would take for configuration.
pub(crate) fn millrace() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millrace"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MILLRACE_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// How a server is started; starting it again uses the same database and consumer group.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    pub(crate) database: Database,
    pub(crate) name_server: String,
    group: String,
    extra: Vec<(String, String)>,
}

impl Setup {
    /// An empty database, and a consumer group of its own so that servers under test do not share the trace queues.
    pub(crate) fn new() -> Self {
        Self::on(&name_server())
    }

    pub(crate) fn on(name_server: &str) -> Self {
        Self::with_database(name_server, Database::empty)
    }

    pub(crate) fn on_postgres(name_server: &str) -> Self {
        Self::with_database(name_server, |_| Database::Postgres(create_postgres_database()))
    }

    fn with_database(name_server: &str, database: impl FnOnce(&Path) -> Database) -> Self {
        let folder = tempfile::Builder::new().prefix("millrace-test-").tempdir().expect("a temporary folder");
        let database = database(folder.path());
        let group = format!("test_ingest_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self { folder, database, name_server: name_server.to_owned(), group, extra: Vec::new() }
    }

    /// One more `MILLRACE_*` variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = millrace();
        command
            .args(["serve", "--bind", "127.0.0.1:0", "--database", &self.database.url()])
            .args(["--cluster", &format!("{CLUSTER}={}", self.name_server)])
            .env("MILLRACE_INGEST__GROUP", &self.group)
            .envs(self.extra.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path());
        command
    }

    pub(crate) fn start(&self) -> Server {
        Server::start(self.command(), &self.folder.path().join("server.log"))
    }
}

/// A process that serves pages, and its address.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Every line that it printed up to its address.
    pub(crate) printed: Vec<String>,
    pub(crate) api: Api,
}

impl Server {
    /// Starts `command` and returns when it prints its address; what it logs is appended to `log`.
    pub(crate) fn start(mut command: Command, log: &Path) -> Self {
        let file = std::fs::File::options().create(true).append(true).open(log).expect("a log file");
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().expect("the binary starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut server = Self { child, output, printed: Vec::new(), api: Api::at("") };
        loop {
            let mut line = String::new();
            if server.output.read_line(&mut line).expect("readable output") == 0 {
                let status = server.child.wait().expect("its end");
                panic!("it ended with {status} before it served: {:?}\n{}", server.printed, tail(log));
            }
            server.printed.push(line.trim_end().to_owned());
            if let Some(address) = line.split_whitespace().find(|word| word.starts_with("http://")) {
                server.api = Api::at(address);
                return server;
            }
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads further lines of its output until one satisfies `wanted`.
    pub(crate) fn read_until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("readable output") > 0, "it ended");
            let line = line.trim_end();
            self.printed.push(line.to_owned());
            if wanted(line) {
                return line.to_owned();
            }
        }
    }

    /// SIGKILL: nothing in it gets a chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("its end");
    }

    /// Asks it to end, and waits for that.
    pub(crate) fn stop(self) -> ExitStatus {
        self.signal("TERM");
        self.stop_after_signal()
    }

    /// Waits for its end, after a signal.
    pub(crate) fn stop_after_signal(mut self) -> ExitStatus {
        let limit = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(status) = self.child.try_wait().expect("its state") {
                return status;
            }
            assert!(Instant::now() < limit, "it did not end within a minute");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().expect("kill");
        assert!(sent.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(30)..).unwrap_or_default().join("\n")
}

/// Runs a subcommand to its end, with `input`.
pub(crate) fn run(arguments: &[&str], input: &str) -> std::process::Output {
    let mut child = millrace()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("its input");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // It may end without reading everything.
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().expect("its end");
    writer.join().expect("the writer");
    output
}
