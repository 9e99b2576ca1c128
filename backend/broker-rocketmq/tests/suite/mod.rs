//! The calls themselves, the same for every broker.

mod forwarding;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use millrace_broker::{
    BrokerError, Cluster, GroupConfig, Message, MessageToSend, MessageType, Perm, StoreStatus, TopicConfig,
};
use millrace_broker_rocketmq::client::{
    ClientTarget, Clients, Consumed, Listener, PushConsumer, Subscription, TracedProducer,
};
use millrace_broker_rocketmq::{ClusterSettings, RocketMq};
use millrace_core::name::{QueueRef, TRACE_TOPIC};
use millrace_core::time::Millis;

const EVER: (Millis, Millis) = (Millis(0), Millis(i64::MAX / 2));
const KEPT_TOPIC: &str = "millrace_suite_kept";

pub(crate) fn settings(name_server: &str) -> ClusterSettings {
    ClusterSettings::new("suite", [name_server])
}

fn now() -> Millis {
    Millis(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap())
}

/// Names of this run: a Java broker keeps what earlier runs left.
fn unique(name: &str) -> String {
    format!("millrace_suite_{name}_{}_{}", std::process::id(), now().0 % 1_000_000_000)
}

/// Asks again until it is so; brokers index, register and rebalance in their own time.
pub(crate) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !so().await {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What a look-up by key or id answers: while its index catches up, the embedded broker refuses.
async fn indexed<T>(mut ask: impl AsyncFnMut() -> Result<T, BrokerError>) -> T {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => assert!(Instant::now() < deadline, "no answer from the index: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn topic_config(name: &str, queues: u32, message_type: MessageType) -> TopicConfig {
    TopicConfig {
        name: name.to_owned(),
        read_queues: queues,
        write_queues: queues,
        perm: Perm::READ_WRITE,
        message_type,
        order: false,
        attributes: std::collections::BTreeMap::new(),
    }
}

fn to_send(topic: &str, key: &str, queue: Option<(&str, i32)>) -> MessageToSend {
    MessageToSend {
        topic: topic.to_owned(),
        tags: Some("paid".to_owned()),
        keys: vec![key.to_owned(), "batch-1".to_owned()],
        properties: vec![("tenant".to_owned(), "north".to_owned())],
        body: format!("{{\"key\":\"{key}\"}}").into(),
        queue: queue.map(|(broker, number)| (broker.to_owned(), number)),
    }
}

pub(crate) async fn run(clients: &Clients, name_server: &str) {
    let rocketmq = RocketMq::connect(&settings(name_server), clients);
    let cluster = rocketmq.cluster();
    let broker = brokers(&cluster, name_server).await;
    let topic = unique("orders");
    topics(&cluster, &broker, &topic).await;
    messages(&cluster, &broker, &topic).await;
    offsets_by_time(&cluster, &broker, &topic).await;
    membership(&cluster, clients, name_server, &broker, &topic).await;
    group_figures(&cluster, &broker, &topic).await;
    groups(&cluster, &broker, &topic).await;
    refusals(&cluster, &broker).await;
    deletion(&cluster, &broker, &topic, name_server).await;
    rocketmq.shutdown().await;
    assert!(cluster.read.topics(&broker).await.is_err(), "a handle works after its shutdown");
}

async fn brokers(cluster: &Cluster, name_server: &str) -> String {
    until("a broker is registered", async || cluster.read.topology().await.is_ok_and(|t| !t.brokers.is_empty())).await;
    let topology = cluster.read.topology().await.unwrap();
    let broker = topology.brokers.first().unwrap();
    let address = broker.address().unwrap();
    assert!(address.starts_with("127.0.0.1:") && !broker.cluster.is_empty(), "{broker:?}");
    cluster.read.reachable(address).await.unwrap();
    let foreign = cluster.read.reachable("192.0.2.1:80").await;
    assert!(matches!(foreign, Err(BrokerError::Invalid(_))), "{foreign:?}");
    let states = cluster.read.name_servers().await;
    assert!(states.iter().all(|(name, answer)| name == name_server && answer.is_ok()), "{states:?}");

    let runtime = cluster.read.runtime(&broker.name).await.unwrap();
    assert!(runtime.version.as_deref().is_some_and(|version| version.starts_with('V')), "{runtime:?}");
    assert!(runtime.boot.is_some_and(|boot| boot <= now()), "{runtime:?}");
    assert!(runtime.put_per_second.is_some() && runtime.disk_used.is_some(), "{runtime:?}");
    assert!(runtime.clock_offset_ms.is_some_and(|offset| offset.abs() <= 1_500), "{runtime:?}");
    let config = cluster.read.config(&broker.name).await.unwrap();
    assert!(config.len() > 20, "{config:?}");
    assert_eq!(config.get("brokerName"), Some(&broker.name));
    broker.name.clone()
}

async fn topics(cluster: &Cluster, broker: &str, topic: &str) {
    let write = cluster.write.as_ref().unwrap();
    let read = &cluster.read;
    assert!(matches!(read.route(topic).await, Err(BrokerError::NotFound(_))));
    write.put_topic(broker, &topic_config(topic, 3, MessageType::Normal)).await.unwrap();
    until("the route is known", async || read.route(topic).await.is_ok()).await;
    let route = read.route(topic).await.unwrap();
    let queues = route.queues.iter().find(|queue| queue.broker == broker).unwrap();
    assert_eq!((queues.read_queues, queues.write_queues, queues.perm), (3, 3, Perm::READ_WRITE));
    assert!(route.brokers.iter().any(|known| known.name == broker && known.address().is_some()));

    let find = async || read.topics(broker).await.unwrap().into_iter().find(|config| config.name == topic);
    let config = find().await.unwrap();
    assert_eq!((config.read_queues, config.message_type), (3, MessageType::Normal));
    assert!(read.topics(broker).await.unwrap().iter().any(|config| config.name == TRACE_TOPIC));

    // Twice the same is no error, and a change keeps what it does not name.
    write.put_topic(broker, &config).await.unwrap();
    write.put_topic(broker, &TopicConfig { read_queues: 4, write_queues: 4, ..config.clone() }).await.unwrap();
    let config = find().await.unwrap();
    assert_eq!((config.read_queues, config.message_type), (4, MessageType::Normal));

    let stats = read.topic_stats(broker, topic).await.unwrap();
    assert_eq!(stats.len(), 4, "{stats:?}");
    assert!(stats.iter().all(|stats| (stats.min, stats.max, stats.last_update) == (0, 0, None)), "{stats:?}");
}

async fn messages(cluster: &Cluster, broker: &str, topic: &str) {
    let send = cluster.send.as_ref().unwrap();
    let read = &cluster.read;
    let receipt = send.send(to_send(topic, "order-17", Some((broker, 2)))).await.unwrap();
    assert_eq!((receipt.status, receipt.queue.queue, receipt.offset), (StoreStatus::Ok, 2, 0));
    assert_eq!((receipt.queue.broker.as_str(), receipt.queue.topic.as_str()), (broker, topic));
    let offset_id = receipt.offset_id.clone().unwrap();
    let queue = receipt.queue.clone();

    let batch = read.pull(&queue, 0, 32).await.unwrap();
    let message = batch.messages.first().unwrap();
    assert_eq!((batch.messages.len(), batch.next, batch.min, batch.max), (1, 1, 0, 1));
    assert_eq!((message.uniq_id.as_deref(), &message.offset_id), (Some(receipt.message_id.as_str()), &offset_id));
    assert_eq!(message.keys().collect::<Vec<_>>(), ["order-17", "batch-1"]);
    assert_eq!((message.tags(), message.property("tenant")), (Some("paid"), Some("north")));
    assert_eq!(&message.body.bytes[..], br#"{"key":"order-17"}"#);
    assert!(message.stored.since(now()).abs() < 60_000 && message.born.since(now()).abs() < 60_000);
    assert_eq!(read.message_at(broker, message.commit_log_offset).await.unwrap(), *message);
    let inside = read.message_at(broker, message.commit_log_offset + 3).await;
    assert!(inside.is_err(), "{inside:?}");
    assert_eq!(read.bounds(&queue).await.unwrap(), (0, 1));
    let empty = read.pull(&queue, 1, 32).await.unwrap();
    assert_eq!((empty.messages.len(), empty.next), (0, 1));

    until("the key is in the index", async || {
        !indexed(async || read.messages_by_key(broker, topic, "order-17", EVER.0, EVER.1).await)
            .await
            .messages
            .is_empty()
    })
    .await;
    let found = indexed(async || read.messages_by_key(broker, topic, "batch-1", EVER.0, EVER.1).await).await.messages;
    assert_eq!(found.as_slice(), std::slice::from_ref(message));
    let found =
        indexed(async || read.messages_by_uniq_id(broker, topic, &receipt.message_id, EVER.0, EVER.1).await).await;
    assert_eq!(found.as_slice(), std::slice::from_ref(message));
    for absent in ["order-18", "order-17 batch-1 ", "order"] {
        assert!(
            indexed(async || read.messages_by_key(broker, topic, absent, EVER.0, EVER.1).await)
                .await
                .messages
                .is_empty(),
            "{absent}"
        );
    }
    let before = Millis(message.stored.0 - 3_600_000);
    assert!(
        indexed(async || read.messages_by_key(broker, topic, "order-17", EVER.0, before).await)
            .await
            .messages
            .is_empty()
    );

    // More with one key than the broker answers.
    let sends = (0..70).map(|number| {
        let key = format!("order-{}", 100 + number);
        send.send(to_send(topic, &key, Some((broker, number % 2))))
    });
    for outcome in futures::future::join_all(sends).await {
        outcome.unwrap();
    }
    until("all keys are in the index", async || {
        !indexed(async || read.messages_by_key(broker, topic, "order-169", EVER.0, EVER.1).await)
            .await
            .messages
            .is_empty()
    })
    .await;
    let hits = indexed(async || read.messages_by_key(broker, topic, "batch-1", EVER.0, EVER.1).await).await;
    assert!(hits.capped && hits.oldest.is_some(), "it has more than it answers");
    let capped = hits.messages;
    assert_eq!(capped.len(), 64);
    // Its index knows whole seconds: a range that begins at a message's own time has the message.
    let exact = capped.last().unwrap().stored;
    let found = indexed(async || read.messages_by_key(broker, topic, "batch-1", exact, EVER.1).await).await.messages;
    assert!(found.iter().any(|message| message.stored == exact), "from {exact:?}");
    assert!(capped.is_sorted_by(|newer, older| newer.stored >= older.stored));
    let stats = read.topic_stats(broker, topic).await.unwrap();
    assert_eq!(stats.iter().map(|stats| stats.max).collect::<Vec<_>>(), [35, 35, 1, 0]);
    assert!(stats.first().unwrap().last_update.is_some());
    let batch = read.pull(&QueueRef { queue: 0, ..queue.clone() }, 0, 100).await.unwrap();
    assert!(batch.messages.len() <= 32 && i64::try_from(batch.messages.len()).unwrap() == batch.next, "{}", batch.next);
    let big = MessageToSend { body: "a shop ".repeat(10_000).into(), ..to_send(topic, "big", Some((broker, 3))) };
    let receipt = send.send(big.clone()).await.unwrap();
    let stored = read.pull(&receipt.queue, receipt.offset, 1).await.unwrap();
    let stored = stored.messages.first().unwrap();
    assert_eq!((&stored.body.bytes, &stored.body.inflate_error), (&big.body, &None));
    assert!(usize::try_from(stored.store_size).unwrap() < big.body.len(), "it was not compressed");
    keys_of_one_hash(cluster, broker, topic).await;
}

/// The index of a broker goes by a hash: these two keys have the same, and each finds its own message.
async fn keys_of_one_hash(cluster: &Cluster, broker: &str, topic: &str) {
    let keys = ["Aa-1", "BB-1"];
    for key in keys {
        cluster.send.as_ref().unwrap().send(to_send(topic, key, Some((broker, 3)))).await.unwrap();
    }
    for key in keys {
        let found = async || {
            indexed(async || cluster.read.messages_by_key(broker, topic, key, EVER.0, EVER.1).await).await.messages
        };
        until("the key is in the index", async || !found().await.is_empty()).await;
        let found = found().await;
        assert_eq!(found.iter().map(|message| message.keys().next()).collect::<Vec<_>>(), [Some(key)]);
    }
}

async fn offsets_by_time(cluster: &Cluster, broker: &str, topic: &str) {
    let queue = QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: 0 };
    let (mut all, mut next) = (Vec::new(), 0);
    while next < 35 {
        let batch = cluster.read.pull(&queue, next, 32).await.unwrap();
        next = batch.next;
        all.extend(batch.messages);
    }
    let mut times: Vec<Millis> = all.iter().map(|message| message.stored).collect();
    times.push(Millis(0));
    times.extend(all.iter().map(|message| message.stored.plus(1)));
    times.push(now().plus(3_600_000));
    for time in times {
        let expected = all.iter().position(|message| message.stored >= time).unwrap_or(all.len());
        let answer = cluster.read.offset_at(&queue, time).await.unwrap();
        assert_eq!(
            answer,
            i64::try_from(expected).unwrap(),
            "at {time:?} of {:?}",
            all.iter().map(|m| m.stored.0).collect::<Vec<_>>()
        );
    }
}

async fn membership(cluster: &Cluster, clients: &Clients, name_server: &str, broker: &str, topic: &str) {
    let group = unique("ingest");
    let topics = [topic.to_owned()];
    let second = RocketMq::connect(&settings(name_server), clients);
    let other = second.cluster();
    assert!(cluster.tail.members(&group, topic).await.unwrap().is_empty());
    cluster.tail.heartbeat(&group, "worker-1", &topics).await.unwrap();
    other.tail.heartbeat(&group, "worker-2", &topics).await.unwrap();
    assert_eq!(cluster.tail.members(&group, topic).await.unwrap(), ["worker-1", "worker-2"]);
    assert_eq!(other.tail.members(&group, topic).await.unwrap(), ["worker-1", "worker-2"]);
    let online = cluster.read.consumers(broker, &group).await.unwrap();
    assert_eq!(online.clients.iter().map(|c| c.client_id.as_str()).collect::<Vec<_>>(), ["worker-1", "worker-2"]);
    assert_eq!(online.subscriptions.get(topic).map(String::as_str), Some("*"));
    assert_eq!((online.message_model.as_str(), online.consume_type.as_str()), ("CLUSTERING", "CONSUME_PASSIVELY"));
    assert!(cluster.read.groups_of_topic(broker, topic).await.unwrap().contains(&group));
    assert!(cluster.read.groups(broker).await.unwrap().iter().any(|config| config.name == group));

    cluster.tail.leave(&group, "worker-1").await.unwrap();
    assert_eq!(other.tail.members(&group, topic).await.unwrap(), ["worker-2"]);
    // A member whose connection ends is gone too.
    second.shutdown().await;
    until("the member is gone", async || cluster.tail.members(&group, topic).await.unwrap().is_empty()).await;
    let offline = cluster.read.consumers(broker, &group).await;
    assert!(matches!(offline, Err(BrokerError::NotFound(_))), "{offline:?}");

    // Many long pulls at once on one connection, each its own queue; one of them wakes.
    cluster.tail.heartbeat(&group, "worker-1", &topics).await.unwrap();
    let at = |number| QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: number };
    let batch = cluster.tail.tail(&group, &at(0), 0, Duration::from_secs(10)).await.unwrap();
    assert!(!batch.messages.is_empty());
    let began = Instant::now();
    let waiting = futures::future::join_all([(0, 35), (1, 35)].map(|(queue, end)| {
        let queue = at(queue);
        let (tail, group) = (cluster.tail.clone(), group.clone());
        async move { tail.tail(&group, &queue, end, Duration::from_secs(2)).await.unwrap() }
    }));
    let queue = at(2);
    let woken = cluster.tail.tail(&group, &queue, 1, Duration::from_secs(20));
    let sent = cluster.send.as_ref().unwrap().send(to_send(topic, "late", Some((broker, 2))));
    let (waited, woken, sent) = tokio::join!(waiting, woken, sent);
    sent.unwrap();
    assert!(waited.iter().all(|batch| batch.messages.is_empty() && batch.next == 35), "{waited:?}");
    let woken = woken.unwrap();
    assert_eq!(woken.messages.iter().map(|m| m.offset).collect::<Vec<_>>(), [1]);
    assert!(began.elapsed() < Duration::from_secs(15), "nothing woke the long pull");

    assert_eq!(cluster.tail.committed(&group, &queue).await.unwrap(), None);
    cluster.tail.commit(&group, &queue, 2).await.unwrap();
    assert_eq!(cluster.tail.committed(&group, &queue).await.unwrap(), Some(2));
    cluster.tail.leave(&group, "worker-1").await.unwrap();
}

async fn group_figures(cluster: &Cluster, broker: &str, topic: &str) {
    let group = unique("billing");
    let at = |number| QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: number };
    // A connection belongs to one client for the embedded broker: the one that `membership` named.
    cluster.tail.heartbeat(&group, "worker-1", &[topic.to_owned()]).await.unwrap();
    cluster.tail.commit(&group, &at(0), 30).await.unwrap();
    let offsets = cluster.read.group_offsets(broker).await.unwrap();
    let own = offsets.iter().find(|offsets| offsets.group == group && offsets.topic == topic).unwrap();
    assert_eq!(own.offsets.get(&0), Some(&30));
    for asked in [Some(topic), None] {
        let lag = cluster.read.lag(broker, &group, asked).await.unwrap();
        let of_topic: Vec<_> = lag.iter().filter(|lag| lag.queue.topic == topic).collect();
        let first = of_topic.iter().find(|lag| lag.queue.queue == 0).unwrap();
        assert_eq!((first.broker_offset, first.consumer_offset), (35, Some(30)), "{lag:?}");
        let second = of_topic.iter().find(|lag| lag.queue.queue == 1).unwrap();
        assert_eq!((second.broker_offset, second.consumer_offset), (35, None), "{lag:?}");
    }
    cluster.tail.leave(&group, "worker-1").await.unwrap();
}

async fn groups(cluster: &Cluster, broker: &str, topic: &str) {
    let write = cluster.write.as_ref().unwrap();
    let at = |number| QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: number };
    let mut config = GroupConfig {
        name: unique("shipping"),
        consume_enable: true,
        broadcast_enable: false,
        orderly: true,
        retry_queues: 2,
        retry_max_times: 7,
    };
    let group = config.name.clone();
    let kept = async || {
        let groups = cluster.read.groups(broker).await.unwrap();
        groups.into_iter().find(|config| config.name == group)
    };
    write.put_group(broker, &config).await.unwrap();
    assert_eq!(kept().await.as_ref(), Some(&config));
    config.consume_enable = false;
    config.retry_max_times = 4;
    write.put_group(broker, &config).await.unwrap();
    assert_eq!(kept().await.as_ref(), Some(&config));

    // Nobody is online: the broker itself keeps the offset, of this queue alone.
    for offset in [30, 0, 35] {
        write.reset_offset(&group, &at(0), offset).await.unwrap();
        assert_eq!(cluster.tail.committed(&group, &at(0)).await.unwrap(), Some(offset));
    }
    assert_eq!(cluster.tail.committed(&group, &at(1)).await.unwrap(), None);

    forwarding::run(cluster, broker, &at(0), &group).await;

    write.delete_group(broker, &group).await.unwrap();
    assert_eq!(kept().await, None);
    let offsets = cluster.read.group_offsets(broker).await.unwrap();
    assert!(!offsets.iter().any(|offsets| offsets.group == group), "{offsets:?}");
}

async fn refusals(cluster: &Cluster, broker: &str) {
    let read = &cluster.read;
    let absent = unique("absent");
    assert!(matches!(read.topic_stats(broker, &absent).await, Err(BrokerError::NotFound(_))));
    assert!(matches!(read.route(&absent).await, Err(BrokerError::NotFound(_))));
    assert!(matches!(read.topics("no-such-broker").await, Err(BrokerError::NoSuchBroker(_))));
    assert!(matches!(read.message_at(broker, i64::MAX / 2).await, Err(BrokerError::NotFound(_))));
    assert!(matches!(read.consumers(broker, &absent).await, Err(BrokerError::NotFound(_))));
    assert!(
        indexed(async || read.messages_by_key(broker, &absent, "order-17", EVER.0, EVER.1).await)
            .await
            .messages
            .is_empty()
    );
    let send = cluster.send.as_ref().unwrap();
    let unsent = send.send(to_send(&absent, "order-1", None)).await;
    assert!(matches!(unsent, Err(BrokerError::NotFound(_))), "{unsent:?}");
}

async fn deletion(cluster: &Cluster, broker: &str, topic: &str, name_server: &str) {
    let write = cluster.write.as_ref().unwrap();
    write.delete_topic(broker, topic).await.unwrap();
    write.delete_route(name_server, topic).await.unwrap();
    assert!(matches!(write.delete_route("192.0.2.1:9876", topic).await, Err(BrokerError::Invalid(_))));
    until("the topic is gone", async || {
        let gone = matches!(cluster.read.route(topic).await, Err(BrokerError::NotFound(_)));
        gone && !cluster.read.topics(broker).await.unwrap().iter().any(|config| config.name == topic)
    })
    .await;
}

/// Fails what it sees first, then takes everything.
struct FirstFails(std::sync::Mutex<Vec<(Option<String>, i32, String)>>);

impl Listener for FirstFails {
    fn consume(&self, message: &Message) -> Consumed {
        let body = String::from_utf8_lossy(&message.body.bytes).into_owned();
        self.0.lock().unwrap().push((message.uniq_id.clone(), message.reconsume_times, body));
        if message.reconsume_times == 0 { Consumed::Retry } else { Consumed::Ok }
    }
}

/// A traced producer and a traced push consumer, and the trace records that they leave.
pub(crate) async fn pipeline(clients: &Clients, name_server: &str) {
    let rocketmq = RocketMq::connect(&settings(name_server), clients);
    let cluster = rocketmq.cluster();
    let broker = cluster.read.topology().await.unwrap().brokers.first().unwrap().name.clone();
    let topic = KEPT_TOPIC;
    let group = unique("operator");
    cluster.write.as_ref().unwrap().put_topic(&broker, &topic_config(topic, 2, MessageType::Normal)).await.unwrap();
    until("the route is known", async || cluster.read.route(topic).await.is_ok()).await;

    let target = ClientTarget::new([name_server]);
    let producer = TracedProducer::start(clients, &target, &unique("source")).await.unwrap();
    let listener = Arc::new(FirstFails(std::sync::Mutex::default()));
    let subscription =
        Subscription { topic: topic.to_owned(), expression: "paid || shipped".to_owned(), max_retries: 3, threads: 4 };
    let consumer = PushConsumer::start(clients, &target, &group, &subscription, listener.clone()).await.unwrap();
    let key = unique("key");
    let parent = format!("~p={key}");
    let receipt =
        producer.send(topic, Some("shipped"), &[&key, &parent], key.clone(), &[("tenant", "north")]).await.unwrap();
    let seen = || {
        let seen = listener.0.lock().unwrap();
        let own = seen.iter().filter(|(id, _, body)| *body == key && id.as_deref() == Some(&receipt.message_id));
        own.map(|(_, times, _)| *times).collect::<Vec<_>>()
    };
    until("the message is consumed again", async || seen().contains(&1)).await;
    assert_eq!(seen(), [0, 1]);
    // Who is online takes over a new offset: the message comes as if for the first time.
    cluster.write.as_ref().unwrap().reset_offset(&group, &receipt.queue, receipt.offset).await.unwrap();
    until("the message is consumed from its offset again", async || seen().len() >= 3).await;
    assert_eq!(seen().get(2), Some(&0));

    until("the trace of sending and consuming is there", async || {
        let traces = indexed(async || cluster.read.messages_by_key(&broker, TRACE_TOPIC, &key, EVER.0, EVER.1).await)
            .await
            .messages;
        let text: String = traces.iter().map(|trace| String::from_utf8_lossy(&trace.body.bytes).into_owned()).collect();
        ["Pub\u{1}", "SubBefore\u{1}", "SubAfter\u{1}", &parent].iter().all(|part| text.contains(part))
    })
    .await;
    consumer.shutdown().await;
    producer.shutdown().await;
    rocketmq.shutdown().await;
}

/// After a restart: the topic of [`pipeline`] and its message are there.
#[cfg_attr(not(feature = "embedded"), expect(dead_code, reason = "only the embedded broker is restarted"))]
pub(crate) async fn survived(name_server: &str) {
    let rocketmq = RocketMq::connect(&settings(name_server), &Clients::new());
    let read = rocketmq.cluster().read;
    until("the broker is registered", async || read.topology().await.is_ok_and(|t| !t.brokers.is_empty())).await;
    let broker = read.topology().await.unwrap().brokers.first().unwrap().name.clone();
    let stats = read.topic_stats(&broker, KEPT_TOPIC).await.unwrap();
    assert_eq!(stats.iter().map(|stats| stats.max).sum::<i64>(), 1, "{stats:?}");
    rocketmq.shutdown().await;
}
