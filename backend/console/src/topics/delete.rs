//! Deleting a topic: what it would take away, then, with the name typed, the act on each broker and name server.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use millrace_core::coverage::Missed;
use millrace_core::name::TopicKind;
use serde::{Deserialize, Serialize};

use crate::console::{Act, Console, Outcome, Outcomes};
use crate::error::{ConsoleError, Result};
use crate::form::FieldErrors;
use crate::snapshot::{GroupOnTopic, within};
use crate::tally::Tally;

/// For each call to a broker or name server.
const DEADLINE: Duration = Duration::from_secs(5);

/// As typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeleteForm {
    /// The topic's name again.
    pub confirm: String,
    /// Empty: on all of them.
    pub brokers: Vec<String>,
}

/// What deleting would take away.
#[derive(Debug, Clone)]
pub struct DeletionPlan {
    pub topic: String,
    pub kind: TopicKind,
    /// Brokers that have it.
    pub brokers: Vec<String>,
    /// Brokers that did not say whether they have it: they are not asked to delete, and may keep it.
    pub unasked: Vec<Missed>,
    pub span: Option<Tally<i64>>,
    pub readers: Vec<Arc<GroupOnTopic>>,
    pub name_servers: Vec<String>,
}

impl Console {
    /// # Errors
    /// `NotFound` when no broker is known to have the topic; `SystemTopic`.
    pub async fn deletion_plan(&self, topic: &str) -> Result<DeletionPlan> {
        let kind = TopicKind::of(topic);
        if kind == TopicKind::System {
            return Err(ConsoleError::SystemTopic(topic.to_owned()));
        }
        let snapshot = self.snapshot();
        let state = snapshot.topic(topic);
        let route = within(DEADLINE, "the name servers", self.read().route(topic)).await;
        let brokers: Vec<String> =
            self.brokers_of(topic, state.map(AsRef::as_ref), route.as_ref().ok()).into_iter().collect();
        if brokers.is_empty() {
            return Err(match route {
                Err(error) => error.into(),
                Ok(_) => ConsoleError::NotFound(format!("topic {topic}")),
            });
        }
        let unasked = snapshot.coverage().missed.into_iter().filter(|missed| !brokers.contains(&missed.what)).collect();
        Ok(DeletionPlan {
            topic: topic.to_owned(),
            kind,
            brokers,
            unasked,
            span: state.map(|state| state.span.clone()),
            readers: state.map(|state| state.groups.clone()).unwrap_or_default(),
            name_servers: snapshot.name_servers.iter().map(|(address, _)| address.clone()).collect(),
        })
    }

    /// Deletes the topic on each broker, then its route on each name server.
    ///
    /// # Errors
    /// `Invalid` when the typed name is another; `ReadOnly`, `SystemTopic`, `NotFound`: nothing was deleted then.
    pub async fn delete_topic(&self, who: &str, topic: &str, form: &DeleteForm) -> Result<Outcomes> {
        let write = self.write()?;
        let plan = self.deletion_plan(topic).await?;
        let mut errors = FieldErrors::default();
        if form.confirm.trim() != topic {
            errors.add("confirm", "confirm-mismatch");
        }
        for broker in form.brokers.iter().filter(|broker| !plan.brokers.contains(broker)) {
            errors.add_with("brokers", "broker-without-topic", vec![("broker", broker.clone())]);
        }
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let chosen: Vec<&String> =
            plan.brokers.iter().filter(|broker| form.brokers.is_empty() || form.brokers.contains(broker)).collect();
        let mut each = join_all(chosen.iter().map(|broker| async move {
            let result = within(DEADLINE, broker, write.delete_topic(broker, topic)).await;
            Outcome { at: (*broker).clone(), error: result.err().map(|error| error.to_string()) }
        }))
        .await;
        let kept: Vec<&str> = plan
            .brokers
            .iter()
            .filter(|broker| !each.iter().any(|outcome| outcome.at == **broker && outcome.error.is_none()))
            .map(String::as_str)
            .collect();
        if kept.is_empty() {
            let name_servers = join_all(plan.name_servers.iter().map(|address| async move {
                let result = within(DEADLINE, address, write.delete_route(address, topic)).await;
                Outcome { at: address.clone(), error: result.err().map(|error| error.to_string()) }
            }))
            .await;
            each.extend(name_servers);
        } else if chosen.len() == plan.brokers.len() {
            // A broker that still has the topic would announce it again, and its clients need the route.
            let why = format!("the route stays: {} still has the topic", kept.join(", "));
            each.extend(plan.name_servers.iter().map(|at| Outcome { at: at.clone(), error: Some(why.clone()) }));
        }
        let detail = serde_json::json!({ "brokers": chosen, "unasked": plan.unasked });
        let audit_error = self.audit(Act { who, action: "topic.delete", target: topic, detail }, &each).await;
        Ok(Outcomes { each, audit_error })
    }
}
