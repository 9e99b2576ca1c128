//! The demo's task: a source, three operators that consume and produce, and two sinks, each with message trace on.
//!
//! ```text
//! order-source -> orders_raw -> normalise -> orders_clean -> price-enricher -> orders_priced -> stock-filter -> orders_ready
//!                                             orders_clean -> audit-log (sink)                                  -> search-index (sink)
//! ```

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use millrace_broker::{Cluster, Message, MessageType, Perm, TopicConfig};
use millrace_broker_rocketmq::client::{
    ClientTarget, Clients, Consumed, Listener, PushConsumer, Subscription, TracedProducer,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Keys that show something, and what.
pub(super) const WORTH_A_LOOK: [(&str, &str); 3] = [
    ("order-1007", "price-enricher cannot price it: dead letter after 2 retries"),
    ("order-1003", "normalise fails once, the retry passes, and it goes all the way"),
    ("order-1005", "stock-filter drops it: out of stock"),
];

/// Orders sent at once, so that there is something to look up.
const FIRST_ORDERS: u32 = 100;
const FIRST_NUMBER: u32 = 1000;
const TOPICS: [&str; 4] = ["orders_raw", "orders_clean", "orders_priced", "orders_ready"];
const QUEUES: u32 = 4;

#[derive(Debug)]
pub(super) struct Pipeline {
    clients: Clients,
    consumers: Vec<PushConsumer>,
    producers: Vec<Arc<TracedProducer>>,
    source: JoinHandle<()>,
    stop: CancellationToken,
}

pub(super) async fn start(cluster: &Cluster, target: ClientTarget, rate: u32) -> Result<Pipeline> {
    create_topics(cluster).await?;
    let clients = Clients::new();
    let stop = CancellationToken::new();
    let mut producers = Vec::new();
    let mut consumers = Vec::new();
    for operator in OPERATORS {
        let producer = match operator.writes {
            Some(_) => {
                Some(Arc::new(TracedProducer::start(&clients, &target, &format!("{}-out", operator.group)).await?))
            }
            None => None,
        };
        producers.extend(producer.clone());
        let subscription = Subscription {
            topic: operator.reads.to_owned(),
            expression: "*".to_owned(),
            max_retries: operator.max_retries,
            threads: 4,
        };
        let running = Running { operator, producer, runtime: Handle::current() };
        consumers.push(PushConsumer::start(&clients, &target, operator.group, &subscription, Arc::new(running)).await?);
    }
    let source = Arc::new(TracedProducer::start(&clients, &target, "order-source").await?);
    producers.push(Arc::clone(&source));
    let source = tokio::spawn(send_orders(source, rate, stop.clone()));
    Ok(Pipeline { clients, consumers, producers, source, stop })
}

impl Pipeline {
    /// The source first, then the operators, so that nothing is sent into a stopped client.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        let _ = self.source.await;
        for consumer in self.consumers {
            consumer.shutdown().await;
        }
        for producer in self.producers {
            if let Ok(producer) = Arc::try_unwrap(producer) {
                producer.shutdown().await;
            }
        }
        self.clients.shutdown().await;
    }
}

async fn create_topics(cluster: &Cluster) -> Result<()> {
    let write = cluster.write.as_ref().context("the demo cluster is read-only")?;
    for broker in cluster.read.topology().await?.brokers {
        for name in TOPICS {
            let topic = TopicConfig {
                name: name.to_owned(),
                read_queues: QUEUES,
                write_queues: QUEUES,
                perm: Perm::READ_WRITE,
                message_type: MessageType::Normal,
                order: false,
                attributes: std::collections::BTreeMap::new(),
            };
            write.put_topic(&broker.name, &topic).await?;
        }
    }
    Ok(())
}

/// Orders with rising numbers: a hundred at once, then `rate` a second.
async fn send_orders(source: Arc<TracedProducer>, rate: u32, stop: CancellationToken) {
    let pause = Duration::from_secs(1) / rate.max(1);
    let mut number = FIRST_NUMBER;
    loop {
        let key = format!("order-{number}");
        let tag = if number.is_multiple_of(2) { "web" } else { "store" };
        let body = serde_json::json!({
            "order": key, "shop": "Kettle & Co", "item": format!("kettle-{}", number % 9),
            "price": format!("{},{:02} EUR", 9 + number % 40, number % 100), "stock": 9_007_199_254_740_993_u64,
        });
        if let Err(error) = source.send("orders_raw", Some(tag), &[&key], body.to_string(), &[]).await {
            tracing::warn!(key, %error, "the source could not send, and tries this order again");
        } else {
            number += 1;
        }
        let pause = if number < FIRST_NUMBER + FIRST_ORDERS { Duration::ZERO } else { pause };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// What an operator does with an order, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Pass,
    Fail,
    Drop,
}

/// A node of the task.
#[derive(Debug, Clone, Copy)]
struct Operator {
    group: &'static str,
    reads: &'static str,
    writes: Option<&'static str>,
    max_retries: i32,
    /// How long it works on a record.
    works: Duration,
    /// By the last digit of the order and how often it was tried before.
    step: fn(digit: u32, tried: i32) -> Step,
    /// Whether it names the parent message in KEYS, the exact way to follow a record.
    names_parent: bool,
}

const OPERATORS: [Operator; 5] = [
    Operator {
        group: "normalise",
        reads: "orders_raw",
        writes: Some("orders_clean"),
        max_retries: 16,
        works: Duration::from_millis(4),
        step: |digit, tried| if digit == 3 && tried == 0 { Step::Fail } else { Step::Pass },
        names_parent: false,
    },
    Operator {
        group: "price-enricher",
        reads: "orders_clean",
        writes: Some("orders_priced"),
        max_retries: 2,
        works: Duration::from_millis(60),
        step: |digit, _| if digit == 7 { Step::Fail } else { Step::Pass },
        names_parent: true,
    },
    Operator {
        group: "stock-filter",
        reads: "orders_priced",
        writes: Some("orders_ready"),
        max_retries: 16,
        works: Duration::from_millis(2),
        step: |digit, _| if digit == 5 { Step::Drop } else { Step::Pass },
        names_parent: false,
    },
    Operator {
        group: "search-index",
        reads: "orders_ready",
        writes: None,
        max_retries: 16,
        works: Duration::from_millis(3),
        step: |_, _| Step::Pass,
        names_parent: false,
    },
    Operator {
        group: "audit-log",
        reads: "orders_clean",
        writes: None,
        max_retries: 16,
        works: Duration::from_millis(1),
        step: |_, _| Step::Pass,
        names_parent: false,
    },
];

struct Running {
    operator: Operator,
    producer: Option<Arc<TracedProducer>>,
    runtime: Handle,
}

impl Listener for Running {
    /// Runs on a thread of its own, so it may sleep as real work would.
    fn consume(&self, message: &Message) -> Consumed {
        std::thread::sleep(self.operator.works);
        let Some(key) = message.keys().find(|key| key.starts_with("order-")) else {
            return Consumed::Ok;
        };
        let digit = key.chars().last().and_then(|last| last.to_digit(10)).unwrap_or(0);
        match (self.operator.step)(digit, message.reconsume_times) {
            Step::Fail => Consumed::Retry,
            Step::Drop => Consumed::Ok,
            Step::Pass => self.pass_on(message, key),
        }
    }
}

impl Running {
    fn pass_on(&self, message: &Message, key: &str) -> Consumed {
        let (Some(producer), Some(topic)) = (&self.producer, self.operator.writes) else {
            return Consumed::Ok;
        };
        let parent = format!("~p={}", message.id());
        let keys: &[&str] = if self.operator.names_parent { &[key, &parent] } else { &[key] };
        let sent = producer.send(topic, message.tags(), keys, message.body.bytes.clone(), &[]);
        match self.runtime.block_on(sent) {
            Ok(_) => Consumed::Ok,
            Err(error) => {
                tracing::warn!(operator = self.operator.group, %error, "an operator could not send");
                Consumed::Retry
            }
        }
    }
}
