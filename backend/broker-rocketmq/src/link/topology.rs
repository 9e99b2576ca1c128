//! Name servers, brokers and routes.
//!
//! Invariant: the broker table is asked for at most once at a time, and one that is doubted or old is asked for again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millrace_broker::{Broker, BrokerError, Perm, QueueRoute, Replica, Result, TopicRoute, Topology};

use super::Link;
use crate::json::Json;
use crate::remoting::{Reply, Request, RequestCode};

/// Addresses change when a broker fails over; brokers themselves tell the name servers every 30 s.
const FRESH: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Directory {
    name_servers: Vec<String>,
    /// The one that answered last.
    preferred: AtomicUsize,
    known: Mutex<Option<(Instant, Arc<Topology>)>>,
    asking: tokio::sync::Mutex<()>,
}

impl Directory {
    pub(super) fn new(name_servers: Vec<String>) -> Self {
        Self {
            name_servers,
            preferred: AtomicUsize::new(0),
            known: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Instant, Arc<Topology>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> Option<Arc<Topology>> {
        self.lock().as_ref().filter(|(asked, _)| asked.elapsed() < FRESH).map(|(_, topology)| Arc::clone(topology))
    }

    fn last(&self) -> Option<Arc<Topology>> {
        self.lock().as_ref().map(|(_, topology)| Arc::clone(topology))
    }

    fn learn(&self, topology: Topology) -> Arc<Topology> {
        let topology = Arc::new(topology);
        *self.lock() = Some((Instant::now(), Arc::clone(&topology)));
        topology
    }

    /// The table stays as a last resort, but is asked for again first.
    pub(super) fn doubt(&self) {
        if let Some((asked, _)) = self.lock().as_mut() {
            *asked = asked.checked_sub(FRESH).unwrap_or(*asked);
        }
    }

    /// All name servers, the one that answered last first.
    fn in_turn(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.preferred.load(Ordering::Relaxed);
        let names = self.name_servers.iter().enumerate();
        let (before, after): (Vec<_>, Vec<_>) = names.partition(|(index, _)| *index < first);
        after.into_iter().chain(before).map(|(index, name)| (index, name.as_str()))
    }
}

impl Link {
    /// Asks the name servers one after another until one answers.
    async fn ask_name_servers(&self, request: &Request) -> Result<Reply> {
        let mut whys = Vec::new();
        for (index, name_server) in self.directory.in_turn() {
            match self.pool.call(name_server, request).await {
                Ok(reply) => {
                    self.directory.preferred.store(index, Ordering::Relaxed);
                    return Ok(reply);
                }
                Err(error) => whys.push(error.to_string()),
            }
        }
        let none = whys.is_empty().then(|| "none is configured".to_owned());
        Err(BrokerError::NoNameServer(none.unwrap_or_else(|| whys.join("; "))))
    }

    /// The name servers' table, asked for now.
    pub(super) async fn ask_topology(&self) -> Result<Topology> {
        let reply = self.ask_name_servers(&Request::new(RequestCode::BrokerClusterInfo)).await?;
        let reply = reply.success(|| "the broker table".to_owned())?;
        let topology = read_topology(&reply.json()?);
        self.directory.learn(topology.clone());
        Ok(topology)
    }

    pub(super) async fn known_topology(&self) -> Result<Arc<Topology>> {
        if let Some(topology) = self.directory.fresh() {
            return Ok(topology);
        }
        let _turn = self.directory.asking.lock().await;
        if let Some(topology) = self.directory.fresh() {
            return Ok(topology);
        }
        match self.ask_topology().await {
            Ok(topology) => Ok(Arc::new(topology)),
            // Brokers answer without name servers: a table that was right is better than none.
            Err(error) => self.directory.last().ok_or(error),
        }
    }

    /// The address of the broker of that name: its master's, where there is one.
    pub(super) async fn address_of(&self, broker: &str) -> Result<String> {
        let topology = self.known_topology().await?;
        let known = topology.brokers.iter().find(|known| known.name == broker);
        let address = known.and_then(Broker::address).map(str::to_owned);
        address.ok_or_else(|| BrokerError::NoSuchBroker(broker.to_owned()))
    }

    pub(super) async fn ask_name_server_states(&self) -> Vec<(String, Result<()>)> {
        let ask = |name_server: String| async move {
            let answer = self.pool.call(&name_server, &Request::new(RequestCode::BrokerClusterInfo)).await;
            let answer = answer.and_then(|reply| reply.success(|| "the broker table".to_owned())).map(drop);
            (name_server, answer)
        };
        futures::future::join_all(self.directory.name_servers.iter().cloned().map(ask)).await
    }

    pub(super) async fn reach(&self, address: &str) -> Result<()> {
        let topology = self.known_topology().await?;
        let mut replicas = topology.brokers.iter().flat_map(|broker| &broker.replicas);
        let known = replicas.any(|replica| replica.address == address)
            || self.directory.name_servers.iter().any(|name_server| name_server == address);
        if !known {
            return Err(BrokerError::Invalid(format!("{address} is no address of this cluster")));
        }
        self.pool.reach(address).await
    }

    pub(super) async fn ask_route(&self, topic: &str) -> Result<TopicRoute> {
        let request =
            Request::new(RequestCode::RouteInfoByTopic).field("topic", topic).field("acceptStandardJsonOnly", true);
        let reply = self.ask_name_servers(&request).await?.success(|| format!("topic {topic}"))?;
        let json = reply.json()?;
        let brokers = json.get("brokerDatas").map(Json::items).unwrap_or_default();
        let queues = json.get("queueDatas").map(Json::items).unwrap_or_default();
        let queues = queues.iter().filter_map(|data| {
            Some(QueueRoute {
                broker: data.text_of("brokerName")?,
                read_queues: data.number_of("readQueueNums")?,
                write_queues: data.number_of("writeQueueNums")?,
                perm: Perm(data.number_of("perm")?),
            })
        });
        Ok(TopicRoute { queues: queues.collect(), brokers: brokers.iter().filter_map(read_broker).collect() })
    }

    pub(super) async fn forget_route(&self, name_server: &str, topic: &str) -> Result<()> {
        if !self.directory.name_servers.iter().any(|known| known == name_server) {
            return Err(BrokerError::Invalid(format!("{name_server} is no name server of this cluster")));
        }
        let request = Request::new(RequestCode::DeleteTopicInNameServer).field("topic", topic);
        self.pool.call(name_server, &request).await?.success(|| format!("topic {topic}")).map(drop)
    }
}

fn read_topology(json: &Json) -> Topology {
    let table = json.get("brokerAddrTable").map(Json::entries).unwrap_or_default();
    let mut brokers: Vec<Broker> = table.iter().filter_map(|(_, data)| read_broker(data)).collect();
    brokers.sort_by(|a, b| a.name.cmp(&b.name));
    Topology { brokers }
}

fn read_broker(data: &Json) -> Option<Broker> {
    let addresses = data.get("brokerAddrs")?.entries().iter();
    let addresses =
        addresses.filter_map(|(id, address)| Some(Replica { id: id.integer()?, address: address.text()?.to_owned() }));
    let mut replicas: Vec<Replica> = addresses.collect();
    replicas.sort_by_key(|replica| replica.id);
    Some(Broker { name: data.text_of("brokerName")?, cluster: data.text_of("cluster").unwrap_or_default(), replicas })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Directory, read_topology};
    use crate::json::Json;

    #[test]
    fn brokers_have_their_replicas_in_order() {
        let table = br#"{"brokerAddrTable":{"broker-b":{"brokerAddrs":{1:"192.0.2.2:10931",0:"192.0.2.2:10911"},
            "brokerName":"broker-b","cluster":"Shop"},"broker-a":{"brokerAddrs":{"2":"192.0.2.1:10931"},
            "brokerName":"broker-a","cluster":"Shop"}},"clusterAddrTable":{"Shop":["broker-a","broker-b"]}}"#;
        let topology = read_topology(&Json::parse(table).unwrap());
        let addresses: Vec<_> =
            topology.brokers.iter().map(|broker| (broker.name.as_str(), broker.address().unwrap())).collect();
        assert_eq!(addresses, [("broker-a", "192.0.2.1:10931"), ("broker-b", "192.0.2.2:10911")]);
    }

    #[test]
    fn the_name_server_that_answered_is_asked_first() {
        let directory = Directory::new(["a:1", "b:1", "c:1"].map(str::to_owned).to_vec());
        directory.preferred.store(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(directory.in_turn().collect::<Vec<_>>(), [(1, "b:1"), (2, "c:1"), (0, "a:1")]);
    }
}
