//! Addresses. One invariant: every link and redirect is built here from its parts, percent-encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but RFC 3986's unreserved characters is encoded, in paths and in queries alike.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// An address with a query that grows field by field; empty values are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    path: String,
    query: String,
}

impl Link {
    /// `path` must be encoded.
    fn to(path: String) -> Self {
        Self { path, query: String::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<str>) -> Self {
        if !value.as_ref().is_empty() {
            if !self.query.is_empty() {
                self.query.push('&');
            }
            self.query.push_str(&encoded(name));
            self.query.push('=');
            self.query.push_str(&encoded(value.as_ref()));
        }
        self
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        if !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        Ok(())
    }
}

impl askama::FastWritable for Link {
    fn write_into(&self, dest: &mut dyn std::fmt::Write, _: &dyn askama::Values) -> askama::Result<()> {
        write!(dest, "{self}")?;
        Ok(())
    }
}

/// Percent-encoding leaves nothing that HTML escapes but the `&` between fields.
fn in_cluster(cluster: &str, rest: &str) -> Link {
    Link::to(format!("/c/{}{rest}", encoded(cluster)))
}

pub fn clusters() -> Link {
    Link::to("/".to_owned())
}

pub fn about() -> Link {
    Link::to("/about".to_owned())
}

pub fn settings() -> Link {
    Link::to("/settings".to_owned())
}

pub fn openapi() -> Link {
    Link::to("/api/v1/openapi.json".to_owned())
}

pub fn overview(cluster: &str) -> Link {
    in_cluster(cluster, "")
}

pub fn overview_events(cluster: &str) -> Link {
    in_cluster(cluster, "/events")
}

pub fn ingest(cluster: &str) -> Link {
    in_cluster(cluster, "/ingest")
}

pub fn ingest_events(cluster: &str) -> Link {
    in_cluster(cluster, "/ingest/events")
}

/// Everything at a moment.
pub fn history(cluster: &str) -> Link {
    in_cluster(cluster, "/history")
}

pub fn broker_history(cluster: &str, broker: &str) -> Link {
    in_cluster(cluster, &format!("/brokers/{}/history", encoded(broker)))
}

/// The search form's action.
pub fn records(cluster: &str) -> Link {
    in_cluster(cluster, "/records")
}

/// One record's page: a key or any id.
pub fn record(cluster: &str, key: &str) -> Link {
    records(cluster).with("q", key)
}

pub fn record_events(cluster: &str, key: &str) -> Link {
    in_cluster(cluster, "/records/events").with("q", key)
}

/// The same answer for programs.
pub fn record_api(cluster: &str, key: &str) -> Link {
    Link::to(format!("/api/v1/clusters/{}/records/{}", encoded(cluster), encoded(key)))
}

pub fn groups(cluster: &str) -> Link {
    in_cluster(cluster, "/groups")
}

pub fn group(cluster: &str, group: &str) -> Link {
    in_cluster(cluster, &format!("/groups/{}", encoded(group)))
}

/// The form of a new group.
pub fn new_group(cluster: &str) -> Link {
    in_cluster(cluster, "/groups/-/new")
}

/// Groups with dead letters.
pub fn dead_letters(cluster: &str) -> Link {
    in_cluster(cluster, "/dead-letters")
}

/// A page of one group: `clients`, `dead-letters`, `config`, `edit`, `reset`, `delete`.
pub fn group_part(cluster: &str, group: &str, part: &str) -> Link {
    in_cluster(cluster, &format!("/groups/{}/{part}", encoded(group)))
}

/// One client of a group, with its threads.
pub fn client(cluster: &str, group: &str, client: &str) -> Link {
    in_cluster(cluster, &format!("/groups/{}/clients/{}", encoded(group), encoded(client)))
}

pub fn topics(cluster: &str) -> Link {
    in_cluster(cluster, "/topics")
}

pub fn topic(cluster: &str, topic: &str) -> Link {
    in_cluster(cluster, &format!("/topics/{}", encoded(topic)))
}

/// The form of a new topic. No topic's name is a lone dash followed by another part.
pub fn new_topic(cluster: &str) -> Link {
    in_cluster(cluster, "/topics/-/new")
}

/// A part of a topic's pages: `groups`, `config`, `messages`, `send`, `delete`.
pub fn topic_part(cluster: &str, topic: &str, part: &str) -> Link {
    in_cluster(cluster, &format!("/topics/{}/{part}", encoded(topic)))
}

/// One stored message.
pub fn message(cluster: &str, queue: &millrace_core::name::QueueRef, offset: i64) -> Link {
    in_cluster(cluster, &message_path(queue, offset))
}

/// Its body as it was sent.
pub fn message_body(cluster: &str, queue: &millrace_core::name::QueueRef, offset: i64) -> Link {
    in_cluster(cluster, &format!("{}/body", message_path(queue, offset)))
}

fn message_path(queue: &millrace_core::name::QueueRef, offset: i64) -> String {
    format!("/topics/{}/messages/{}/{}/{offset}", encoded(&queue.topic), encoded(&queue.broker), queue.queue)
}

/// Messages of all topics: the form that finds some.
pub fn messages(cluster: &str) -> Link {
    in_cluster(cluster, "/messages")
}

#[cfg(test)]
mod tests {
    use super::{record, topic};

    #[test]
    fn hostile_names_stay_one_part() {
        assert_eq!(topic("shop", "%DLQ%price-enricher").to_string(), "/c/shop/topics/%25DLQ%25price-enricher");
        assert_eq!(topic("a/b ?#", "订单").to_string(), "/c/a%2Fb%20%3F%23/topics/%E8%AE%A2%E5%8D%95");
        assert_eq!(record("shop", "a&b=c+d\"<>").to_string(), "/c/shop/records?q=a%26b%3Dc%2Bd%22%3C%3E");
        assert_eq!(record("shop", "").to_string(), "/c/shop/records");
    }
}
