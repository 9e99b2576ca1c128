//! A group's configuration: what is typed becomes a value that RocketMQ accepts, then each broker is asked, and each
//! outcome told and written to the audit trail.

use futures::future::join_all;
use millrace_broker::GroupConfig;
use millrace_core::name::{GROUP_MAX_LENGTH, GroupName, NameError};
use serde::{Deserialize, Serialize};

use super::DEADLINE;
use crate::console::{Act, Console, Outcome, Outcomes};
use crate::error::{ConsoleError, Result};
use crate::form::{FieldErrors, chosen_brokers};
use crate::snapshot::{GroupState, Snapshot, within};

/// More retries than this are a slip of the keyboard; RocketMQ gives 16.
const MAX_RETRIES: i32 = 1_000;
const MAX_RETRY_QUEUES: i32 = 128;

/// As typed. A switch is on when it is `1`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupForm {
    pub name: String,
    /// Off: its clients get nothing until it is on again.
    pub consume: String,
    pub broadcast: String,
    pub orderly: String,
    /// Deliveries after the first until a message becomes a dead letter; −1: the clients decide.
    pub retry_max: String,
    pub retry_queues: String,
    pub brokers: Vec<String>,
}

impl GroupForm {
    /// What the page for a new group starts with: RocketMQ's own defaults on every broker.
    pub fn suggested(snapshot: &Snapshot) -> Self {
        Self {
            consume: "1".to_owned(),
            broadcast: "1".to_owned(),
            retry_max: "16".to_owned(),
            retry_queues: "1".to_owned(),
            brokers: snapshot.brokers.iter().map(|state| state.broker.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// What the page for a change starts with: the first broker's configuration, for every broker that has the group.
    pub fn of(group: &GroupState) -> Self {
        let flag = |on: bool| if on { "1".to_owned() } else { String::new() };
        let first = group.brokers.first().map(|place| &place.config);
        Self {
            name: group.name.clone(),
            consume: flag(first.is_some_and(|config| config.consume_enable)),
            broadcast: flag(first.is_some_and(|config| config.broadcast_enable)),
            orderly: flag(first.is_some_and(|config| config.orderly)),
            retry_max: first.map(|config| config.retry_max_times.to_string()).unwrap_or_default(),
            retry_queues: first.map(|config| config.retry_queues.to_string()).unwrap_or_default(),
            brokers: group.brokers.iter().map(|place| place.broker.clone()).collect(),
        }
    }
}

/// What brokers can be asked to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupSettings {
    pub config: GroupConfig,
    pub brokers: Vec<String>,
}

impl GroupSettings {
    /// # Errors
    /// Every field's error.
    pub fn parse(form: &GroupForm, snapshot: &Snapshot) -> std::result::Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let name = match GroupName::parse(form.name.trim()) {
            Ok(name) => Some(name),
            Err(error) => {
                match error {
                    NameError::Empty => errors.add("name", "name-empty"),
                    NameError::TooLong => {
                        errors.add_with("name", "name-too-long", vec![("max", GROUP_MAX_LENGTH.to_string())]);
                    }
                    NameError::Character(bad) => {
                        errors.add_with("name", "name-character", vec![("character", bad.to_string())]);
                    }
                    NameError::Reserved => errors.add("name", "name-reserved"),
                }
                None
            }
        };
        let mut number = |field, text: &str, least: i32, most: i32| match text.trim().parse::<i32>() {
            Ok(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                let args = vec![("min", least.to_string()), ("max", most.to_string())];
                errors.add_with(field, "number-range", args);
                None
            }
        };
        let retry_max_times = number("retry_max", &form.retry_max, -1, MAX_RETRIES);
        let retry_queues = number("retry_queues", &form.retry_queues, 0, MAX_RETRY_QUEUES);
        let brokers = chosen_brokers(&form.brokers, snapshot, &mut errors);
        let settings = (|| {
            Some(Self {
                config: GroupConfig {
                    name: name?.as_str().to_owned(),
                    consume_enable: form.consume == "1",
                    broadcast_enable: form.broadcast == "1",
                    orderly: form.orderly == "1",
                    retry_queues: retry_queues?,
                    retry_max_times: retry_max_times?,
                },
                brokers,
            })
        })();
        errors.or(settings)
    }
}

impl Console {
    /// Makes the group on each chosen broker. One that has it already keeps it as it is: creating is not changing.
    ///
    /// # Errors
    /// `Invalid` before any broker is changed; `ReadOnly`.
    pub async fn create_group(&self, who: &str, form: &GroupForm) -> Result<Outcomes> {
        self.write()?;
        let settings = GroupSettings::parse(form, &self.snapshot())?;
        let present = self.having_group(&settings).await;
        let having = present.iter().filter(|(_, has)| matches!(has, Ok(true)));
        let already: Vec<&str> = having.map(|(broker, _)| broker.as_str()).collect();
        if !already.is_empty() {
            let mut errors = FieldErrors::default();
            errors.add_with("name", "group-exists", vec![("brokers", already.join(", "))]);
            return Err(errors.into());
        }
        self.put_group(who, "group.create", settings, present).await
    }

    /// Changes the group on each chosen broker that has it.
    ///
    /// # Errors
    /// `Invalid` before any broker is changed; `ReadOnly`, `SystemGroup`, `NotFound`.
    pub async fn change_group(&self, who: &str, name: &str, form: &GroupForm) -> Result<Outcomes> {
        self.write()?;
        if millrace_core::name::is_system_group(name) {
            return Err(ConsoleError::SystemGroup(name.to_owned()));
        }
        let form = GroupForm { name: name.to_owned(), ..form.clone() };
        let settings = GroupSettings::parse(&form, &self.snapshot())?;
        let present = self.having_group(&settings).await;
        if present.iter().all(|(_, has)| matches!(has, Ok(false))) {
            return Err(ConsoleError::NotFound(format!("group {name}")));
        }
        let missing: Vec<&str> =
            present.iter().filter(|(_, has)| matches!(has, Ok(false))).map(|(broker, _)| broker.as_str()).collect();
        if !missing.is_empty() {
            let mut errors = FieldErrors::default();
            errors.add_with("brokers", "broker-without-group", vec![("broker", missing.join(", "))]);
            return Err(errors.into());
        }
        self.put_group(who, "group.change", settings, present).await
    }

    async fn put_group(
        &self,
        who: &str,
        action: &str,
        settings: GroupSettings,
        present: Vec<(String, millrace_broker::Result<bool>)>,
    ) -> Result<Outcomes> {
        let write = self.write()?;
        let each = join_all(present.into_iter().map(|(broker, has)| {
            let config = &settings.config;
            async move {
                // Where it could not be seen whether the group is there, writing might change somebody's.
                let result = match has {
                    Ok(_) => within(DEADLINE, &broker, write.put_group(&broker, config)).await,
                    Err(error) => Err(error),
                };
                Outcome { at: broker, error: result.err().map(|error| error.to_string()) }
            }
        }))
        .await;
        let detail = serde_json::to_value(&settings).unwrap_or_default();
        let audit_error = self.audit(Act { who, action, target: &settings.config.name, detail }, &each).await;
        Ok(Outcomes { each, audit_error })
    }

    async fn having_group(&self, settings: &GroupSettings) -> Vec<(String, millrace_broker::Result<bool>)> {
        join_all(settings.brokers.iter().map(|broker| async move {
            let groups = within(DEADLINE, broker, self.read().groups(broker)).await;
            let has = groups.map(|groups| groups.iter().any(|config| config.name == settings.config.name));
            (broker.clone(), has)
        }))
        .await
    }
}
