//! Create, delete and send: every field's error at once, an outcome for each broker, and all of it in the audit trail.

use millrace_broker::fake::{Call, FakeCluster, FakeMessage, Fault};
use millrace_broker::{BrokerRead, MessageType, Perm};
use millrace_console::ConsoleError;
use millrace_console::snapshot::KeeperOptions;
use millrace_console::topics::{DeleteForm, NewTopicForm, TestMessageForm};
use millrace_core::time::Millis;

use crate::world::{World, config, queue};

fn two_brokers() -> FakeCluster {
    FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 2)
}

fn form(name: &str, brokers: &[&str]) -> NewTopicForm {
    NewTopicForm {
        name: name.to_owned(),
        write_queues: "4".to_owned(),
        read_queues: String::new(),
        perm: "rw".to_owned(),
        message_type: "fifo".to_owned(),
        brokers: brokers.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn codes(error: ConsoleError) -> Vec<(&'static str, &'static str)> {
    match error {
        ConsoleError::Invalid(errors) => errors.0.into_iter().map(|error| (error.field, error.code)).collect(),
        other => panic!("not about fields: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn every_field_is_told_at_once_and_no_broker_is_asked() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    let bad = NewTopicForm {
        name: "订单".to_owned(),
        write_queues: "0".to_owned(),
        read_queues: "many".to_owned(),
        perm: "x".to_owned(),
        message_type: "odd".to_owned(),
        brokers: vec!["broker-z".to_owned()],
    };
    let told = codes(world.console.create_topic("op", &bad).await.unwrap_err());
    assert_eq!(
        told,
        [
            ("name", "name-character"),
            ("write_queues", "queues-range"),
            ("read_queues", "queues-range"),
            ("perm", "perm-unknown"),
            ("message_type", "message-type-unknown"),
            ("brokers", "broker-unknown"),
        ]
    );
    let told = codes(world.console.create_topic("op", &form("%RETRY%x", &[])).await.unwrap_err());
    assert_eq!(told, [("name", "name-reserved"), ("brokers", "brokers-none")]);
    assert_eq!(fake.calls(Call::PutTopic), 0);
    assert!(world.audit.entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_form_becomes_a_topic() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    let outcomes = world.console.create_topic("op", &form(" invoices ", &["broker-a"])).await.unwrap();
    assert_eq!((outcomes.succeeded(), outcomes.failed()), (1, 0));
    let topics = fake.topics("broker-a").await.unwrap();
    let made = topics.iter().find(|topic| topic.name == "invoices").unwrap();
    assert_eq!((made.write_queues, made.read_queues, made.perm), (4, 4, Perm::READ_WRITE));
    assert_eq!((made.message_type, made.attributes["message.type"].as_str()), (MessageType::Fifo, "FIFO"));
    world.refresh().await;
    assert!(world.console.snapshot().topic("invoices").is_some());
    let entry = &world.audit.entries()[0];
    assert_eq!((entry.who.as_str(), entry.action.as_str(), entry.target.as_str()), ("op", "topic.create", "invoices"));
    assert!(entry.detail.contains("\"write_queues\":4"));

    // The other broker may get it too; the first keeps what it has.
    let told = codes(world.console.create_topic("op", &form("invoices", &["broker-a", "broker-b"])).await.unwrap_err());
    assert_eq!(told, [("name", "topic-exists")]);
    world.console.create_topic("op", &form("invoices", &["broker-b"])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_broker_has_its_outcome_and_failures_are_audited() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    fake.fail_call("broker-b", Call::PutTopic, Fault::Dead);
    let outcomes = world.console.create_topic("op", &form("invoices", &["broker-a", "broker-b"])).await.unwrap();
    assert_eq!((outcomes.succeeded(), outcomes.failed()), (1, 1));
    assert!(outcomes.each[1].error.as_ref().unwrap().contains("unreachable"));
    let entry = &world.audit.entries()[0];
    assert_eq!(entry.outcomes.iter().filter(|outcome| outcome.error.is_some()).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_where_it_could_not_be_seen_what_is_there() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    fake.fail_call("broker-b", Call::Topics, Fault::Dead);
    let outcomes = world.console.create_topic("op", &form("orders2", &["broker-b"])).await.unwrap();
    assert_eq!(outcomes.failed(), 1);
    assert_eq!(fake.calls(Call::PutTopic), 0);
}

#[tokio::test(start_paused = true)]
async fn deleting_asks_for_the_name_and_takes_the_route_last() {
    let fake = two_brokers().message(FakeMessage::to("orders"));
    let fake = fake.committed_at("pricing", &queue("orders", "broker-a", 0), 0);
    let world = World::of(&fake).await;
    let plan = world.console.deletion_plan("orders").await.unwrap();
    assert_eq!(plan.brokers, ["broker-a", "broker-b"]);
    assert_eq!((plan.span.unwrap().value(), plan.readers[0].group.as_str()), (Some(1), "pricing"));

    let wrong = DeleteForm { confirm: "order".to_owned(), brokers: vec![] };
    let told = codes(world.console.delete_topic("op", "orders", &wrong).await.unwrap_err());
    assert_eq!((told, fake.calls(Call::DeleteTopic)), (vec![("confirm", "confirm-mismatch")], 0));

    fake.fail_call("broker-b", Call::DeleteTopic, Fault::Dead);
    let right = DeleteForm { confirm: "orders".to_owned(), brokers: vec![] };
    let outcomes = world.console.delete_topic("op", "orders", &right).await.unwrap();
    let failed: Vec<&str> = outcomes.each.iter().filter(|o| o.error.is_some()).map(|o| o.at.as_str()).collect();
    assert_eq!(failed, ["broker-b", "192.0.2.250:9876"], "the route stays as long as a broker has the topic");
    assert!(fake.deleted_routes().is_empty());

    fake.heal("broker-b");
    world.refresh().await;
    let outcomes = world.console.delete_topic("op", "orders", &right).await.unwrap();
    assert_eq!(outcomes.failed(), 0);
    assert_eq!(fake.deleted_routes().len(), 1);
    assert_eq!(world.audit.entries().len(), 2);
    world.refresh().await;
    assert!(matches!(world.console.delete_topic("op", "orders", &right).await, Err(ConsoleError::NotFound(_))));
}

#[tokio::test(start_paused = true)]
async fn one_broker_alone_keeps_the_route() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    let form = DeleteForm { confirm: "orders".to_owned(), brokers: vec!["broker-a".to_owned()] };
    let outcomes = world.console.delete_topic("op", "orders", &form).await.unwrap();
    assert_eq!((outcomes.each.len(), outcomes.failed()), (1, 0));
    assert!(fake.deleted_routes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn rocketmq_s_own_topics_and_read_only_clusters_are_left_alone() {
    let fake = two_brokers().topic_on("broker-a", config("RMQ_SYS_TRACE_TOPIC", 1, MessageType::Unspecified));
    let world = World::of(&fake).await;
    let form = DeleteForm { confirm: "RMQ_SYS_TRACE_TOPIC".to_owned(), brokers: vec![] };
    let refused = world.console.delete_topic("op", "RMQ_SYS_TRACE_TOPIC", &form).await;
    assert!(matches!(refused, Err(ConsoleError::SystemTopic(_))));
    let sent = world.console.send_test_message("op", "RMQ_SYS_TRACE_TOPIC", &TestMessageForm::default()).await;
    assert!(matches!(sent, Err(ConsoleError::SystemTopic(_))));

    let reader = World::with(fake.read_only(), KeeperOptions::default()).await;
    assert!(!reader.console.writable() && !reader.console.sendable());
    let form = DeleteForm { confirm: "orders".to_owned(), brokers: vec![] };
    assert!(matches!(reader.console.delete_topic("op", "orders", &form).await, Err(ConsoleError::ReadOnly(_))));
    let new = NewTopicForm { name: "x".into(), ..NewTopicForm::default() };
    assert!(matches!(reader.console.create_topic("op", &new).await, Err(ConsoleError::ReadOnly(_))));
    assert_eq!(fake.calls(Call::DeleteTopic) + fake.calls(Call::PutTopic) + fake.calls(Call::Send), 0);
}

#[tokio::test(start_paused = true)]
async fn a_test_message() {
    let fake = two_brokers();
    let world = World::of(&fake).await;
    let form = TestMessageForm {
        keys: " order-17  batch-3 ".to_owned(),
        tag: "paid".to_owned(),
        properties: "region = north\n\nnote=a=b".to_owned(),
        body: "{\"id\":9007199254740993}".to_owned(),
    };
    let sent = world.console.send_test_message("op", "orders", &form).await.unwrap();
    assert_eq!(sent.look_up, "order-17");
    let stored = world.console.message_at(&sent.receipt.queue, sent.receipt.offset).await.unwrap();
    assert_eq!(stored.keys().collect::<Vec<_>>(), ["order-17", "batch-3"]);
    assert_eq!(
        (stored.tags(), stored.property("region"), stored.property("note")),
        (Some("paid"), Some("north"), Some("a=b"))
    );
    assert_eq!(stored.body.bytes.as_ref(), form.body.as_bytes());
    let entry = &world.audit.entries()[0];
    assert_eq!((entry.action.as_str(), entry.target.as_str()), ("message.send", "orders"));
    assert!(!entry.detail.contains("9007199254740993"), "the content stays in the topic");

    let bare = TestMessageForm { body: "{}".to_owned(), ..TestMessageForm::default() };
    let without_key = world.console.send_test_message("op", "orders", &bare).await.unwrap();
    assert_eq!(without_key.look_up, without_key.receipt.message_id);
}

#[tokio::test(start_paused = true)]
async fn a_test_message_that_rocketmq_would_misread_is_refused() {
    let fake = two_brokers().topic_on(
        "broker-a",
        millrace_broker::TopicConfig { perm: Perm::READ, ..config("archive", 1, MessageType::Normal) },
    );
    let world = World::of(&fake).await;
    let form = TestMessageForm {
        keys: "a\u{1}b".to_owned(),
        tag: "a || b".to_owned(),
        properties: "UNIQ_KEY=1\nnothing\n=x\nk=\na=1\na=2\nDELAY=3".to_owned(),
        body: "x".repeat(5 * 1024 * 1024),
    };
    let told = codes(world.console.send_test_message("op", "orders", &form).await.unwrap_err());
    assert_eq!(
        told,
        [
            ("keys", "control-character"),
            ("tag", "tag-character"),
            ("properties", "property-reserved"),
            ("properties", "property-without-equals"),
            ("properties", "property-empty"),
            ("properties", "property-empty"),
            ("properties", "property-twice"),
            ("properties", "property-reserved"),
            ("body", "body-too-large"),
        ]
    );
    let told = codes(world.console.send_test_message("op", "archive", &TestMessageForm::default()).await.unwrap_err());
    assert_eq!(told, [("body", "body-empty"), ("topic", "topic-not-writable")]);
    let form = TestMessageForm { body: "{}".to_owned(), ..TestMessageForm::default() };
    assert!(matches!(world.console.send_test_message("op", "nothing", &form).await, Err(ConsoleError::NotFound(_))));
    assert_eq!(fake.calls(Call::Send), 0);

    fake.fail_call("broker-a", Call::Send, Fault::Dead);
    fake.fail_call("broker-b", Call::Send, Fault::Dead);
    fake.set_now(Millis(1));
    let failed = world.console.send_test_message("op", "orders", &form).await;
    assert!(matches!(failed, Err(ConsoleError::Broker(_))));
    let entries = world.audit.entries();
    assert!(entries[0].outcomes[0].error.as_ref().unwrap().contains("unreachable"), "{entries:?}");
}
