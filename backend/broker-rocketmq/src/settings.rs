//! What a connection to a cluster needs to know.

use std::time::Duration;

/// The producer group of messages that people send from Millrace.
pub(crate) const CONSOLE_GROUP: &str = "millrace_console";

/// One cluster as Millrace knows it.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// Millrace's own name for it.
    pub name: String,
    /// Name servers as `host:port`.
    pub name_servers: Vec<String>,
    /// The account, where the cluster has ACL on.
    pub credentials: Option<Credentials>,
    /// Without write and send handles.
    pub read_only: bool,
    /// Where the traces of Millrace's own sends go; `None`: the system trace topic.
    pub trace_topic: Option<String>,
    pub timeouts: Timeouts,
}

impl ClusterSettings {
    /// Everything but the name and the name servers at its default: writable, no ACL.
    pub fn new(name: impl Into<String>, name_servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            name: name.into(),
            name_servers: name_servers.into_iter().map(Into::into).collect(),
            credentials: None,
            read_only: false,
            trace_topic: None,
            timeouts: Timeouts::default(),
        }
    }
}

/// An ACL account.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub access_key: String,
    pub secret_key: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("access_key", &self.access_key).field("secret_key", &"***").finish()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Opening a TCP connection.
    pub connect: Duration,
    /// A call and its answer.
    pub call: Duration,
    /// A send, its retries included.
    pub send: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(3), call: Duration::from_secs(5), send: Duration::from_secs(5) }
    }
}

#[cfg(test)]
mod tests {
    use super::Credentials;

    #[test]
    fn a_secret_is_not_printed() {
        let account = Credentials { access_key: "reader".to_owned(), secret_key: "hunter2-secret".to_owned() };
        let printed = format!("{account:?}");
        assert!(printed.contains("reader") && !printed.contains("hunter2"), "{printed}");
    }
}
