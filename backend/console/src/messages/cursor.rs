//! Where a browse goes on: the unread part of every queue, as a text for a link. Messages that arrive later are not in
//! it, so pages do not shift.

use std::collections::BTreeMap;
use std::fmt::Write;

use millrace_core::name::QueueRef;

use super::window::Window;

/// More queues than any topic has.
const MAX_WINDOWS: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Messages in all pages together, as counted at the first one.
    pub total: i64,
    pub windows: Vec<Window>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the link to the next page is damaged")]
pub struct CursorError;

impl Cursor {
    /// `total.broker_queue-lo-hi_queue-lo-hi.broker…`, names with everything but letters and digits escaped.
    pub fn encode(&self) -> String {
        let mut brokers: BTreeMap<&str, Vec<&Window>> = BTreeMap::new();
        for window in self.windows.iter().filter(|window| !window.is_empty()) {
            brokers.entry(&window.queue.broker).or_default().push(window);
        }
        let mut out = self.total.to_string();
        for (broker, windows) in brokers {
            out.push('.');
            for byte in broker.bytes() {
                if byte.is_ascii_alphanumeric() {
                    out.push(char::from(byte));
                } else {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "~{byte:02x}");
                }
            }
            for window in windows {
                let _ = write!(out, "_{}-{}-{}", window.queue.queue, window.lo, window.hi);
            }
        }
        out
    }

    /// # Errors
    /// When the text is not what [`Self::encode`] writes.
    pub fn parse(text: &str, topic: &str) -> Result<Self, CursorError> {
        let mut parts = text.split('.');
        let total = parts.next().and_then(|total| total.parse().ok()).ok_or(CursorError)?;
        let mut windows = Vec::new();
        for part in parts {
            let mut fields = part.split('_');
            let broker = fields.next().and_then(unescape).ok_or(CursorError)?;
            for field in fields {
                windows.push(window(field, topic, &broker).ok_or(CursorError)?);
                if windows.len() > MAX_WINDOWS {
                    return Err(CursorError);
                }
            }
        }
        Ok(Self { total, windows })
    }
}

fn window(text: &str, topic: &str, broker: &str) -> Option<Window> {
    let mut numbers = text.splitn(3, '-');
    let queue = numbers.next()?.parse().ok()?;
    let lo: i64 = numbers.next()?.parse().ok()?;
    let hi: i64 = numbers.next()?.parse().ok()?;
    let queue = QueueRef { topic: topic.to_owned(), broker: broker.to_owned(), queue };
    (queue.queue >= 0 && 0 <= lo && lo <= hi).then_some(Window { queue, lo, hi })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'~' {
            let pair = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::Cursor;
    use crate::messages::Window;
    use millrace_core::name::QueueRef;

    fn window(broker: &str, queue: i32, lo: i64, hi: i64) -> Window {
        Window { queue: QueueRef { topic: "orders".into(), broker: broker.into(), queue }, lo, hi }
    }

    #[test]
    fn it_comes_back_as_it_was_and_is_safe_in_a_link() {
        let cursor = Cursor {
            total: 288,
            windows: vec![window("broker-a", 0, 5, 9), window("broker-a", 1, 0, 250), window("b.x_~/订", 3, 1, 2)],
        };
        let text = cursor.encode();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-~".contains(&b)), "{text}");
        let mut back = Cursor::parse(&text, "orders").expect("own text");
        back.windows.sort_by_key(|w| (w.queue.broker != "broker-a", w.queue.queue));
        assert_eq!(back, cursor);
    }

    #[test]
    fn what_is_read_to_its_end_leaves_no_trace_and_damage_is_refused() {
        assert_eq!(Cursor { total: 7, windows: vec![window("a", 0, 5, 5)] }.encode(), "7");
        for text in ["", "x", "7.a_0", "7.a_0-5-1", "7.a_0--5-1", "7.~zz_0-1-2", "7._0-1-2", "7.a_-1-0-2"] {
            assert!(Cursor::parse(text, "orders").is_err(), "{text}");
        }
    }
}
