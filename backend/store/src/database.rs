//! Which database, and what is kept in it. Invariant: a password is in no error and no `Debug`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;

use crate::traces::{Segments, Traces};
use crate::{MetaStore, Result, SegmentRules, StoreError, TraceStore, postgres, sqlite};

/// Where everything is kept: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
#[derive(Clone)]
pub enum DatabaseUrl {
    /// The metadata file. Traces go to the folder `traces` beside it.
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let refuse =
            |why: &str| Err(StoreError::Open { what: format!("URL with scheme {}", scheme(text)), why: why.into() });
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => refuse("it names no file: write sqlite:FOLDER/millrace.db"),
                _ if path.contains('?') => {
                    refuse("options after ? are not known here: write sqlite:FOLDER/millrace.db")
                }
                _ if path.ends_with('/') => Ok(Self::Sqlite(Path::new(path).join("millrace.db"))),
                _ => Ok(Self::Sqlite(path.into())),
            };
        }
        if text.starts_with("postgres:") || text.starts_with("postgresql:") {
            return match PgConnectOptions::from_str(text) {
                Ok(options) => Ok(Self::Postgres(Box::new(options.application_name("millrace")))),
                Err(_) => refuse("it is no PostgreSQL URL: write postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
            };
        }
        refuse("write sqlite:FOLDER/millrace.db or postgres://USER:PASSWORD@HOST:PORT/DATABASE")
    }
}

/// What stands before the first `:`, where it can be no part of a secret.
fn scheme(text: &str) -> &str {
    match text.split_once(':') {
        Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) && scheme.len() <= 12 => scheme,
        _ => "(none)",
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(options) => write!(
                f,
                "postgres://{}@{}:{}/{}",
                options.get_username(),
                options.get_host(),
                options.get_port(),
                options.get_database().unwrap_or(options.get_username())
            ),
        }
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// An open database: the metadata and the traces of each cluster.
#[derive(Debug)]
pub struct Stores {
    engine: Engine,
    traces: tokio::sync::Mutex<BTreeMap<String, Arc<Traces>>>,
}

#[derive(Debug)]
enum Engine {
    Sqlite(Arc<sqlite::Database>),
    Postgres(Arc<postgres::Database>),
}

impl Stores {
    /// Opens the database and brings its tables up to date. A folder of SQLite files has one program at a time.
    /// Errors: `Locked`, `Newer`, `Open`, `Damaged`.
    pub async fn open(url: &DatabaseUrl) -> Result<Self> {
        let engine = match url {
            DatabaseUrl::Sqlite(path) => Engine::Sqlite(Arc::new(sqlite::Database::open(path).await?)),
            DatabaseUrl::Postgres(options) => {
                Engine::Postgres(Arc::new(postgres::Database::open(options, url.to_string()).await?))
            }
        };
        Ok(Self { engine, traces: tokio::sync::Mutex::default() })
    }

    pub fn meta(&self) -> Arc<dyn MetaStore> {
        match &self.engine {
            Engine::Sqlite(database) => Arc::clone(database) as Arc<dyn MetaStore>,
            Engine::Postgres(database) => Arc::clone(database) as Arc<dyn MetaStore>,
        }
    }

    /// The traces of a cluster, by its name in the configuration. The same store each time; the first `rules` count.
    pub async fn traces(&self, cluster: &str, rules: SegmentRules) -> Result<Arc<dyn TraceStore>> {
        let mut open = self.traces.lock().await;
        if let Some(traces) = open.get(cluster) {
            return Ok(Arc::clone(traces) as Arc<dyn TraceStore>);
        }
        let segments: Arc<dyn Segments> = match &self.engine {
            Engine::Sqlite(database) => Arc::new(sqlite::Files::open(Arc::clone(database), cluster, rules).await?),
            Engine::Postgres(database) => Arc::new(postgres::Tables::new(Arc::clone(database), cluster, rules)),
        };
        let traces = Arc::new(Traces::open(segments).await?);
        open.insert(cluster.into(), Arc::clone(&traces));
        Ok(traces)
    }

    /// Stops work in the background, writes what is in memory to the files and closes them.
    pub async fn close(&self) {
        let traces = std::mem::take(&mut *self.traces.lock().await);
        for traces in traces.into_values() {
            traces.close().await;
        }
        match &self.engine {
            Engine::Sqlite(database) => database.close().await,
            Engine::Postgres(database) => database.close().await,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::DatabaseUrl;

    #[test]
    fn a_password_is_never_shown() {
        let url: DatabaseUrl = "postgres://shop:s3cret@192.0.2.7:5433/traces".parse().unwrap();
        assert_eq!(format!("{url:?}"), "postgres://shop@192.0.2.7:5433/traces");
        for bad in ["postgres://shop:s3cret@[bad/traces", "mysql://shop:s3cret@192.0.2.7/x", "shop:s3cret@192.0.2.7"] {
            let error = bad.parse::<DatabaseUrl>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn a_folder_gets_a_file() {
        for (text, shown) in [("sqlite:data/", "sqlite:data/millrace.db"), ("sqlite:///v/m.db", "sqlite:/v/m.db")] {
            assert_eq!(text.parse::<DatabaseUrl>().unwrap().to_string(), shown);
        }
        assert!("sqlite:".parse::<DatabaseUrl>().is_err());
    }
}
