//! Configuration: a TOML file, then `MILLRACE_*` variables, then flags; the later wins. Unknown keys are refused.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use figment::providers::{Env, Format, Serialized, Toml};
use figment::{Figment, Provider};
use serde::{Deserialize, Serialize};

pub(crate) const DEFAULT_BIND: &str = "127.0.0.1:8700";

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Where pages and API are served. Loopback only, while there is no sign-in.
    pub(crate) bind: SocketAddr,
    /// `sqlite:FOLDER` or `postgres://user:password@host/database`.
    pub(crate) database: Secret,
    /// A file that holds the database URL, instead of `database`.
    pub(crate) database_file: Option<PathBuf>,
    /// Host names under which a proxy serves Millrace, beside localhost.
    pub(crate) hosts: Vec<String>,
    pub(crate) ingest: IngestConfig,
    pub(crate) history: HistoryConfig,
    pub(crate) telemetry: TelemetryConfig,
    /// RocketMQ clusters by name; the name is part of every URL.
    pub(crate) clusters: BTreeMap<String, ClusterConfig>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IngestConfig {
    /// Whether this process reads the trace topics.
    pub(crate) enabled: bool,
    /// The consumer group that all workers share.
    pub(crate) group: String,
    /// Segments whose newest trace is older are dropped.
    pub(crate) keep_hours: u32,
    /// The oldest segments are dropped above this many MiB.
    pub(crate) keep_mib: u64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HistoryConfig {
    /// Whether this process records what its clusters look like.
    pub(crate) enabled: bool,
    /// Days whose minutes are kept.
    pub(crate) minutes_days: u32,
    /// Days whose hours are kept.
    pub(crate) hours_days: u32,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TelemetryConfig {
    /// Filter of log lines, as in `info,millrace=debug`.
    pub(crate) log: Option<String>,
    /// One JSON object a line instead of text.
    pub(crate) log_json: bool,
    /// An OTLP/HTTP endpoint for metrics and spans, as in `http://127.0.0.1:4318`.
    pub(crate) otlp_endpoint: Option<String>,
    /// A listener of its own for Prometheus, as in `127.0.0.1:9464`.
    pub(crate) prometheus: Option<SocketAddr>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClusterConfig {
    /// `host:port`, several in a list or separated by `;`.
    #[serde(deserialize_with = "list")]
    pub(crate) name_servers: Vec<String>,
    /// Trace topics beside `RMQ_SYS_TRACE_TOPIC` and `rmq_sys_TRACE_DATA_*`.
    #[serde(deserialize_with = "list")]
    pub(crate) trace_topics: Vec<String>,
    /// No write reaches the cluster: not topics, not messages.
    pub(crate) read_only: bool,
    pub(crate) access_key: Option<String>,
    pub(crate) secret_key: Option<Secret>,
    /// A file that holds the secret key, instead of `secret_key`.
    pub(crate) secret_key_file: Option<PathBuf>,
    /// How long a broker may take to answer; 3000 where not given.
    pub(crate) timeout_ms: Option<u64>,
}

/// A text that neither logs nor errors show.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8700)),
            database: Secret("sqlite:millrace-data".to_owned()),
            database_file: None,
            hosts: Vec::new(),
            ingest: IngestConfig::default(),
            history: HistoryConfig::default(),
            telemetry: TelemetryConfig::default(),
            clusters: BTreeMap::new(),
        }
    }
}

impl Default for IngestConfig {
    fn default() -> Self {
        Self { enabled: true, group: "millrace_trace_ingest".to_owned(), keep_hours: 72, keep_mib: 20_480 }
    }
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self { enabled: true, minutes_days: 7, hours_days: 90 }
    }
}

/// What the command line gives.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Configuration file (TOML); millrace.toml in the working folder is read where there is one
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address to serve on [default: 127.0.0.1:8700]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<SocketAddr>,
    /// sqlite:FOLDER or postgres://user:password@host/database [default: sqlite:millrace-data]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// A cluster as NAME=HOST:PORT[;HOST:PORT…]; may be given several times
    #[arg(long = "cluster", value_name = "NAME=ADDRESSES")]
    clusters: Vec<String>,
    /// A Prometheus listener, as in 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS")]
    prometheus: Option<SocketAddr>,
}

impl Config {
    /// Reads file, environment and flags, and refuses what cannot be right.
    pub(crate) fn load(args: &ConfigArgs) -> Result<Self> {
        Self::read(args, Env::prefixed("MILLRACE_").split("__"))
    }

    /// The same clusters and database, for a command that asks one thing: nothing is recorded, any port does.
    pub(crate) fn for_one_question(&self) -> Self {
        let mut own = self.clone();
        own.bind.set_port(0);
        own.ingest.enabled = false;
        own.history.enabled = false;
        own
    }

    fn read(args: &ConfigArgs, environment: impl Provider) -> Result<Self> {
        let file = match &args.config {
            Some(path) if !path.is_file() => bail!("there is no configuration file {}", path.display()),
            Some(path) => Some(path.clone()),
            None => Some(PathBuf::from("millrace.toml")).filter(|path| path.is_file()),
        };
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        if let Some(file) = &file {
            figment = figment.merge(Toml::file_exact(file));
        }
        figment = figment.merge(environment);
        let mut config: Self = figment.extract().map_err(|error| explain(&error))?;
        config.apply(args)?;
        config.resolve_secrets()?;
        config.check()?;
        Ok(config)
    }

    fn apply(&mut self, args: &ConfigArgs) -> Result<()> {
        if let Some(bind) = args.bind {
            self.bind = bind;
        }
        if let Some(database) = &args.database {
            self.database = Secret(database.clone());
            self.database_file = None;
        }
        if let Some(prometheus) = args.prometheus {
            self.telemetry.prometheus = Some(prometheus);
        }
        for cluster in &args.clusters {
            let (name, addresses) =
                cluster.split_once('=').with_context(|| format!("--cluster {cluster}: write it as NAME=HOST:PORT"))?;
            self.clusters.entry(name.to_owned()).or_default().name_servers = split(addresses);
        }
        Ok(())
    }

    fn resolve_secrets(&mut self) -> Result<()> {
        if let Some(file) = &self.database_file {
            self.database = read_secret("database_file", file)?;
        }
        for (name, cluster) in &mut self.clusters {
            if let Some(file) = &cluster.secret_key_file {
                cluster.secret_key = Some(read_secret(&format!("clusters.{name}.secret_key_file"), file)?);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if !self.bind.ip().is_loopback() {
            bail!(
                "bind = {}: Millrace has no sign-in yet, so it listens on loopback only. Use 127.0.0.1:{} and reach it through an SSH tunnel",
                self.bind,
                self.bind.port()
            );
        }
        if let Some(address) = self.telemetry.prometheus
            && !address.ip().is_loopback()
        {
            bail!("telemetry.prometheus = {address}: it listens on loopback only, while there is no sign-in");
        }
        for (name, cluster) in &self.clusters {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
                bail!(
                    "clusters.{name}: a cluster's name is made of letters, digits, '-', '_' and '.', since it is part of URLs"
                );
            }
            if cluster.name_servers.is_empty() {
                bail!("clusters.{name}.name_servers is empty: give at least one host:port");
            }
            for address in &cluster.name_servers {
                let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
                if port.is_none() {
                    bail!("clusters.{name}.name_servers: {address} is not host:port");
                }
            }
            if cluster.access_key.is_some() != cluster.secret_key.is_some() {
                bail!("clusters.{name}: access_key and secret_key go together");
            }
        }
        Ok(())
    }
}

/// The nearest right name for an unknown key; other faults with the place where they stand.
fn explain(error: &figment::Error) -> anyhow::Error {
    let mut lines = Vec::new();
    for error in error.clone() {
        let place = error.metadata.as_ref().map(|metadata| match &metadata.source {
            Some(source) => source.to_string(),
            None => metadata.name.to_string(),
        });
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let path = error.path.join(".");
        lines.push(match &error.kind {
            figment::error::Kind::UnknownField(name, expected) => {
                let key = if path.is_empty() || path.ends_with(name.as_str()) {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let nearest = expected
                    .iter()
                    .map(|known| (strsim::jaro_winkler(known, name), *known))
                    .max_by(|a, b| a.0.total_cmp(&b.0))
                    .filter(|(likeness, _)| *likeness > 0.6);
                match nearest {
                    Some((_, known)) => format!("{place}there is no setting '{key}'; did you mean '{known}'?"),
                    None => format!("{place}there is no setting '{key}'; there are {}", expected.join(", ")),
                }
            }
            kind if path.is_empty() => format!("{place}{kind}"),
            kind => format!("{place}{path}: {kind}"),
        });
    }
    anyhow::anyhow!("the configuration is wrong: {}", lines.join("; "))
}

fn read_secret(key: &str, file: &Path) -> Result<Secret> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{key}: {} cannot be read", file.display()))?;
    Ok(Secret(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn split(text: &str) -> Vec<String> {
    text.split([';', ',']).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A list, or one text separated by `;` or `,`, as environment variables give it.
fn list<'de, D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => split(&text),
        OneOrMany::Many(list) => list,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Write;

    use super::{Config, ConfigArgs, Secret};

    fn load(toml: &str) -> anyhow::Result<Config> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(toml.as_bytes()).unwrap();
        let args = ConfigArgs { config: Some(file.path().to_owned()), ..ConfigArgs::default() };
        Config::read(&args, figment::Figment::new())
    }

    #[test]
    fn a_whole_file_is_read() {
        let config = load(
            r#"
            bind = "127.0.0.1:9000"
            database = "postgres://millrace:secret@127.0.0.1/millrace"
            [ingest]
            keep_hours = 24
            [telemetry]
            otlp_endpoint = "http://127.0.0.1:4318"
            [clusters.shop]
            name_servers = "127.0.0.1:9876;127.0.0.1:9877"
            trace_topics = ["shop_trace"]
            read_only = true
            "#,
        )
        .unwrap();
        assert_eq!(config.bind.port(), 9000);
        assert_eq!(config.ingest.keep_hours, 24);
        let shop = config.clusters.get("shop").unwrap();
        assert_eq!(shop.name_servers, ["127.0.0.1:9876", "127.0.0.1:9877"]);
        assert!(shop.read_only);
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_right_one() {
        let error = load("bnd = \"127.0.0.1:9000\"").unwrap_err().to_string();
        assert!(error.contains("there is no setting 'bnd'; did you mean 'bind'?"), "{error}");
        let error = load("[clusters.shop]\nname_server = \"127.0.0.1:9876\"").unwrap_err().to_string();
        assert!(error.contains("did you mean 'name_servers'?"), "{error}");
    }

    #[test]
    fn listening_beyond_loopback_is_refused() {
        let error = load("bind = \"0.0.0.0:8700\"").unwrap_err().to_string();
        assert!(error.contains("no sign-in"), "{error}");
    }

    #[test]
    fn a_cluster_needs_addresses_with_ports() {
        for (toml, says) in [
            ("[clusters.shop]", "name_servers is empty"),
            ("[clusters.shop]\nname_servers = [\"127.0.0.1\"]", "is not host:port"),
            ("[clusters.\"a b\"]\nname_servers = [\"127.0.0.1:9876\"]", "part of URLs"),
            ("[clusters.shop]\nname_servers = [\"h:1\"]\naccess_key = \"a\"", "go together"),
        ] {
            let error = load(toml).unwrap_err().to_string();
            assert!(error.contains(says), "{toml}: {error}");
        }
    }

    #[test]
    fn secrets_come_from_files_and_are_never_shown() {
        let mut secret = tempfile::NamedTempFile::new().unwrap();
        secret.write_all(b"hush-hush\n").unwrap();
        let config = load(&format!(
            "[clusters.shop]\nname_servers = [\"h:1\"]\naccess_key = \"a\"\nsecret_key_file = {:?}",
            secret.path()
        ))
        .unwrap();
        assert_eq!(config.clusters.get("shop").unwrap().secret_key, Some(Secret("hush-hush".to_owned())));
        assert!(!format!("{config:?}").contains("hush"));
    }
}
