//! Sending dead letters again: to the group that gave them up, or to their topic for everybody. Each is claimed first,
//! so that one press of a button sends it once, however often it is repeated.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use millrace_broker::{BrokerError, Message, MessageToForward, MessageToSend, SendReceipt, StoreStatus};
use millrace_core::name::{DLQ_PREFIX, QueueRef, RETRY_PREFIX, is_system_group};
use millrace_core::time::Millis;
use millrace_store::{Claim, Resend};
use serde::{Deserialize, Serialize};

use super::MARK;
use super::letter::Origin;
use crate::console::{Act, Console, Outcome};
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::within;
use crate::topics::is_reserved;

/// For each call to a broker.
const DEADLINE: Duration = Duration::from_secs(10);
/// The most that one request sends again.
pub const MAX_AT_ONCE: usize = 1_000;
/// Sends a second, unless asked otherwise.
const PER_SECOND: u32 = 50;
/// How long a broker may need to index a message: before that, not finding it says nothing.
const INDEXED_AFTER_MS: i64 = 10_000;
/// How often it is looked for what was just stored, and how long between.
const READ_BACK: usize = 40;
const READ_BACK_EVERY: Duration = Duration::from_millis(25);
/// How far clocks may differ.
const CLOCKS_MS: i64 = 60_000;

/// Properties that would make a broker delay a message, take it for half of a transaction, or not give it at all.
const LEFT_BEHIND: [&str; 15] = [
    "DELAY",
    "TIMER_DELIVER_MS",
    "TIMER_DELAY_MS",
    "TIMER_DELAY_SEC",
    "TIMER_OUT_MS",
    "TRAN_MSG",
    "REAL_TOPIC",
    "REAL_QID",
    "MIN_OFFSET",
    "MAX_OFFSET",
    "CONSUME_START_TIME",
    "POP_CK",
    "POP_CK_OFFSET",
    "1ST_POP_TIME",
    MARK,
];

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResendForm {
    /// Names this press of the button: what was sent with it is not sent with it again.
    pub attempt: String,
    /// `group` or `topic`.
    pub target: String,
    /// `broker/queue/offset` of each.
    pub places: Vec<String>,
    /// At most so many a second; empty for 50.
    pub per_second: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResendTo {
    /// Its retry topic: nobody else gets it.
    Group,
    /// The topic that it came from, as a new message: every group of it does.
    Topic,
}

/// Where a dead letter lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub broker: String,
    pub queue: i32,
    pub offset: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.broker, self.queue, self.offset)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.rsplitn(3, '/');
        let offset = parts.next().and_then(|part| part.parse().ok()).filter(|offset: &i64| *offset >= 0).ok_or(())?;
        let queue = parts.next().and_then(|part| part.parse().ok()).filter(|queue: &i32| *queue >= 0).ok_or(())?;
        let broker = parts.next().filter(|part| !part.is_empty()).ok_or(())?.to_owned();
        Ok(Self { broker, queue, offset })
    }
}

/// What became of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResendOutcome {
    Sent {
        message_id: String,
    },
    /// This press had sent it already.
    SentBefore {
        at: Millis,
        message_id: String,
    },
    /// The broker has it, and said what did not follow in time.
    Weakly {
        status: StoreStatus,
        message_id: String,
    },
    /// It may have been sent: the same press later finds out.
    InDoubt {
        why: String,
    },
    /// The broker put it among the dead letters once more, as it does for groups that read in order.
    DeadAgain,
    /// Retention removed it, or it never was there.
    Gone,
    /// It was not sent.
    Refused {
        why: String,
    },
}

impl ResendOutcome {
    /// Whether nothing is left to do for it.
    pub fn done(&self) -> bool {
        matches!(self, Self::Sent { .. } | Self::SentBefore { .. })
    }

    /// What the audit trail says of it; `None`: it worked.
    fn trouble(&self) -> Option<String> {
        match self {
            Self::Sent { .. } | Self::SentBefore { .. } => None,
            Self::Weakly { status, .. } => Some(format!("stored, but {}", status.code())),
            Self::InDoubt { why } => Some(format!("in doubt: {why}")),
            Self::DeadAgain => Some("the broker put it among the dead letters once more".to_owned()),
            Self::Gone => Some("it is not there".to_owned()),
            Self::Refused { why } => Some(why.clone()),
        }
    }
}

/// What became of all, in the order of the request.
#[derive(Debug)]
pub struct ResentLetters {
    pub each: Vec<(Place, ResendOutcome)>,
    /// Why the audit trail does not have it.
    pub audit_error: Option<String>,
}

impl ResentLetters {
    pub fn done(&self) -> usize {
        self.each.iter().filter(|(_, outcome)| outcome.done()).count()
    }
}

/// A request that was understood.
#[derive(Debug)]
struct Order {
    group: String,
    attempt: String,
    to: ResendTo,
    places: Vec<Place>,
    pause: Duration,
}

impl ResendForm {
    fn parse(&self, group: &str) -> std::result::Result<Order, FieldErrors> {
        let mut errors = FieldErrors::default();
        let attempt = self.attempt.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(8..=64).contains(&attempt.len()) || !attempt.chars().all(plain) {
            errors.add("attempt", "attempt-odd");
        }
        let to = match self.target.as_str() {
            "group" => ResendTo::Group,
            "topic" => ResendTo::Topic,
            _ => {
                errors.add("target", "resend-target");
                ResendTo::Group
            }
        };
        let mut places: Vec<Place> = Vec::new();
        for text in &self.places {
            match text.parse::<Place>() {
                Ok(place) if places.contains(&place) => {}
                Ok(place) => places.push(place),
                Err(()) => errors.add_with("places", "place-odd", vec![("place", text.clone())]),
            }
        }
        if self.places.is_empty() {
            errors.add("places", "places-none");
        } else if self.places.len() > MAX_AT_ONCE {
            errors.add_with("places", "places-many", vec![("max", MAX_AT_ONCE.to_string())]);
        }
        let per_second = match self.per_second.trim() {
            "" => Some(PER_SECOND),
            text => text.parse().ok().filter(|rate| (1..=1_000).contains(rate)),
        };
        if per_second.is_none() {
            errors.add("per_second", "rate-odd");
        }
        let pause = Duration::from_secs(1) / per_second.unwrap_or(PER_SECOND);
        errors.or(Some(Order { group: group.to_owned(), attempt: attempt.to_owned(), to, places, pause }))
    }
}

impl Console {
    /// Sends dead letters of a group again, one after the other, and goes on although the caller may have gone away.
    ///
    /// # Errors
    /// `Invalid`, `ReadOnly`, `SystemGroup`, `NotFound`: nothing was sent then.
    pub async fn resend(&self, who: &str, group: &str, form: &ResendForm) -> Result<ResentLetters> {
        self.sender()?;
        if is_system_group(group) {
            return Err(ConsoleError::SystemGroup(group.to_owned()));
        }
        let topic = format!("{DLQ_PREFIX}{group}");
        let route = within(DEADLINE, "the name servers", self.read().route(&topic)).await;
        let brokers = self.brokers_of(&topic, None, route.as_ref().ok());
        if brokers.is_empty() {
            return Err(route.err().map_or_else(|| ConsoleError::NotFound(format!("topic {topic}")), Into::into));
        }
        let order = form.parse(group)?;
        let mut errors = FieldErrors::default();
        for place in order.places.iter().filter(|place| !brokers.contains(&place.broker)) {
            errors.add_with("places", "broker-without-topic", vec![("broker", place.broker.clone())]);
        }
        let snapshot = self.snapshot();
        let pop = snapshot.group(group).is_some_and(|state| state.clients.consume_type == "CONSUME_POP");
        if order.to == ResendTo::Group && pop {
            errors.add("target", "resend-pop");
        }
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let (console, who) = (self.clone(), who.to_owned());
        let work = tokio::spawn(async move { console.resend_all(&who, order).await });
        match work.await {
            Ok(sent) => sent,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    async fn resend_all(&self, who: &str, order: Order) -> Result<ResentLetters> {
        let mut each = Vec::with_capacity(order.places.len());
        let mut pace = tokio::time::interval(order.pause);
        for place in &order.places {
            pace.tick().await;
            each.push((place.clone(), self.resend_one(who, &order, place).await));
        }
        let outcomes: Vec<Outcome> =
            each.iter().map(|(place, outcome)| Outcome { at: place.to_string(), error: outcome.trouble() }).collect();
        let to = if order.to == ResendTo::Group { "group" } else { "topic" };
        let detail = serde_json::json!({ "attempt": order.attempt, "to": to, "messages": order.places.len() });
        let act = Act { who, action: "dead_letter.resend", target: &order.group, detail };
        let audit_error = self.audit(act, &outcomes).await;
        Ok(ResentLetters { each, audit_error })
    }

    async fn resend_one(&self, who: &str, order: &Order, place: &Place) -> ResendOutcome {
        let topic = format!("{DLQ_PREFIX}{}", order.group);
        let queue = QueueRef { topic, broker: place.broker.clone(), queue: place.queue };
        let pulled = within(DEADLINE, &place.broker, self.read().pull(&queue, place.offset, 1)).await;
        let letter = match pulled {
            Ok(batch) => match batch.messages.into_iter().find(|message| message.offset == place.offset) {
                Some(letter) => letter,
                None => return ResendOutcome::Gone,
            },
            Err(BrokerError::NotFound(_)) => return ResendOutcome::Gone,
            Err(error) => return ResendOutcome::Refused { why: error.to_string() },
        };
        let resend =
            Resend { cluster: self.name().to_owned(), attempt: order.attempt.clone(), queue, offset: place.offset };
        let job = match Job::of(order, place, letter) {
            Ok(job) => job,
            Err(why) => return ResendOutcome::Refused { why },
        };
        match self.resends().claim(&resend, who, self.now()).await {
            Ok(Claim::Ours) => {}
            Ok(Claim::Sent { at, message_id }) => return ResendOutcome::SentBefore { at, message_id },
            Ok(Claim::Begun { at }) => match self.arrived(&job, at).await {
                Ok(Some(message_id)) => {
                    let noted = self.resends().sent(&resend, &message_id).await;
                    tell(noted, "a message that had been sent again could not be noted");
                    return ResendOutcome::SentBefore { at, message_id };
                }
                Ok(None) => {}
                Err(why) => return ResendOutcome::InDoubt { why },
            },
            Err(error) => return ResendOutcome::Refused { why: error.to_string() },
        }
        match self.deliver(&job).await {
            Ok(receipt) if receipt.status == StoreStatus::Ok => {
                match self.lies_there(&job, &receipt).await {
                    Ok(true) => {}
                    Ok(false) => {
                        tell(self.resends().release(&resend).await, "a message that was not sent again stays claimed");
                        return ResendOutcome::DeadAgain;
                    }
                    Err(why) => return ResendOutcome::InDoubt { why },
                }
                let noted = self.resends().sent(&resend, &receipt.message_id).await;
                tell(noted, "a message that was sent again could not be noted");
                ResendOutcome::Sent { message_id: receipt.message_id }
            }
            Ok(receipt) => ResendOutcome::Weakly { status: receipt.status, message_id: receipt.message_id },
            Err(error) if error.refused() => {
                tell(self.resends().release(&resend).await, "a message that was not sent again stays claimed");
                ResendOutcome::Refused { why: error.to_string() }
            }
            Err(error) => ResendOutcome::InDoubt { why: error.to_string() },
        }
    }

    async fn deliver(&self, job: &Job) -> millrace_broker::Result<SendReceipt> {
        let sender = self.sender().map_err(|error| BrokerError::Invalid(error.to_string()))?;
        match &job.message {
            Sending::Forward(message) => {
                within(DEADLINE, &job.broker, sender.forward(&job.broker, message.clone())).await
            }
            Sending::AsNew(message) => within(DEADLINE, &job.topic, sender.send(message.clone())).await,
        }
    }

    /// Whether what was forwarded lies where the broker says that it does. Brokers move what comes to the retry topic of
    /// a group that reads in order to its dead letters, and do not say so.
    async fn lies_there(&self, job: &Job, receipt: &SendReceipt) -> std::result::Result<bool, String> {
        if matches!(job.message, Sending::AsNew(_)) {
            return Ok(true);
        }
        for _ in 0..READ_BACK {
            let pulled = within(DEADLINE, &job.broker, self.read().pull(&receipt.queue, receipt.offset, 1)).await;
            match pulled.map(|batch| batch.messages.into_iter().find(|message| message.offset == receipt.offset)) {
                Ok(Some(message)) => return Ok(message.property(MARK) == Some(&job.mark)),
                // It is in the log, and not in the queue yet.
                Ok(None) => tokio::time::sleep(READ_BACK_EVERY).await,
                Err(BrokerError::NotFound(_)) => return Ok(false),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(false)
    }

    /// The id of what a send that was begun at `begun` stored; `None`: it stored nothing.
    async fn arrived(&self, job: &Job, begun: Millis) -> std::result::Result<Option<String>, String> {
        let (from, to) = (begun.plus(-CLOCKS_MS), self.now().plus(CLOCKS_MS));
        let mut found = Vec::new();
        match &job.message {
            Sending::Forward(_) => {
                let id = job.id.as_deref().ok_or("it has no id to look it up by")?;
                let look_up = self.read().messages_by_uniq_id(&job.broker, &job.topic, id, from, to);
                found = match within(DEADLINE, &job.broker, look_up).await {
                    Ok(messages) => messages,
                    Err(BrokerError::NotFound(_)) => Vec::new(),
                    Err(error) => return Err(error.to_string()),
                };
            }
            Sending::AsNew(message) => {
                let key = message.keys.first().ok_or("it has no key to look it up by")?;
                let route = within(DEADLINE, "the name servers", self.read().route(&job.topic)).await;
                for broker in self.brokers_of(&job.topic, None, route.as_ref().ok()) {
                    let look_up = self.read().messages_by_key(&broker, &job.topic, key, from, to);
                    match within(DEADLINE, &broker, look_up).await {
                        Ok(hits) => found.extend(hits.messages),
                        Err(BrokerError::NotFound(_)) => {}
                        Err(error) => return Err(error.to_string()),
                    }
                }
            }
        }
        match found.iter().find(|message| message.property(MARK) == Some(&job.mark)) {
            Some(message) => Ok(Some(message.id().to_owned())),
            None if self.now().since(begun) < INDEXED_AFTER_MS => {
                Err("it was sent a moment ago, and its broker may not have indexed it".to_owned())
            }
            None => Ok(None),
        }
    }
}

/// The act is done: what could not be written down is told and changes nothing.
fn tell(written: millrace_store::Result<()>, what: &str) {
    if let Err(error) = written {
        tracing::error!(%error, "{what}");
    }
}

/// One message on its way.
#[derive(Debug)]
struct Job {
    broker: String,
    /// Where it goes.
    topic: String,
    /// The unique id of the dead letter.
    id: Option<String>,
    mark: String,
    message: Sending,
}

#[derive(Debug)]
enum Sending {
    Forward(MessageToForward),
    AsNew(MessageToSend),
}

impl Job {
    fn of(order: &Order, place: &Place, letter: Message) -> std::result::Result<Self, String> {
        if let Some(why) = &letter.body.inflate_error {
            return Err(format!("its body cannot be inflated: {why}"));
        }
        let origin = Origin::of(&letter).topic.ok_or("it does not say which topic it came from")?;
        let mark = format!("{}/{place}", order.attempt);
        let marked = (MARK.to_owned(), mark.clone());
        let id = letter.uniq_id.clone();
        let (topic, message) = match order.to {
            ResendTo::Group => {
                let topic = format!("{RETRY_PREFIX}{}", order.group);
                let kept = letter.properties.into_iter();
                let kept = kept.filter(|(name, _)| name != "RETRY_TOPIC" && !LEFT_BEHIND.contains(&name.as_str()));
                let properties = kept.chain([("RETRY_TOPIC".to_owned(), origin), marked]).collect();
                let (flag, body) = (letter.flag, letter.body.bytes);
                (topic.clone(), Sending::Forward(MessageToForward { topic, flag, properties, body }))
            }
            ResendTo::Topic => {
                let keys = letter.keys().map(str::to_owned).collect();
                let tags = letter.tags().map(str::to_owned);
                let kept = letter.properties.into_iter();
                let kept = kept.filter(|(name, value)| !is_reserved(name) && name != MARK && !value.is_empty());
                let properties = kept.chain([marked]).collect();
                let message = MessageToSend {
                    topic: origin.clone(),
                    tags,
                    keys,
                    properties,
                    body: letter.body.bytes,
                    queue: None,
                };
                (origin, Sending::AsNew(message))
            }
        };
        Ok(Self { broker: place.broker.clone(), topic, id, mark, message })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{Place, ResendForm};

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for text in ["broker-a/0/17", "rack/1/0/3"] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        for odd in ["", "broker-a", "broker-a/0", "/0/1", "broker-a/-1/3", "broker-a/0/-3", "broker-a/x/1"] {
            assert!(odd.parse::<Place>().is_err(), "{odd}");
        }
    }

    #[test]
    fn every_error_of_a_form_is_told() {
        let form = ResendForm {
            attempt: "short".into(),
            target: "all".into(),
            places: vec!["x".into()],
            per_second: "0".into(),
        };
        let errors = form.parse("billing").unwrap_err();
        let fields: Vec<&str> = errors.0.iter().map(|error| error.field).collect();
        assert_eq!(fields, ["attempt", "target", "places", "per_second"]);
        let twice = vec!["broker-a/0/1".to_owned(), "broker-a/0/1".to_owned()];
        let form = ResendForm { attempt: "press-0001".into(), target: "group".into(), places: twice, ..form };
        let form = ResendForm { per_second: String::new(), ..form };
        assert_eq!(form.parse("billing").unwrap().places.len(), 1, "chosen twice is chosen once");
    }
}
