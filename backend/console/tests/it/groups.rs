//! Groups: what a list may claim, who reads what, and what setting offsets or deleting does.

use jiff::tz::TimeZone;
use millrace_broker::BrokerTail;
use millrace_broker::fake::{Call, FakeClient, FakeCluster, FakeMessage, Fault};
use millrace_console::ConsoleError;
use millrace_console::groups::{
    ClientSays, DeleteGroupForm, GroupForm, GroupQuery, ResetForm, ResetRefused, Standing, list,
};
use millrace_core::coverage::Known;
use millrace_core::time::Millis;

use crate::world::{START, World, queue};

/// Two brokers, `orders` with two queues and five messages on each broker's queue 0, a minute between them.
fn orders() -> FakeCluster {
    let fake = FakeCluster::new().broker("broker-a").broker("broker-b").topic("orders", 2);
    for minute in 0..5 {
        for broker in ["broker-a", "broker-b"] {
            let at = Millis(START - 600_000 + minute * 60_000);
            fake.append(FakeMessage::to("orders").on(broker, 0).key("order-17").at(at));
        }
    }
    fake
}

fn behind() -> FakeCluster {
    orders()
        .committed_at("billing", &queue("orders", "broker-a", 0), 2)
        .committed_at("billing", &queue("orders", "broker-b", 0), 4)
        .committed_at("billing", &queue("orders", "broker-a", 1), 0)
        .committed_at("billing", &queue("orders", "broker-b", 1), 0)
}

fn to(to: &str) -> ResetForm {
    ResetForm { topic: "orders".to_owned(), to: to.to_owned(), ..ResetForm::default() }
}

#[tokio::test(start_paused = true)]
async fn a_list_tells_lag_age_and_who_is_online() {
    let fake = behind().client("billing", "192.0.2.9@7", "orders").group("idle");
    let world = World::of(&fake).await;
    let page = list(&world.console.snapshot(), &GroupQuery::default());
    assert_eq!((page.total, page.rows[0].name.as_str()), (2, "billing"));
    let billing = &page.rows[0];
    assert_eq!(billing.lag.as_ref().unwrap().value(), Some(4));
    assert_eq!(billing.clients.online.value(), Some(1), "one client at two brokers");
    assert_eq!(billing.oldest_unread, Known::Known(Some(Millis(START - 600_000 + 120_000))));
    assert_eq!(Standing::of(billing), Standing::Reading);
    assert_eq!(Standing::of(&page.rows[1]), Standing::NoOffset);
    let by_topic = GroupQuery { filter: "ORDERS".to_owned(), ..GroupQuery::default() };
    assert_eq!(list(&world.console.snapshot(), &by_topic).total, 1);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_does_not_answer_leaves_a_lower_bound() {
    let fake = behind();
    fake.fail("broker-b", Fault::Dead);
    let world = World::of(&fake).await;
    let page = list(&world.console.snapshot(), &GroupQuery::default());
    let lag = page.rows[0].lag.as_ref().unwrap();
    assert_eq!((lag.value(), lag.at_least()), (None, 3));
    assert_eq!((page.coverage.answered, page.coverage.asked), (1, 2));
    assert!(matches!(page.rows[0].oldest_unread, Known::Unknown(_)));
    // It waits, and nobody can be seen online at the broker that answers: but the other may have clients.
    fake.heal("broker-b");
    world.refresh().await;
    world.refresh().await;
    let page = list(&world.console.snapshot(), &GroupQuery::default());
    assert_eq!(page.rows[0].lag.as_ref().unwrap().value(), Some(4));
    assert_eq!(Standing::of(&page.rows[0]), Standing::Offline);
}

#[tokio::test(start_paused = true)]
async fn a_group_tells_who_reads_each_queue_and_how_old_what_waits_is() {
    let fake = behind().client("billing", "c1", "orders").client("billing", "c2", "orders");
    let world = World::of(&fake).await;
    let detail = world.console.group("billing").await.unwrap();
    let progress: Vec<_> = detail
        .queues
        .iter()
        .map(|at| (at.queue.broker.as_str(), at.queue.queue, at.lag(), at.owners.join(",")))
        .collect();
    assert_eq!(
        progress,
        [
            ("broker-a", 0, Some(3), "c1".to_owned()),
            ("broker-a", 1, Some(0), "c2".to_owned()),
            ("broker-b", 0, Some(1), "c1".to_owned()),
            ("broker-b", 1, Some(0), "c2".to_owned()),
        ]
    );
    assert_eq!(detail.queues[0].oldest_unread, Known::Known(Some(Millis(START - 600_000 + 120_000))));
    assert_eq!(detail.queues[1].oldest_unread, Known::Known(None));
    assert!(detail.mismatches.is_empty() && detail.coverage.complete());
    assert!(matches!(world.console.group("nobody").await, Err(ConsoleError::NotFound(_))));
}

#[tokio::test(start_paused = true)]
async fn different_subscriptions_are_told_with_their_clients() {
    let fake = behind()
        .online(&FakeClient::of("billing", "c1").subscribed("orders", "web"))
        .online(&FakeClient::of("billing", "c2").subscribed("orders", "app"))
        .online(&FakeClient::of("billing", "c3").subscribed("%RETRY%billing", "*"));
    let world = World::of(&fake).await;
    let detail = world.console.group("billing").await.unwrap();
    assert_eq!(detail.mismatches.len(), 1);
    let ways: Vec<_> = detail.mismatches[0]
        .ways
        .iter()
        .map(|(way, clients)| (way.as_ref().map(|way| way.expression.as_str()), clients.join(",")))
        .collect();
    assert_eq!(ways, [(None, "c3".to_owned()), (Some("app"), "c2".to_owned()), (Some("web"), "c1".to_owned())]);

    // A client that does not answer is not accused.
    fake.fail_call("broker-a", Call::Running, Fault::Dead);
    let detail = world.console.group("billing").await.unwrap();
    assert!(detail.mismatches.is_empty());
    assert!(detail.clients.iter().all(|client| matches!(client.says, ClientSays::Nothing(_))));
}

#[tokio::test(start_paused = true)]
async fn a_preview_says_what_is_read_again_and_what_is_skipped() {
    let fake = behind();
    let world = World::of(&fake).await;
    let console = &world.console;
    let plan = console.reset_plan("billing", &to("latest"), &TimeZone::UTC).await.unwrap();
    let effects = |plan: &millrace_console::groups::ResetPlan| -> Vec<_> {
        plan.queues.iter().map(|queue| (queue.target, queue.again(), queue.skipped())).collect()
    };
    assert_eq!(effects(&plan), [(5, 0, Some(3)), (0, 0, Some(0)), (5, 0, Some(1)), (0, 0, Some(0))]);
    let plan = console.reset_plan("billing", &to("earliest"), &TimeZone::UTC).await.unwrap();
    assert_eq!(effects(&plan), [(0, 2, Some(0)), (0, 0, Some(0)), (0, 4, Some(0)), (0, 0, Some(0))]);
    // The second message's own instant is the second message.
    let at = ResetForm { time: (START - 600_000 + 60_000).to_string(), ..to("time") };
    let plan = console.reset_plan("billing", &at, &TimeZone::UTC).await.unwrap();
    assert_eq!(effects(&plan)[0], (1, 1, Some(0)));
    let one = ResetForm { queue: "broker-b/0".to_owned(), offset: "3".to_owned(), ..to("offset") };
    let plan = console.reset_plan("billing", &one, &TimeZone::UTC).await.unwrap();
    assert_eq!((plan.queues.len(), effects(&plan)[0]), (1, (3, 1, Some(0))));
    assert_eq!(fake.calls(Call::ResetOffset), 0, "a preview changes nothing");

    // A group that never committed: from where it would begin is not known.
    let fake = orders().group("new");
    let world = World::of(&fake).await;
    let plan = world.console.reset_plan("new", &to("latest"), &TimeZone::UTC).await.unwrap();
    assert_eq!((plan.queues[0].committed, plan.queues[0].skipped()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_set_is_told_at_its_field() {
    let world = World::of(&behind()).await;
    let refused = async |form: ResetForm| match world.console.reset_plan("billing", &form, &TimeZone::UTC).await {
        Err(ConsoleError::Invalid(errors)) => {
            errors.0.iter().map(|error| (error.field, error.code)).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(to("sideways")).await, [("to", "reset-to-unknown")]);
    assert_eq!(refused(to("offset")).await, [("queue", "queue-needed"), ("offset", "number-unreadable")]);
    let beyond = ResetForm { queue: "broker-a/0".to_owned(), offset: "6".to_owned(), ..to("offset") };
    assert_eq!(refused(beyond).await, [("offset", "number-range")]);
    let nowhere = ResetForm { queue: "broker-a/9".to_owned(), ..to("latest") };
    assert_eq!(refused(nowhere).await, [("queue", "queue-missing")]);
    let unread = ResetForm { topic: "nothing".to_owned(), ..to("latest") };
    assert_eq!(refused(unread).await, [("topic", "topic-unknown")]);
    let system = world.console.reset_plan("CID_RMQ_SYS_TRANS", &to("latest"), &TimeZone::UTC).await;
    assert!(matches!(system, Err(ConsoleError::SystemGroup(_))));
}

#[tokio::test(start_paused = true)]
async fn a_reset_is_read_back_and_written_down_and_a_stale_preview_is_refused() {
    let fake = behind();
    let world = World::of(&fake).await;
    let console = &world.console;
    let plan = console.reset_plan("billing", &to("latest"), &TimeZone::UTC).await.unwrap();
    let seen = ResetForm { seen: plan.seen, ..to("latest") };
    // It moves after the preview.
    fake.commit("billing", &queue("orders", "broker-a", 0), 3).await.unwrap();
    let Err(ResetRefused::Moved(now)) = console.reset("op", "billing", &seen, &TimeZone::UTC).await else {
        panic!("a stale preview was taken")
    };
    assert_eq!((now.queues[0].committed, fake.calls(Call::ResetOffset)), (Some(3), 0));

    fake.fail_call("broker-b", Call::ResetOffset, Fault::Dead);
    let seen = ResetForm { seen: now.seen, ..to("latest") };
    let done = console.reset("op", "billing", &seen, &TimeZone::UTC).await.unwrap();
    let kept: Vec<_> = done.queues.iter().map(|(queue, now)| (queue.target, now.known().copied().flatten())).collect();
    assert_eq!(kept, [(5, Some(5)), (0, Some(0)), (5, Some(4)), (0, Some(0))], "broker-b keeps what it had");
    assert_eq!((done.outcomes.succeeded(), done.outcomes.failed()), (2, 2));
    let audit = world.audit.entries();
    let entry = audit.last().unwrap();
    assert_eq!((entry.action.as_str(), entry.target.as_str(), entry.outcomes.len()), ("group.reset", "billing", 4));
    assert!(entry.detail.contains("\"committed\":3") && entry.detail.contains("\"target\":5"), "{}", entry.detail);

    // Somebody who says that it may move does not have to look again.
    fake.heal("broker-b");
    let forced = ResetForm { moving: "1".to_owned(), ..to("earliest") };
    let done = console.reset("op", "billing", &forced, &TimeZone::UTC).await.unwrap();
    assert_eq!(done.outcomes.failed(), 0);
    assert_eq!(fake.committed_offset("billing", &queue("orders", "broker-b", 0)), Some(0));
}

#[tokio::test(start_paused = true)]
async fn groups_are_made_changed_and_deleted_with_an_outcome_for_each_broker() {
    let fake = orders();
    let world = World::of(&fake).await;
    let console = &world.console;
    let form = GroupForm { name: "billing".to_owned(), ..GroupForm::suggested(&console.snapshot()) };
    assert_eq!(console.create_group("op", &form).await.unwrap().succeeded(), 2);
    assert!(matches!(console.create_group("op", &form).await, Err(ConsoleError::Invalid(_))), "it is there");
    world.refresh().await;

    fake.fail_call("broker-b", Call::PutGroup, Fault::Dead);
    let paused = GroupForm { consume: String::new(), retry_max: "4".to_owned(), ..form.clone() };
    let outcomes = console.change_group("op", "billing", &paused).await.unwrap();
    assert_eq!((outcomes.succeeded(), outcomes.failed()), (1, 1));
    world.refresh().await;
    let snapshot = console.snapshot();
    let state = snapshot.group("billing").unwrap();
    assert!(state.differs && !state.brokers[0].config.consume_enable && state.brokers[1].config.consume_enable);

    let bad = GroupForm { retry_max: "many".to_owned(), brokers: Vec::new(), name: "订单".to_owned(), ..form };
    let Err(ConsoleError::Invalid(errors)) = console.create_group("op", &bad).await else { panic!("taken") };
    let codes: Vec<_> = errors.0.iter().map(|error| (error.field, error.code)).collect();
    assert_eq!(codes, [("name", "name-character"), ("retry_max", "number-range"), ("brokers", "brokers-none")]);
}

#[tokio::test(start_paused = true)]
async fn deleting_takes_offsets_and_retries_and_dead_letters_only_when_asked() {
    let fake = behind().topic("%RETRY%billing", 1).topic("%DLQ%billing", 1).client("billing", "c1", "orders");
    let world = World::of(&fake).await;
    let console = &world.console;
    let plan = console.group_deletion("billing").await.unwrap();
    assert_eq!((plan.online, plan.retry.len(), plan.dead.len()), (Known::Known(1), 2, 2));
    let typo = DeleteGroupForm { confirm: "billin".to_owned(), ..DeleteGroupForm::default() };
    assert!(matches!(console.delete_group("op", "billing", &typo).await, Err(ConsoleError::Invalid(_))));
    assert_eq!(fake.calls(Call::DeleteGroup), 0);

    let keep = DeleteGroupForm { confirm: "billing".to_owned(), ..DeleteGroupForm::default() };
    let outcomes = console.delete_group("op", "billing", &keep).await.unwrap();
    // Two brokers, the retry topic at both, its route at one name server.
    assert_eq!((outcomes.succeeded(), outcomes.failed()), (5, 0), "{outcomes:?}");
    world.refresh().await;
    assert!(console.snapshot().group("billing").is_none());
    assert!(console.snapshot().topic("%RETRY%billing").is_none());
    assert!(console.snapshot().topic("%DLQ%billing").is_some(), "dead letters stay unless somebody says so");
    assert_eq!(fake.committed_offset("billing", &queue("orders", "broker-a", 0)), None);
}

/// It reads on between all rounds: what it comes to next is another message each time.
#[tokio::test(start_paused = true)]
async fn how_long_a_group_that_moves_is_behind_is_known_in_each_round() {
    let fake = behind();
    let world = World::of(&fake).await;
    for offset in 3..5 {
        fake.append(FakeMessage::to("orders").on("broker-a", 0).at(Millis(START)));
        let fake = fake.clone().committed_at("billing", &queue("orders", "broker-a", 0), offset);
        drop(fake);
        world.refresh().await;
        let page = list(&world.console.snapshot(), &GroupQuery::default());
        let expected = Millis(START - 600_000 + offset * 60_000);
        assert_eq!(page.rows[0].oldest_unread, Known::Known(Some(expected)), "at {offset}");
    }
}
