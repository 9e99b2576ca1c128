//! The port's reading, tailing and writing sides over the remoting protocol, one module a subject.

mod forward;
mod groups;
mod messages;
mod read;
mod runtime;
mod tail;
mod topics;
mod topology;
mod write;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millrace_broker::Result;
use millrace_core::time::Millis;

use crate::remoting::{Pool, Reply, Request};
use crate::settings::ClusterSettings;
use topology::Directory;

#[derive(Debug)]
pub(crate) struct Link {
    pool: Pool,
    directory: Directory,
    /// Version of our subscriptions; brokers take a higher one for a change of mind.
    subscribed_at: Millis,
}

impl Link {
    pub(crate) fn new(settings: &ClusterSettings) -> Self {
        Self {
            pool: Pool::new(settings.credentials.clone(), settings.timeouts),
            directory: Directory::new(settings.name_servers.clone()),
            subscribed_at: now(),
        }
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// Asks the broker of that name at its master.
    async fn ask(&self, broker: &str, request: &Request) -> Result<Reply> {
        let address = self.address_of(broker).await?;
        self.heed(self.pool.call(&address, request).await)
    }

    async fn ask_within(&self, broker: &str, request: &Request, deadline: Duration) -> Result<Reply> {
        let address = self.address_of(broker).await?;
        self.heed(self.pool.call_within(&address, request, deadline).await)
    }

    /// A broker that cannot be reached may have moved: the next call asks the name servers again.
    fn heed(&self, outcome: Result<Reply>) -> Result<Reply> {
        if outcome.as_ref().is_err_and(millrace_broker::BrokerError::transient) {
            self.directory.doubt();
        }
        outcome
    }
}

/// The system's clock, read where an answer is timed.
fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
