//! Dead letters: listed with their origin, sent again once a press, each with its outcome.

use millrace_broker::fake::{Call, FakeClient, FakeCluster, FakeMessage, Fault, Forwarded};
use millrace_broker::{BrokerRead, Message, StoreStatus};
use millrace_console::ConsoleError;
use millrace_console::dead_letters::{ResendForm, ResendOutcome, ResentLetters};
use millrace_console::messages::{Browse, Limits};
use millrace_console::snapshot::KeeperOptions;
use tokio::time::Duration;

use crate::world::{World, queue};

const DEAD: &str = "%DLQ%billing";
const RETRY: &str = "%RETRY%billing";

/// Six orders that `billing` gave up; the first is gone by now.
fn given_up() -> FakeCluster {
    let mut fake = FakeCluster::new().broker("broker-a").topic("orders", 1).topic(DEAD, 1).group("billing");
    for number in 0..6 {
        let letter = FakeMessage::to(DEAD)
            .key(&format!("order-{number}"))
            .tag("web")
            .uniq_id(&format!("C0000207000118B4AAC20000006400{number:02X}"))
            .property("RETRY_TOPIC", "orders")
            .property("ORIGIN_MESSAGE_ID", "C000020100002A9F0000000000000001")
            .property("tenant", "north")
            .property("DELAY", "3")
            .body(format!("{{\"n\":{number}}}"))
            .reconsumed(16);
        fake = fake.message(letter);
    }
    fake.expire(&queue(DEAD, "broker-a", 0), 1);
    fake
}

fn press(attempt: &str, to: &str, offsets: impl IntoIterator<Item = i64>) -> ResendForm {
    ResendForm {
        attempt: attempt.to_owned(),
        target: to.to_owned(),
        places: offsets.into_iter().map(|offset| format!("broker-a/0/{offset}")).collect(),
        per_second: String::new(),
    }
}

async fn stored(fake: &FakeCluster, topic: &str) -> Vec<Message> {
    BrokerRead::pull(fake, &queue(topic, "broker-a", 0), 0, 32).await.map(|batch| batch.messages).unwrap_or_default()
}

fn words(sent: &ResentLetters) -> Vec<&'static str> {
    let word = |outcome: &ResendOutcome| match outcome {
        ResendOutcome::Sent { .. } => "sent",
        ResendOutcome::SentBefore { .. } => "before",
        ResendOutcome::Weakly { .. } => "weakly",
        ResendOutcome::InDoubt { .. } => "in doubt",
        ResendOutcome::DeadAgain => "dead again",
        ResendOutcome::Gone => "gone",
        ResendOutcome::Refused { .. } => "refused",
    };
    sent.each.iter().map(|(_, outcome)| word(outcome)).collect()
}

#[tokio::test(start_paused = true)]
async fn groups_with_dead_letters_are_listed_and_each_letter_says_where_it_is_from() {
    let fake = given_up().topic("%DLQ%shipping", 1);
    let world = World::of(&fake).await;
    let listed = world.console.dead_letter_groups();
    let rows: Vec<_> = listed.rows.iter().map(|row| (row.group.as_str(), row.topic.span.value())).collect();
    assert_eq!(rows, [("billing", Some(5)), ("shipping", Some(0))]);
    assert!(listed.rows[0].state.is_some() && listed.rows[1].state.is_none());

    world.console.resend("op", "billing", &press("press-0001", "group", [2])).await.unwrap();
    let told = world.console.dead_letters("billing", &Browse::Newest, 3, None, Limits::default()).await.unwrap();
    let offsets: Vec<i64> = told.page.rows.iter().map(|row| row.message.offset).collect();
    assert_eq!((offsets, told.page.total), (vec![5, 4, 3], 5));
    assert_eq!(told.letters[0].origin.topic.as_deref(), Some("orders"));
    assert_eq!(told.letters[0].origin.message_id.as_deref(), Some("C000020100002A9F0000000000000001"));
    let cursor = told.page.next.clone();
    let rest = world.console.dead_letters("billing", &Browse::Newest, 3, cursor, Limits::default()).await.unwrap();
    let again: Vec<Option<&str>> =
        rest.letters.iter().map(|letter| letter.resent.as_ref().map(|resent| resent.who.as_str())).collect();
    assert_eq!(again, [Some("op"), None]);
}

/// Five chosen: three go, one is stored without its replica, one is gone. Pressed again, nothing goes twice.
#[tokio::test(start_paused = true)]
async fn every_letter_has_its_outcome_and_a_second_press_sends_nothing_twice() {
    let fake = given_up();
    let world = World::of(&fake).await;
    let ok = Forwarded::As(StoreStatus::Ok);
    fake.next_forwards([ok, ok, Forwarded::As(StoreStatus::FlushSlaveTimeout), ok]);
    let form = press("press-0001", "group", [0, 1, 2, 3, 4]);
    let sent = world.console.resend("op", "billing", &form).await.unwrap();
    assert_eq!(words(&sent), ["gone", "sent", "sent", "weakly", "sent"]);
    assert_eq!((sent.done(), sent.audit_error.as_ref()), (3, None));
    let entry = &world.audit.entries()[0];
    assert_eq!((entry.action.as_str(), entry.target.as_str()), ("dead_letter.resend", "billing"));
    let troubles: Vec<bool> = entry.outcomes.iter().map(|outcome| outcome.error.is_some()).collect();
    assert_eq!(troubles, [true, false, false, true, false]);

    let again = world.console.resend("op", "billing", &form).await.unwrap();
    assert_eq!(words(&again), ["gone", "before", "before", "before", "before"], "the broker had the weak one");
    let retried = stored(&fake, RETRY).await;
    assert_eq!(retried.len(), 4);
    let first = &retried[0];
    assert_eq!(first.uniq_id.as_deref(), Some("C0000207000118B4AAC2000000640001"), "it is the same record");
    assert_eq!((first.tags(), first.keys().collect::<Vec<_>>()), (Some("web"), vec!["order-1"]));
    assert_eq!((first.property("RETRY_TOPIC"), first.property("tenant")), (Some("orders"), Some("north")));
    assert_eq!((first.property("DELAY"), first.reconsume_times), (None, 0));
    assert_eq!(first.property("millrace_resent"), Some("press-0001/broker-a/0/1"));

    // Who wants it once more presses a new button.
    let anew = world.console.resend("op", "billing", &press("press-0002", "group", [1])).await.unwrap();
    assert_eq!((words(&anew), stored(&fake, RETRY).await.len()), (vec!["sent"], 5));
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_a_doubt_that_the_broker_s_index_ends() {
    let fake = given_up();
    let world = World::of(&fake).await;
    fake.next_forwards([Forwarded::AnswerLost]);
    let form = press("press-0001", "group", [1]);
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["in doubt"]);
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["before"]);
    assert_eq!(stored(&fake, RETRY).await.len(), 1);

    // This one did not arrive. At first nobody knows; when the index would have it, it is sent.
    fake.fail_call("broker-a", Call::Forward, Fault::Silent(100));
    let form = press("press-0002", "group", [2]);
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["in doubt"]);
    fake.heal("broker-a");
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["in doubt"]);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["sent"]);
    assert_eq!(stored(&fake, RETRY).await.len(), 2);

    // One that was refused is nobody's: the same press sends it as soon as it may.
    let refusal = millrace_broker::BrokerError::NotPermitted { address: "192.0.2.1:10911".into(), remark: "no".into() };
    fake.fail_call("broker-a", Call::Forward, Fault::Answers(refusal));
    let form = press("press-0003", "group", [3]);
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["refused"]);
    fake.heal("broker-a");
    assert_eq!(words(&world.console.resend("op", "billing", &form).await.unwrap()), ["sent"]);
}

/// A broker takes a retry of a group that reads in order, says that it stored it, and puts it among the dead letters.
#[tokio::test(start_paused = true)]
async fn what_the_broker_puts_back_is_not_called_sent() {
    let fake = given_up();
    let world = World::of(&fake).await;
    fake.next_forwards([Forwarded::DeadAgain]);
    let sent = world.console.resend("op", "billing", &press("press-0001", "group", [1, 2])).await.unwrap();
    assert_eq!(words(&sent), ["dead again", "sent"]);
    assert_eq!((sent.done(), stored(&fake, RETRY).await.len()), (1, 1));
    assert_eq!(fake.bounds(&queue(DEAD, "broker-a", 0)).await.unwrap(), (1, 7), "one more than before");
}

#[tokio::test(start_paused = true)]
async fn to_its_topic_it_goes_as_a_new_message() {
    let fake = given_up();
    let world = World::of(&fake).await;
    let sent = world.console.resend("op", "billing", &press("press-0001", "topic", [1])).await.unwrap();
    assert_eq!(words(&sent), ["sent"]);
    let orders = stored(&fake, "orders").await;
    let new = &orders[0];
    assert_ne!(new.uniq_id.as_deref(), Some("C0000207000118B4AAC2000000640001"));
    assert_eq!((new.tags(), new.keys().collect::<Vec<_>>()), (Some("web"), vec!["order-1"]));
    assert_eq!(
        (new.property("tenant"), new.property("DELAY"), new.property("RETRY_TOPIC")),
        (Some("north"), None, None)
    );
    assert!(stored(&fake, RETRY).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_sent_again_is_refused_with_the_reason() {
    let fake = given_up().online(&FakeClient::of("billing", "billing-1").subscribed("orders", "*").pop());
    let stray = fake.append(FakeMessage::to(DEAD).key("order-9").body("{}"));
    let world = World::of(&fake).await;
    let refused = world.console.resend("op", "billing", &press("press-0001", "group", [1])).await;
    let Err(ConsoleError::Invalid(errors)) = refused else { panic!("{refused:?}") };
    assert_eq!(errors.0[0].code, "resend-pop", "POP clients do not read this retry topic");
    let sent = world.console.resend("op", "billing", &press("press-0001", "topic", [stray.offset])).await.unwrap();
    assert_eq!(words(&sent), ["refused"], "it does not name its topic");
    let nobody = world.console.resend("op", "nobody", &press("press-0001", "topic", [0])).await;
    assert!(matches!(nobody, Err(ConsoleError::NotFound(_))), "{nobody:?}");
    let elsewhere = ResendForm { places: vec!["broker-z/0/1".into()], ..press("press-0001", "topic", []) };
    let refused = world.console.resend("op", "billing", &elsewhere).await;
    assert!(matches!(refused, Err(ConsoleError::Invalid(_))), "{refused:?}");
    let read_only = World::with(fake.read_only(), KeeperOptions::default()).await;
    let refused = read_only.console.resend("op", "billing", &press("press-0001", "topic", [1])).await;
    assert!(matches!(refused, Err(ConsoleError::ReadOnly(_))), "{refused:?}");
}
