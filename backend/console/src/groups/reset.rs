//! Setting where a group goes on reading. First a preview, queue by queue: from where to where, what is read again and what
//! is skipped. Then the act, which is refused when the group has moved since, and reads back what the brokers keep.

use futures::future::join_all;
use jiff::tz::TimeZone;
use millrace_core::coverage::{Coverage, Known, Why};
use millrace_core::name::{QueueRef, is_system_group};
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::DEADLINE;
use super::detail::{brokers_of, not_there};
use crate::console::{Act, Console, Outcome, Outcomes};
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::messages::Instant;
use crate::snapshot::within;

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResetForm {
    pub topic: String,
    /// `broker/3` for one queue; empty for all.
    pub queue: String,
    /// `earliest`, `latest`, `time` or `offset`.
    pub to: String,
    /// For `time`.
    pub time: String,
    /// For `offset`, which needs one queue.
    pub offset: String,
    /// What the preview showed: [`ResetPlan::seen`].
    pub seen: String,
    /// `1`: also if the group moves while it is set, because clients are consuming.
    pub moving: String,
}

/// Where the group shall go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "to", content = "at", rename_all = "snake_case")]
pub enum ResetTo {
    Earliest,
    Latest,
    /// The first message stored at or after it.
    Time(Millis),
    Offset(i64),
}

/// What would happen to each queue.
#[derive(Debug, Clone, PartialEq)]
pub struct ResetPlan {
    pub group: String,
    pub topic: String,
    pub to: ResetTo,
    pub queues: Vec<QueueReset>,
    /// Clients that are online: they go on from the new offsets.
    pub online: Known<usize>,
    /// The offsets that this plan rests on. The act takes it back, and refuses when they have changed.
    pub seen: String,
    pub coverage: Coverage,
}

/// One queue of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueReset {
    pub queue: QueueRef,
    pub min: i64,
    /// One past the highest.
    pub max: i64,
    /// `None`: the group never committed here.
    pub committed: Option<i64>,
    pub target: i64,
}

impl QueueReset {
    /// Messages that the group would get again.
    pub fn again(&self) -> i64 {
        self.committed.map_or(0, |committed| committed.min(self.max).saturating_sub(self.target).max(0))
    }

    /// Messages that it would never get. Without a committed offset it is not known from where it would begin.
    pub fn skipped(&self) -> Option<i64> {
        let from = self.committed?.max(self.min);
        Some(self.target.saturating_sub(from).max(0))
    }

    pub fn changes(&self) -> bool {
        self.committed != Some(self.target)
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Resets {
    /// Each queue with the offset that its broker keeps now.
    pub queues: Vec<(QueueReset, Known<Option<i64>>)>,
    pub outcomes: Outcomes,
}

/// Why it was not done.
#[derive(Debug)]
pub enum ResetRefused {
    /// The group has moved since the preview; this is what would happen now.
    Moved(Box<ResetPlan>),
    Console(ConsoleError),
}

impl From<ConsoleError> for ResetRefused {
    fn from(error: ConsoleError) -> Self {
        Self::Console(error)
    }
}

impl Console {
    /// What setting the offsets would do. Nothing is changed.
    ///
    /// # Errors
    /// `Invalid`, `SystemGroup`, `NotFound`; a broker's error when none answered.
    pub async fn reset_plan(&self, group: &str, form: &ResetForm, zone: &TimeZone) -> Result<ResetPlan> {
        if is_system_group(group) {
            return Err(ConsoleError::SystemGroup(group.to_owned()));
        }
        let snapshot = self.snapshot();
        let Some(state) = snapshot.group(group) else { return Err(not_there(group, &snapshot)) };
        let (to, one) = parse(form, zone, self.now())?;
        let topic = form.topic.trim();
        let Some(known) = snapshot.topic(topic) else {
            return Err(FieldErrors::one("topic", "topic-unknown").into());
        };
        let brokers: Vec<&String> = known.brokers.iter().map(|place| &place.broker).collect();
        let mut coverage = Coverage::default();
        let mut queues = Vec::new();
        let answers = join_all(
            brokers
                .iter()
                .map(|broker| async move { within(DEADLINE, broker, self.read().topic_stats(broker, topic)).await }),
        )
        .await;
        let mut failed = None;
        for (broker, answer) in brokers.iter().zip(answers) {
            match answer {
                Ok(stats) => {
                    coverage.answer();
                    queues.extend(stats.into_iter().filter(|stats| {
                        one.as_ref().is_none_or(|(at, queue)| *at == stats.queue.broker && *queue == stats.queue.queue)
                    }));
                }
                Err(error) => {
                    coverage.miss(*broker, &error);
                    failed = Some(error);
                }
            }
        }
        let planned = join_all(queues.iter().map(|stats| self.plan_queue(group, stats, to))).await;
        let mut plan = Vec::new();
        for (stats, planned) in queues.iter().zip(planned) {
            match planned {
                Ok(queue) => plan.push(queue),
                Err(error) => {
                    coverage.miss(stats.queue.to_string(), &error);
                    failed = Some(error);
                }
            }
        }
        match (plan.is_empty(), failed, &one) {
            (true, Some(error), _) => return Err(error.into()),
            (true, None, Some(_)) => return Err(FieldErrors::one("queue", "queue-missing").into()),
            (false, ..) | (true, None, None) => {}
        }
        if let (ResetTo::Offset(offset), Some(queue)) = (to, plan.first())
            && !(queue.min..=queue.max).contains(&offset)
        {
            let mut errors = FieldErrors::default();
            let args = vec![("min", queue.min.to_string()), ("max", queue.max.to_string())];
            errors.add_with("offset", "number-range", args);
            return Err(errors.into());
        }
        let at = brokers_of(&snapshot, Some(state));
        plan.sort_by(|a, b| a.queue.cmp(&b.queue));
        Ok(ResetPlan {
            group: group.to_owned(),
            topic: topic.to_owned(),
            to,
            seen: seen(&plan),
            queues: plan,
            online: self.online(group, &at).await,
            coverage,
        })
    }

    /// Sets the offsets of a plan that was seen.
    ///
    /// # Errors
    /// [`ResetRefused::Moved`] when the group has moved since; what [`Self::reset_plan`] may say; `ReadOnly`.
    pub async fn reset(
        &self,
        who: &str,
        group: &str,
        form: &ResetForm,
        zone: &TimeZone,
    ) -> std::result::Result<Resets, ResetRefused> {
        let write = self.write()?;
        let plan = self.reset_plan(group, form, zone).await?;
        if plan.seen != form.seen && form.moving != "1" {
            return Err(ResetRefused::Moved(Box::new(plan)));
        }
        let done = join_all(plan.queues.iter().map(|queue| async move {
            let place = &queue.queue;
            let result = within(DEADLINE, &place.broker, write.reset_offset(group, place, queue.target)).await;
            let now = within(DEADLINE, &place.broker, self.tail().committed(group, place)).await;
            let outcome = Outcome { at: place.to_string(), error: result.err().map(|error| error.to_string()) };
            (outcome, (queue.clone(), Known::from(now)))
        }))
        .await;
        let (each, queues): (Vec<Outcome>, Vec<_>) = done.into_iter().unzip();
        let detail = serde_json::json!({ "topic": plan.topic, "to": plan.to, "queues": plan.queues });
        let audit_error = self.audit(Act { who, action: "group.reset", target: group, detail }, &each).await;
        Ok(Resets { queues, outcomes: Outcomes { each, audit_error } })
    }

    async fn plan_queue(
        &self,
        group: &str,
        stats: &millrace_broker::QueueStats,
        to: ResetTo,
    ) -> millrace_broker::Result<QueueReset> {
        let queue = &stats.queue;
        let call = async {
            let committed = self.tail().committed(group, queue).await?;
            let target = match to {
                ResetTo::Earliest => stats.min,
                ResetTo::Latest => stats.max,
                ResetTo::Time(time) => self.read().offset_at(queue, time).await?.clamp(stats.min, stats.max),
                ResetTo::Offset(offset) => offset,
            };
            Ok((committed, target))
        };
        let (committed, target) = within(DEADLINE, &queue.broker, call).await?;
        Ok(QueueReset { queue: queue.clone(), min: stats.min, max: stats.max, committed, target })
    }

    pub(super) async fn online(&self, group: &str, brokers: &[String]) -> Known<usize> {
        let answers =
            join_all(brokers.iter().map(|broker| within(DEADLINE, broker, self.read().consumers(broker, group)))).await;
        let mut ids = std::collections::BTreeSet::new();
        for answer in answers {
            match answer {
                Ok(connection) => ids.extend(connection.clients.into_iter().map(|client| client.client_id)),
                Err(millrace_broker::BrokerError::NotFound(_)) => {}
                Err(error) => return Known::Unknown(Why::from(&error)),
            }
        }
        Known::Known(ids.len())
    }
}

/// Where to, and the one queue if one is named.
fn parse(
    form: &ResetForm,
    zone: &TimeZone,
    now: Millis,
) -> std::result::Result<(ResetTo, Option<(String, i32)>), FieldErrors> {
    let mut errors = FieldErrors::default();
    let one = match form.queue.trim() {
        "" => None,
        text => {
            let place =
                text.rsplit_once('/').and_then(|(broker, queue)| Some((broker.to_owned(), queue.parse().ok()?)));
            if place.is_none() {
                errors.add("queue", "queue-missing");
            }
            place
        }
    };
    let to = match form.to.trim() {
        "earliest" => Some(ResetTo::Earliest),
        "latest" => Some(ResetTo::Latest),
        "time" => match Instant::parse(form.time.trim(), zone, now) {
            Ok(instant) => Some(ResetTo::Time(instant.at)),
            Err(error) => {
                errors.add("time", error.code());
                None
            }
        },
        "offset" => {
            if form.queue.trim().is_empty() {
                errors.add("queue", "queue-needed");
            }
            let offset = form.offset.trim().parse().ok();
            if offset.is_none() {
                errors.add("offset", "number-unreadable");
            }
            offset.map(ResetTo::Offset)
        }
        _ => {
            errors.add("to", "reset-to-unknown");
            None
        }
    };
    errors.or(to.map(|to| (to, one)))
}

/// The offsets of a plan as a text that goes through a form.
fn seen(queues: &[QueueReset]) -> String {
    let each = queues.iter().map(|queue| {
        let committed = queue.committed.map_or_else(|| "-".to_owned(), |offset| offset.to_string());
        format!("{}/{}:{committed}>{}", queue.queue.broker, queue.queue.queue, queue.target)
    });
    each.collect::<Vec<_>>().join(",")
}
