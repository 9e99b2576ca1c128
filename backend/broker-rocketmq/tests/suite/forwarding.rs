//! Storing a message once more, as it is.

use millrace_broker::{BrokerError, Cluster, MessageToForward, StoreStatus};
use millrace_core::name::QueueRef;

use super::{EVER, indexed, unique, until};

/// A message goes to the group's retry topic as it is: the same id, keys and properties, one more among them.
pub(super) async fn run(cluster: &Cluster, broker: &str, queue: &QueueRef, group: &str) {
    let (read, send) = (&cluster.read, cluster.send.as_ref().unwrap());
    let original = read.pull(queue, 0, 1).await.unwrap().messages.remove(0);
    let added = ("millrace_resent".to_owned(), "attempt-1".to_owned());
    let message = MessageToForward {
        topic: format!("%RETRY%{group}"),
        flag: original.flag,
        properties: original.properties.iter().cloned().chain([added.clone()]).collect(),
        body: original.body.bytes.clone(),
    };
    let receipt = send.forward(broker, message.clone()).await.unwrap();
    assert_eq!((receipt.status, Some(&receipt.message_id)), (StoreStatus::Ok, original.uniq_id.as_ref()));
    // The embedded broker takes every group for one that reads in order, and moves what comes to its retry topic to its
    // dead letters (rocketmq-broker 1.0.0, `handle_retry_and_dlq`): it answers as if it had not.
    let place = if broker.starts_with("embedded") {
        QueueRef { topic: format!("%DLQ%{group}"), ..receipt.queue.clone() }
    } else {
        receipt.queue.clone()
    };
    let at = async || read.pull(&place, receipt.offset, 1).await.map(|batch| batch.messages.into_iter().next());
    until("it is in the queue", async || at().await.is_ok_and(|found| found.is_some())).await;
    let stored = at().await.unwrap().unwrap();
    assert_eq!((&stored.uniq_id, &stored.body, stored.reconsume_times), (&original.uniq_id, &original.body, 0));
    for property in original.properties.iter().filter(|(name, _)| name != "CLUSTER").chain([&added]) {
        assert!(stored.properties.contains(property), "{property:?} is not in {:?}", stored.properties);
    }
    until("its id is in the index", async || {
        let id = original.uniq_id.as_deref().unwrap();
        let found = indexed(async || read.messages_by_uniq_id(broker, &place.topic, id, EVER.0, EVER.1).await).await;
        found.iter().any(|found| found.property("millrace_resent") == Some("attempt-1"))
    })
    .await;
    let elsewhere = MessageToForward { topic: unique("absent"), ..message };
    let refused = send.forward(broker, elsewhere).await;
    assert!(refused.as_ref().is_err_and(BrokerError::refused), "{refused:?}");
}
