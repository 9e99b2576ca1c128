//! Deleting a group: what it would take away, then, with the name typed, every step on every broker with its outcome.

use futures::future::join_all;
use millrace_core::coverage::{Known, Missed};
use millrace_core::name::{DLQ_PREFIX, RETRY_PREFIX, is_system_group};
use serde::{Deserialize, Serialize};

use super::DEADLINE;
use super::detail::{brokers_of, not_there};
use crate::console::{Act, Console, Outcome, Outcomes};
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::within;
use crate::tally::Tally;

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeleteGroupForm {
    /// The group's name again.
    pub confirm: String,
    /// `1`: its dead letters go, too.
    pub dead_letters: String,
}

/// What deleting would take away.
#[derive(Debug, Clone)]
pub struct GroupDeletion {
    pub group: String,
    /// Brokers that have it, or keep offsets of it.
    pub brokers: Vec<String>,
    /// Brokers that did not say whether they have it: they are not asked to delete, and may keep it.
    pub unasked: Vec<Missed>,
    /// Topics that it has offsets on.
    pub topics: Vec<String>,
    pub lag: Option<Tally<i64>>,
    /// Brokers with its retry topic.
    pub retry: Vec<String>,
    /// Brokers with its dead-letter topic, and what lies there.
    pub dead: Vec<String>,
    pub dead_span: Option<Tally<i64>>,
    /// Clients that are online: they would make the group anew where brokers make groups by themselves.
    pub online: Known<usize>,
    pub name_servers: Vec<String>,
}

impl Console {
    /// # Errors
    /// `NotFound` when no broker is known to have it; `SystemGroup`.
    pub async fn group_deletion(&self, group: &str) -> Result<GroupDeletion> {
        if is_system_group(group) {
            return Err(ConsoleError::SystemGroup(group.to_owned()));
        }
        let snapshot = self.snapshot();
        let Some(state) = snapshot.group(group) else { return Err(not_there(group, &snapshot)) };
        let brokers = brokers_of(&snapshot, Some(state));
        let with = |prefix: &str| -> Vec<String> {
            let topic = snapshot.topic(&format!("{prefix}{group}"));
            topic.into_iter().flat_map(|topic| topic.brokers.iter().map(|place| place.broker.clone())).collect()
        };
        Ok(GroupDeletion {
            group: group.to_owned(),
            unasked: snapshot.coverage().missed.into_iter().filter(|missed| !brokers.contains(&missed.what)).collect(),
            topics: state.topics.iter().map(|on| on.topic.clone()).collect(),
            lag: state.lag.clone(),
            retry: with(RETRY_PREFIX),
            dead: with(DLQ_PREFIX),
            dead_span: state.dead.clone(),
            online: self.online(group, &brokers).await,
            name_servers: snapshot.name_servers.iter().map(|(address, _)| address.clone()).collect(),
            brokers,
        })
    }

    /// Deletes the group with its offsets on each broker, then its retry topic, and its dead letters where that was
    /// asked for. A step that fails stops no other.
    ///
    /// # Errors
    /// `Invalid` when the typed name is another; `ReadOnly`, `SystemGroup`, `NotFound`: nothing was deleted then.
    pub async fn delete_group(&self, who: &str, group: &str, form: &DeleteGroupForm) -> Result<Outcomes> {
        let write = self.write()?;
        let plan = self.group_deletion(group).await?;
        if form.confirm.trim() != group {
            return Err(FieldErrors::one("confirm", "confirm-mismatch").into());
        }
        let mut each = join_all(plan.brokers.iter().map(|broker| async move {
            let result = within(DEADLINE, broker, write.delete_group(broker, group)).await;
            Outcome { at: broker.clone(), error: result.err().map(|error| error.to_string()) }
        }))
        .await;
        let dead_letters = form.dead_letters == "1";
        let mut topics = vec![(format!("{RETRY_PREFIX}{group}"), &plan.retry)];
        if dead_letters {
            topics.push((format!("{DLQ_PREFIX}{group}"), &plan.dead));
        }
        for (topic, brokers) in topics.iter().filter(|(_, brokers)| !brokers.is_empty()) {
            each.extend(self.delete_topic_everywhere(topic, brokers, &plan.name_servers).await?);
        }
        let detail = serde_json::json!({
            "brokers": plan.brokers, "unasked": plan.unasked, "dead_letters": dead_letters,
        });
        let audit_error = self.audit(Act { who, action: "group.delete", target: group, detail }, &each).await;
        Ok(Outcomes { each, audit_error })
    }

    /// The route goes only when no broker keeps the topic.
    async fn delete_topic_everywhere(
        &self,
        topic: &str,
        brokers: &[String],
        name_servers: &[String],
    ) -> Result<Vec<Outcome>> {
        let write = self.write()?;
        let outcome = |at: &String, result: millrace_broker::Result<()>| Outcome {
            at: format!("{at} {topic}"),
            error: result.err().map(|error| error.to_string()),
        };
        let mut each = join_all(brokers.iter().map(|broker| async move {
            outcome(broker, within(DEADLINE, broker, write.delete_topic(broker, topic)).await)
        }))
        .await;
        if each.iter().all(|outcome| outcome.error.is_none()) {
            let routes = join_all(name_servers.iter().map(|address| async move {
                outcome(address, within(DEADLINE, address, write.delete_route(address, topic)).await)
            }))
            .await;
            each.extend(routes);
        }
        Ok(each)
    }
}
