//! What the pages stand on: the clusters with their handles, the clock and the store of what people did.
//! One invariant: handlers reach the outside world only through an [`App`].

use std::sync::Arc;

use millrace_broker::Cluster;
use millrace_console::Console;
use millrace_core::time::Clock;
use millrace_store::{MetaStore, TraceStore};
use millrace_tracker::ingest::IngestState;
use millrace_tracker::record::RecordFinder;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Event streams that are served at once; each holds a connection and re-renders on every change.
const MAX_STREAMS: usize = 200;

/// One cluster as the pages see it.
#[derive(Debug)]
pub struct ClusterView {
    /// The name in addresses and in the configuration.
    pub name: String,
    pub cluster: Cluster,
    pub traces: Arc<dyn TraceStore>,
    pub console: Arc<Console>,
    pub ingest: Arc<IngestState>,
    pub records: Arc<RecordFinder>,
}

#[derive(Debug)]
pub struct App {
    /// In the order of the configuration.
    clusters: Vec<Arc<ClusterView>>,
    pub clock: Arc<dyn Clock>,
    pub meta: Arc<dyn MetaStore>,
    /// Host names by which the site may be asked, besides those of loopback.
    pub(crate) hosts: Vec<String>,
    pub(crate) streams: Arc<Semaphore>,
    /// Ends the event streams, so that a shutdown need not wait for browsers.
    pub(crate) stop: CancellationToken,
}

impl App {
    pub fn builder(clock: Arc<dyn Clock>, meta: Arc<dyn MetaStore>) -> AppBuilder {
        AppBuilder {
            app: Self {
                clusters: Vec::new(),
                clock,
                meta,
                hosts: Vec::new(),
                streams: Arc::new(Semaphore::new(MAX_STREAMS)),
                stop: CancellationToken::new(),
            },
        }
    }

    pub fn clusters(&self) -> &[Arc<ClusterView>] {
        &self.clusters
    }

    pub fn cluster(&self, name: &str) -> Option<&Arc<ClusterView>> {
        self.clusters.iter().find(|cluster| cluster.name == name)
    }
}

/// Puts an [`App`] together.
#[derive(Debug)]
pub struct AppBuilder {
    app: App,
}

impl AppBuilder {
    #[must_use]
    pub fn cluster(mut self, cluster: ClusterView) -> Self {
        self.app.clusters.push(Arc::new(cluster));
        self
    }

    /// A host name of the site besides `localhost`, `127.0.0.1` and `[::1]`, without a port.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.app.hosts.push(name.into().to_ascii_lowercase());
        self
    }

    /// Ends the event streams when the program stops.
    #[must_use]
    pub fn stop(mut self, stop: CancellationToken) -> Self {
        self.app.stop = stop;
        self
    }

    /// At most this many event streams at once.
    #[must_use]
    pub fn max_streams(mut self, streams: usize) -> Self {
        self.app.streams = Arc::new(Semaphore::new(streams));
        self
    }

    pub fn build(self) -> Arc<App> {
        Arc::new(self.app)
    }
}
