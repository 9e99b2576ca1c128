//! A RocketMQ of a test's own, which it may stop, kill and start again.
//!
//! Invariant: its processes are gone when the handle is dropped.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

pub(crate) fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/rocketmq"))
}

/// Runs the cluster's script to its end and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("the cluster's script runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

#[derive(Debug)]
pub(crate) struct OwnCluster {
    folder: TempDir,
    /// The broker's further settings, `KEY=VALUE` separated by `;`.
    settings: String,
    pub(crate) name_server: String,
}

impl OwnCluster {
    /// A name server and one broker.
    pub(crate) fn start(settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("millrace-test-rmq-").tempdir().expect("a temporary folder");
        let mut cluster = Self { folder, settings: settings.to_owned(), name_server: String::new() };
        cluster.name_server = cluster.start_again();
        cluster
    }

    /// Starts what does not run, at the same addresses.
    pub(crate) fn start_again(&self) -> String {
        run(script().arg("start").arg(self.folder.path()).env("BROKER_CONF", &self.settings))
    }

    /// Ends all of it in order.
    pub(crate) fn stop(&self) {
        run(script().arg("stop").arg(self.folder.path()));
    }

    /// SIGKILL to `namesrv` or `broker-a`.
    pub(crate) fn kill(&self, name: &str) {
        run(script().arg("kill").arg(self.folder.path()).arg(name));
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        let _ = script().arg("stop").arg(self.folder.path()).status();
    }
}
