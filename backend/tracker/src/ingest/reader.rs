//! One queue of a trace topic, read from its position on and decoded.

use std::sync::Arc;
use std::time::Duration;

use millrace_broker::{BrokerError, BrokerRead, BrokerTail, Message, PulledBatch};
use millrace_core::name::QueueRef;
use millrace_core::time::{Clock, Millis};
use millrace_core::trace::{Term, TraceMessage, decode};
use millrace_store::IndexedMessage;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::state::IngestState;

/// How long a pull waits at the broker for new messages.
const LONG_POLL: Duration = Duration::from_secs(10);
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LONGEST: Duration = Duration::from_secs(15);

/// A stretch of one queue, decoded.
#[derive(Debug)]
pub(super) struct Stretch {
    pub queue: QueueRef,
    /// The queue's position before; `None`: it has none yet.
    pub expected: Option<i64>,
    pub next: i64,
    pub messages: Vec<IndexedMessage>,
}

pub(super) struct Reader {
    pub read: Arc<dyn BrokerRead>,
    pub tail: Arc<dyn BrokerTail>,
    pub group: String,
    pub queue: QueueRef,
    /// The store's position with the newest store time, where the store has one.
    pub start: Option<(i64, Option<Millis>)>,
    pub state: Arc<IngestState>,
    pub clock: Arc<dyn Clock>,
    pub out: mpsc::Sender<Stretch>,
    pub stop: CancellationToken,
}

impl Reader {
    /// Reads until told to stop or until the writer is gone.
    pub(super) async fn run(self) {
        let stop = self.stop.clone();
        let queue = self.queue.clone();
        let state = Arc::clone(&self.state);
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.read_on() => {}
        }
        state.queue_left(&queue);
    }

    async fn read_on(self) {
        let mut expected = self.start.map(|(next, _)| next);
        let mut pause = RETRY_FIRST;
        let mut at = loop {
            match self.first_offset(expected).await {
                Ok(offset) => break offset,
                Err(error) => self.wait_after(&error, &mut pause).await,
            }
        };
        self.state.queue_refused(&self.queue, None);
        self.state.queue_started(&self.queue, at, self.start.and_then(|(_, stored)| stored));
        pause = RETRY_FIRST;
        loop {
            let batch = match self.tail.tail(&self.group, &self.queue, at, LONG_POLL).await {
                Ok(batch) => batch,
                Err(error) => {
                    self.wait_after(&error, &mut pause).await;
                    continue;
                }
            };
            pause = RETRY_FIRST;
            self.state.queue_refused(&self.queue, None);
            self.state.queue_heard(&self.queue, self.clock.now(), Ok(batch.max));
            if batch.messages.is_empty() && batch.next == at && expected == Some(at) {
                continue;
            }
            self.note_gap(at, &batch);
            let next = batch.next;
            let messages = batch.messages.into_iter().map(index).collect();
            let stretch = Stretch { queue: self.queue.clone(), expected, next, messages };
            if self.out.send(stretch).await.is_err() {
                return;
            }
            expected = Some(next);
            at = next;
        }
    }

    /// The store's position; where there is none, the group's committed offset (another worker's work); else the oldest.
    async fn first_offset(&self, expected: Option<i64>) -> Result<i64, BrokerError> {
        if let Some(next) = expected {
            return Ok(next);
        }
        if let Some(committed) = self.tail.committed(&self.group, &self.queue).await? {
            return Ok(committed);
        }
        self.read.bounds(&self.queue).await.map(|(min, _)| min)
    }

    /// Offsets that the broker no longer has are told, never passed over in silence.
    fn note_gap(&self, at: i64, batch: &PulledBatch) {
        let first = batch.messages.first().map_or(batch.next, |message| message.offset);
        let expired = u64::try_from(first.min(batch.min.max(at)) - at).unwrap_or(0);
        if expired > 0 {
            tracing::warn!(queue = %self.queue, expired, "traces were deleted at the broker before they were read");
            self.state.queue_expired(&self.queue, expired);
        }
    }

    async fn wait_after(&self, error: &BrokerError, pause: &mut Duration) {
        self.state.queue_heard(&self.queue, self.clock.now(), Err(error.to_string()));
        let refused = matches!(error, BrokerError::NotPermitted { .. }).then(|| error.into());
        self.state.queue_refused(&self.queue, refused);
        tracing::debug!(queue = %self.queue, %error, "reading a trace queue failed, trying again");
        tokio::time::sleep(*pause).await;
        *pause = (*pause * 2).min(RETRY_LONGEST);
    }
}

/// Clients of one machine have different ports; evidence asks for the machine.
fn without_port(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            if host.contains(':') && !host.starts_with('[') { address } else { host.trim_matches(['[', ']']) }
        }
        _ => address,
    }
}

/// Decodes a message of a trace topic and collects what it can be found by.
pub(super) fn index(message: Message) -> IndexedMessage {
    let message = TraceMessage {
        producer_group: message.property("PGROUP").map(str::to_owned),
        queue: message.queue,
        offset: message.offset,
        stored: message.stored,
        born: message.born,
        born_host: without_port(&message.born_host).to_owned(),
        body: message.body.bytes.to_vec(),
    };
    let decoded = decode(&message);
    let mut terms = Vec::with_capacity(decoded.records.len() * 3);
    for record in &decoded.records {
        Term::of(record, &mut |term| terms.push(term));
    }
    terms.sort_unstable();
    terms.dedup();
    IndexedMessage {
        message,
        terms,
        records: u32::try_from(decoded.records.len()).unwrap_or(u32::MAX),
        rejects: decoded.rejects.into_iter().map(|reject| (reject.reason, reject.sample)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_port;

    #[test]
    fn a_machine_is_its_address_without_the_port() {
        for (address, host) in [
            ("192.0.2.7:41000", "192.0.2.7"),
            ("192.0.2.7", "192.0.2.7"),
            ("[2001:db8::7]:41000", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("", ""),
        ] {
            assert_eq!(without_port(address), host);
        }
    }
}
