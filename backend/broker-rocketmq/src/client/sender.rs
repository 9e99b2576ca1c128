//! The port's sending side: one producer a cluster, started by the first message.

use std::sync::Arc;

use async_trait::async_trait;
use millrace_broker::{BrokerError, BrokerRead as _, BrokerSend, MessageToForward, MessageToSend, Result, SendReceipt};
use tokio::sync::Mutex;

use super::{ClientTarget, Clients, TracedProducer};
use crate::link::Link;
use crate::settings::CONSOLE_GROUP;

#[derive(Debug)]
pub struct Sender {
    clients: Clients,
    target: ClientTarget,
    /// Says why a send failed where the client does not, and stores what is forwarded.
    link: Arc<Link>,
    producer: Mutex<Option<Arc<TracedProducer>>>,
}

impl Sender {
    pub(crate) fn new(clients: Clients, target: ClientTarget, link: Arc<Link>) -> Self {
        Self { clients, target, link, producer: Mutex::default() }
    }

    /// Started once; a start that fails is tried again by the next message.
    async fn producer(&self) -> Result<Arc<TracedProducer>> {
        let mut producer = self.producer.lock().await;
        if let Some(producer) = producer.as_ref() {
            return Ok(Arc::clone(producer));
        }
        let started = TracedProducer::start(&self.clients, &self.target, CONSOLE_GROUP).await?;
        Ok(Arc::clone(producer.insert(Arc::new(started))))
    }

    pub(crate) async fn shutdown(&self) {
        let producer = self.producer.lock().await.take();
        if let Some(producer) = producer.and_then(Arc::into_inner) {
            producer.shutdown().await;
        }
    }
}

#[async_trait]
impl BrokerSend for Sender {
    async fn send(&self, message: MessageToSend) -> Result<SendReceipt> {
        // The client tells neither a missing topic from a missing name server nor either from a slow broker.
        let route = self.link.route(&message.topic).await?;
        if !route.queues.iter().any(|queue| queue.perm.writable() && queue.write_queues > 0) {
            return Err(BrokerError::Invalid(format!("topic {} has no queue that can be written", message.topic)));
        }
        if let Some((broker, number)) = &message.queue {
            let there = route.queues.iter().any(|queue| {
                queue.broker == *broker
                    && queue.perm.writable()
                    && u32::try_from(*number).is_ok_and(|n| n < queue.write_queues)
            });
            if !there {
                return Err(BrokerError::NotFound(format!(
                    "a writable queue {number} of {} at {broker}",
                    message.topic
                )));
            }
        }
        self.producer().await?.send_message(message).await
    }

    async fn forward(&self, broker: &str, message: MessageToForward) -> Result<SendReceipt> {
        self.link.store_again(broker, message).await
    }
}
