//! Names of RocketMQ's things. Parsing is the only way from text to a name that Millrace writes to a broker;
//! names that come *from* a broker are kept as they are.

use serde::{Deserialize, Serialize};

/// Longest topic name that RocketMQ 5 accepts (`TopicValidator.TOPIC_MAX_LENGTH`).
pub const TOPIC_MAX_LENGTH: usize = 127;
/// Longest group name that RocketMQ 5 accepts (`TopicValidator.GROUP_MAX_LENGTH`).
pub const GROUP_MAX_LENGTH: usize = 120;

/// Prefix of a group's retry topic.
pub const RETRY_PREFIX: &str = "%RETRY%";
/// Prefix of a group's dead-letter topic.
pub const DLQ_PREFIX: &str = "%DLQ%";
/// The system trace topic.
pub const TRACE_TOPIC: &str = "RMQ_SYS_TRACE_TOPIC";
/// Prefix of the trace topics of the CLOUD access channel, one a region.
pub const CLOUD_TRACE_PREFIX: &str = "rmq_sys_TRACE_DATA_";

/// Why a text is not a name. Pages translate the variant; the text is the English.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NameError {
    #[error("the name is empty")]
    Empty,
    #[error("the name is too long")]
    TooLong,
    #[error("'{0}' is not allowed: use letters, digits, _, -, % and |")]
    Character(char),
    #[error("the name is reserved by RocketMQ")]
    Reserved,
}

/// A topic name that RocketMQ accepts for a topic that people create.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TopicName(String);

impl TopicName {
    /// The rules of `TopicValidator.validateTopic` and `isSystemTopic`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.chars().count() > TOPIC_MAX_LENGTH {
            return Err(NameError::TooLong);
        }
        if let Some(bad) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || "_-%|".contains(*c))) {
            return Err(NameError::Character(bad));
        }
        if TopicKind::of(text) != TopicKind::User {
            return Err(NameError::Reserved);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for TopicName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A group name that RocketMQ accepts for a group that people create.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct GroupName(String);

impl GroupName {
    /// The rules of `TopicValidator.validateGroup`; RocketMQ's own groups are not people's.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.chars().count() > GROUP_MAX_LENGTH {
            return Err(NameError::TooLong);
        }
        if let Some(bad) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || "_-%|".contains(*c))) {
            return Err(NameError::Character(bad));
        }
        if is_system_group(text) {
            return Err(NameError::Reserved);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a topic's name says about it. Exact prefixes: a user's `DELAY_x` or `%D` is no dead-letter topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicKind {
    User,
    Retry,
    DeadLetter,
    System,
}

/// System topics that do not begin with `rmq_sys_` (`TopicValidator`, 5.x).
const SYSTEM_TOPICS: [&str; 15] = [
    "TBW102",
    "SCHEDULE_TOPIC_XXXX",
    "BenchmarkTest",
    TRACE_TOPIC,
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
    "CHECKPOINT_TOPIC",
    "RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC",
    "DefaultHeartBeatSyncerTopic",
    "RMQ_SYS_EVENT_TOPIC",
    "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC",
    "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
];

impl TopicKind {
    pub fn of(topic: &str) -> Self {
        if topic.starts_with(RETRY_PREFIX) {
            Self::Retry
        } else if topic.starts_with(DLQ_PREFIX) {
            Self::DeadLetter
        } else if topic.starts_with("rmq_sys_") || SYSTEM_TOPICS.contains(&topic) || topic.ends_with("_REPLY_TOPIC") {
            Self::System
        } else {
            Self::User
        }
    }
}

/// Whether a topic carries message traces: the system one, a CLOUD one, or one named in the configuration.
pub fn is_trace_topic(topic: &str, custom: &[String]) -> bool {
    topic == TRACE_TOPIC || topic.starts_with(CLOUD_TRACE_PREFIX) || custom.iter().any(|name| name == topic)
}

/// Groups that RocketMQ itself uses: `MixAll.isSysConsumerGroup`, and those that a broker makes when it starts.
pub fn is_system_group(group: &str) -> bool {
    group.starts_with("CID_RMQ_SYS_")
        || matches!(
            group,
            "TOOLS_CONSUMER"
                | "FILTERSRV_CONSUMER"
                | "SELF_TEST_C_GROUP"
                | "CLIENT_INNER_PRODUCER"
                | "DEFAULT_CONSUMER"
                | "CID_ONS-HTTP-PROXY"
                | "CID_ONSAPI_OWNER"
                | "CID_ONSAPI_PERMISSION"
                | "CID_ONSAPI_PULL"
        )
}

/// One queue of a topic on one broker (by the broker's *name*: a new master keeps it, an address does not).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueueRef {
    pub topic: String,
    pub broker: String,
    pub queue: i32,
}

impl std::fmt::Display for QueueRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{} queue {}", self.topic, self.broker, self.queue)
    }
}
