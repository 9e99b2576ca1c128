//! A message for the fake, said as briefly as a test wants it.

use bytes::Bytes;
use millrace_core::time::Millis;

/// Goes to queue 0 of the first broker that has the topic, unless told otherwise.
#[derive(Debug, Clone)]
pub struct FakeMessage {
    pub(super) topic: String,
    pub(super) broker: Option<String>,
    pub(super) queue: i32,
    pub(super) keys: Vec<String>,
    pub(super) properties: Vec<(String, String)>,
    pub(super) uniq_id: Option<String>,
    pub(super) body: Bytes,
    pub(super) born: Option<Millis>,
    pub(super) stored: Option<Millis>,
    pub(super) born_host: String,
    pub(super) reconsume_times: i32,
    pub(super) inflate_error: Option<String>,
}

impl FakeMessage {
    pub fn to(topic: &str) -> Self {
        Self {
            topic: topic.to_owned(),
            broker: None,
            queue: 0,
            keys: Vec::new(),
            properties: Vec::new(),
            uniq_id: None,
            body: Bytes::new(),
            born: None,
            stored: None,
            born_host: "192.0.2.100:40000".to_owned(),
            reconsume_times: 0,
            inflate_error: None,
        }
    }

    #[must_use]
    pub fn on(mut self, broker: &str, queue: i32) -> Self {
        self.broker = Some(broker.to_owned());
        self.queue = queue;
        self
    }

    /// May be called several times.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.keys.push(key.to_owned());
        self
    }

    #[must_use]
    pub fn tag(self, tag: &str) -> Self {
        self.property("TAGS", tag)
    }

    #[must_use]
    pub fn property(mut self, name: &str, value: &str) -> Self {
        self.properties.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without it the message gets the next id of one made-up process.
    #[must_use]
    pub fn uniq_id(mut self, id: &str) -> Self {
        self.uniq_id = Some(id.to_owned());
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Store time; the birth too, unless [`Self::born`] says otherwise.
    #[must_use]
    pub fn at(mut self, stored: Millis) -> Self {
        self.stored = Some(stored);
        self
    }

    #[must_use]
    pub fn born(mut self, born: Millis) -> Self {
        self.born = Some(born);
        self
    }

    #[must_use]
    pub fn born_host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.born_host);
        self
    }

    #[must_use]
    pub fn reconsumed(mut self, times: i32) -> Self {
        self.reconsume_times = times;
        self
    }

    /// As if a compressed body could not be inflated.
    #[must_use]
    pub fn inflate_error(mut self, why: &str) -> Self {
        self.inflate_error = Some(why.to_owned());
        self
    }
}
