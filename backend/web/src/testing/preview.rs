//! Serves the site on fakes for looking at: `PREVIEW=127.0.0.1:8099 cargo test -p millrace-web preview -- --ignored`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use millrace_broker::fake::{FakeCluster, FakeMessage, Fault};
use millrace_core::time::{Clock, Millis};
use millrace_tracker::ingest::{Ingest, IngestSettings};
use tokio_util::sync::CancellationToken;

use super::{FakeMeta, recorded, recorded_cluster, sampled, view_of};
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
    for (topic, queues) in
        [("orders_raw", 8), ("orders_clean", 8), ("orders_audit", 4), ("orders_priced", 8), ("RMQ_SYS_TRACE_TOPIC", 4)]
    {
        fake = fake.topic(topic, queues);
    }
    for group in ["normalise", "indexer", "price-enricher", "auditor"] {
        fake = fake.group(group);
    }
    for (broker, disk) in [("broker-a", "0.41"), ("broker-b", "0.78"), ("broker-c", "0.93")] {
        fake = fake
            .runtime_entry(broker, "brokerVersionDesc", "V5_3_2")
            .runtime_entry(broker, "putTps", "1204.2 1190.1 1188.0")
            .runtime_entry(broker, "commitLogDiskRatio", disk);
    }
    fake
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
