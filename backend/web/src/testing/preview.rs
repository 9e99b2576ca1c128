//! Serves the site on fakes for looking at: `PREVIEW=127.0.0.1:8099 cargo test -p millrace-web preview -- --ignored`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use millrace_broker::fake::{FakeCluster, FakeMessage, Fault};
use millrace_broker::{MessageType, Perm, TopicConfig};
use millrace_core::name::QueueRef;
use millrace_core::time::{Clock, Millis};
use millrace_store::fake::FakeMeta;
use millrace_tracker::ingest::{Ingest, IngestSettings};
use tokio_util::sync::CancellationToken;

use super::{recorded, recorded_cluster, sampled, view_of};
use crate::App;

#[derive(Debug)]
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Millis(i64::try_from(since.as_millis()).unwrap())
    }
}

fn fake() -> FakeCluster {
    let mut fake = FakeCluster::new().broker("broker-a").broker("broker-b").broker("broker-c");
    fake.set_now(SystemClock.now().plus(-60_000));
    for (topic, queues) in
        [("orders_raw", 8), ("orders_clean", 8), ("orders_audit", 4), ("orders_priced", 8), ("RMQ_SYS_TRACE_TOPIC", 4)]
    {
        fake = fake.topic(topic, queues);
    }
    for group in ["normalise", "indexer", "price-enricher", "auditor"] {
        fake = fake.group(group);
    }
    for (topic, queues) in [("app_events", 16), ("%DLQ%price-enricher", 1), ("%RETRY%price-enricher", 1)] {
        fake = fake.topic(topic, queues);
    }
    for (topic, message_type) in [
        ("customer_changes", MessageType::Fifo),
        ("payment_tx", MessageType::Transaction),
        ("reminders", MessageType::Delay),
    ] {
        for broker in ["broker-a", "broker-b"] {
            fake = fake.topic_on(broker, typed(topic, message_type));
        }
    }
    for (group, topic, broker, at) in [
        ("normalise", "orders_raw", "broker-a", 0),
        ("indexer", "orders_clean", "broker-a", 0),
        ("price-enricher", "orders_clean", "broker-a", 30),
        ("auditor", "orders_audit", "broker-b", 0),
        ("clickstream", "app_events", "broker-a", 0),
        ("fraud", "app_events", "broker-b", 0),
        ("fraud", "payment_tx", "broker-b", 0),
    ] {
        let place = QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue: 0 };
        fake = fake.committed_at(group, &place, at);
    }
    for number in 0..60 {
        let body = format!(
            "{{\"order\":{number},\"total\":9007199254740993,\"items\":[{{\"sku\":\"tea-{number}\",\"n\":2}}],\"note\":\"订单\"}}"
        );
        let message =
            FakeMessage::to("orders_clean").on(if number % 3 == 0 { "broker-b" } else { "broker-a" }, number % 4);
        fake.append(message.key(&format!("order-{number}")).tag("paid").property("region", "north").body(body));
    }
    fake.append(FakeMessage::to("orders_clean").on("broker-a", 0).body(vec![0xb6, 0xa9, 0xff, 0xfe, 0x00]));
    fake.append(FakeMessage::to("%DLQ%price-enricher").key("order-7").reconsumed(16).body("{}"));
    for (broker, disk) in [("broker-a", "0.41"), ("broker-b", "0.78"), ("broker-c", "0.93")] {
        fake = fake
            .runtime_entry(broker, "brokerVersionDesc", "V5_3_2")
            .runtime_entry(broker, "putTps", "1204.2 1190.1 1188.0")
            .runtime_entry(broker, "commitLogDiskRatio", disk);
    }
    fake
}

fn typed(name: &str, message_type: MessageType) -> TopicConfig {
    let attribute = message_type.attribute().map(|value| ("message.type".to_owned(), value.to_owned()));
    TopicConfig {
        name: name.to_owned(),
        read_queues: 4,
        write_queues: 4,
        perm: Perm::READ_WRITE,
        message_type,
        order: false,
        attributes: attribute.into_iter().collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "serves pages until it is stopped"]
async fn preview() {
    let address = std::env::var("PREVIEW").unwrap_or_else(|_| "127.0.0.1:8099".to_owned());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let stop = CancellationToken::new();
    let mut builder = App::builder(Arc::clone(&clock), Arc::new(FakeMeta::default()));
    let traced = view_of(recorded_cluster().cluster(), recorded(), Arc::new(FakeMeta::default()), Arc::clone(&clock));
    builder = builder.cluster(traced);
    for name in ["shop-prod", "shop-test"] {
        let fake = fake();
        let mut cluster = fake.cluster();
        name.clone_into(&mut cluster.name);
        let mut view = view_of(cluster, sampled(), Arc::new(FakeMeta::default()), Arc::clone(&clock));
        if name == "shop-prod" {
            fake.fail("broker-c", Fault::Dead);
            let settings = IngestSettings::new("millrace@192.0.2.5");
            let ingest = Ingest::start(
                view.cluster.clone(),
                Arc::clone(&view.traces),
                settings,
                Arc::clone(&clock),
                stop.clone(),
            );
            view.ingest = Arc::clone(&ingest.state);
        }
        let (moving, now) = (fake.clone(), Arc::clone(&clock));
        tokio::spawn(async move {
            for number in 0_u64.. {
                let message = FakeMessage::to("orders_raw").key(&format!("order-{number}")).at(now.now()).body("{}");
                moving.append(message);
                moving.append(FakeMessage::to("RMQ_SYS_TRACE_TOPIC").at(now.now()).body("x"));
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
        builder = builder.cluster(view);
    }
    let listener = tokio::net::TcpListener::bind(&address).await.unwrap();
    eprintln!("http://{address}/");
    axum::serve(listener, crate::router(builder.build())).await.unwrap();
}
