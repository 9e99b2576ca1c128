//! Messages: browsing queues without missing or repeating one, look-up by key and by id, and bodies as they are.

mod body;
mod browse;
mod by_id;
mod by_key;
mod cursor;
mod instant;
mod json;
mod merge;
mod window;

pub use body::{BodyText, BodyView, Charset};
pub use browse::{Browse, Page};
pub use by_id::{Looked, TakenFor};
pub use by_key::{KEY_CAP, KeyQuery, Keyed};
pub use cursor::{Cursor, CursorError};
pub use instant::{Instant, InstantError, ReadAs};
pub use json::lay_out;
pub use merge::{Limit, Limits, Row};
pub use window::{Order, Window};

use millrace_broker::Message;
use millrace_core::time::Millis;

/// Where a message stands among all: by store time, then by place. No two messages are equal.
pub(crate) fn place(message: &Message) -> (Millis, &str, i32, i64) {
    (message.stored, &message.queue.broker, message.queue.queue, message.offset)
}
