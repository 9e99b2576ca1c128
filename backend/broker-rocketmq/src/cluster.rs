//! One cluster's handles on one set of connections.

use futures::future::LocalBoxFuture;
use std::sync::Arc;

use millrace_broker::Cluster;

use crate::client::{ClientTarget, Clients, Sender};
use crate::link::Link;
use crate::settings::ClusterSettings;

/// A cluster as the adapter holds it. Nothing is dialled before the first call, and every call dials anew what is not
/// connected: a cluster that is down at the start is there as soon as it answers.
#[derive(Debug)]
pub struct RocketMq {
    cluster: Cluster,
    link: Arc<Link>,
    sender: Option<Arc<Sender>>,
}

impl RocketMq {
    /// `clients` is shared by all clusters of the process. One handle is one member of a consumer group: brokers keep
    /// one member a connection.
    pub fn connect(settings: &ClusterSettings, clients: &Clients) -> Self {
        let (name, read_only) = (settings.name.clone(), settings.read_only);
        let link = Arc::new(Link::new(settings));
        let target = ClientTarget::from(settings);
        let sender = (!read_only).then(|| Arc::new(Sender::new(clients.clone(), target, link.clone())));
        let cluster = Cluster {
            name,
            read: link.clone(),
            tail: link.clone(),
            write: (!read_only).then(|| link.clone() as _),
            send: sender.clone().map(|sender| sender as _),
        };
        Self { cluster, link, sender }
    }

    pub fn cluster(&self) -> Cluster {
        self.cluster.clone()
    }

    /// Ends the producer and every connection; calls after it fail. Members that did not leave their groups are
    /// dropped by the brokers as their connections close.
    pub fn shutdown(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(self.end())
    }

    async fn end(&self) {
        if let Some(sender) = &self.sender {
            sender.shutdown().await;
        }
        self.link.close().await;
    }
}
