//! Topics: the list, one topic, create, delete and a test message.

mod create;
mod delete;
mod detail;
mod list;
mod send;

pub use create::{NewTopic, NewTopicForm};
pub use delete::{DeleteForm, DeletionPlan};
pub use detail::{QueueAt, Reader, TopicDetail};
pub use list::{Chip, Sort, TopicPage, TopicQuery, list};
pub use send::{MAX_MESSAGE_BYTES, Sent, TestMessageForm};

pub(crate) use send::is_reserved;
