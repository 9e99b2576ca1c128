//! Messages by key, by id, by time and by offset.

use std::time::Duration;

use millrace_broker::{BrokerError, KeyHits, Message, PulledBatch, Result};
use millrace_core::name::QueueRef;
use millrace_core::time::Millis;

use super::Link;
use crate::message::decode_messages;
use crate::remoting::{Reply, Request, RequestCode, ResponseCode};

/// The broker answers no more to one look-up by key.
const KEY_CAP: u32 = 64;
/// The broker's index knows times to the second, rounded down from its file's begin: a message may seem to be earlier.
const INDEX_GRAIN_MS: i64 = 1_000;
/// The group that browsing reads as: one of RocketMQ's own, that every broker has.
const BROWSER: &str = "TOOLS_CONSUMER";
/// The request names its subscription.
const SUBSCRIPTION: i32 = 4;
/// The request waits at the broker for new messages.
const SUSPEND: i32 = 2;
/// Pulls that correct a broker's answer to "which offset had this time".
const CORRECTIONS: usize = 64;
/// Messages looked at in one of them.
const WINDOW: u32 = 32;

/// What an index look-up goes by.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyKind<'a> {
    Key(&'a str),
    UniqId(&'a str),
}

impl KeyKind<'_> {
    /// The broker's index knows hashes: of what it answers, some is not what was asked for.
    fn fits(self, message: &Message) -> bool {
        match self {
            Self::Key(key) => message.keys().any(|own| own == key) || message.property("KEYS") == Some(key),
            Self::UniqId(id) => message.uniq_id.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(id)),
        }
    }
}

impl Link {
    pub(super) async fn look_up(
        &self,
        broker: &str,
        topic: &str,
        key: KeyKind<'_>,
        from: Millis,
        to: Millis,
    ) -> Result<KeyHits> {
        let request = Request::new(RequestCode::QueryMessage)
            .field("topic", topic)
            .field("maxNum", KEY_CAP)
            .field("beginTimestamp", from.0.saturating_sub(INDEX_GRAIN_MS).max(0))
            .field("endTimestamp", to.0);
        let request = match key {
            KeyKind::Key(key) => request.field("key", key),
            KeyKind::UniqId(id) => request.field("key", id).field("_UNIQUE_KEY_QUERY", true),
        };
        let reply = self.ask(broker, &request).await?;
        if matches!(reply.code, ResponseCode::QUERY_NOT_FOUND | ResponseCode::NO_MESSAGE) {
            return Ok(KeyHits::default());
        }
        let reply = reply.success(|| format!("topic {topic}"))?;
        let mut messages = decode(&reply, broker, None)?;
        let capped = messages.len() >= KEY_CAP as usize;
        let oldest = messages.iter().map(|message| message.stored).min();
        messages.retain(|message| {
            message.queue.topic == topic && (from..=to).contains(&message.stored) && key.fits(message)
        });
        messages.sort_by_key(|message| std::cmp::Reverse((message.stored, message.commit_log_offset)));
        messages.dedup_by_key(|message| message.commit_log_offset);
        Ok(KeyHits { messages, capped, oldest })
    }

    pub(super) async fn ask_message_at(&self, broker: &str, commit_log_offset: i64) -> Result<Message> {
        let absent = || format!("a message at {commit_log_offset} in the commit log of {broker}");
        let request = Request::new(RequestCode::ViewMessageById).field("offset", commit_log_offset);
        let reply = self.ask(broker, &request).await?;
        if reply.code == ResponseCode::SYSTEM_ERROR && reply.remark.starts_with("can not find message") {
            return Err(BrokerError::NotFound(absent()));
        }
        let reply = reply.success(absent)?;
        // An offset inside of a message gives bytes that are none.
        let decoded = decode_messages(&reply.body, broker, None).unwrap_or_default();
        let found = decoded.into_iter().find(|message| message.commit_log_offset == commit_log_offset);
        found.ok_or_else(|| BrokerError::NotFound(absent()))
    }

    pub(super) async fn ask_bounds(&self, queue: &QueueRef) -> Result<(i64, i64)> {
        let (min, max) = futures::try_join!(
            self.ask_offset(RequestCode::MinOffset, queue),
            self.ask_offset(RequestCode::MaxOffset, queue)
        )?;
        // A queue that never held a message has the bounds -1 and 0 on some versions.
        Ok((min.max(0), max.max(0)))
    }

    async fn ask_offset(&self, code: RequestCode, queue: &QueueRef) -> Result<i64> {
        let request = Request::new(code).field("topic", &queue.topic).field("queueId", queue.queue);
        self.ask(&queue.broker, &request).await?.success(|| queue.to_string())?.number("offset")
    }

    /// The broker's answer, corrected: before 5.0 brokers answer the message *nearest* to the time, and any of several
    /// with the same time.
    pub(super) async fn ask_offset_at(&self, queue: &QueueRef, time: Millis) -> Result<i64> {
        let request = Request::new(RequestCode::SearchOffsetByTimestamp)
            .field("topic", &queue.topic)
            .field("queueId", queue.queue)
            .field("timestamp", time.0.max(0))
            .field("boundaryType", "LOWER");
        let reply = self.ask(&queue.broker, &request).await?.success(|| queue.to_string())?;
        let (min, max) = self.ask_bounds(queue).await?;
        let mut offset = reply.number("offset")?.clamp(min, max);
        for _ in 0..CORRECTIONS {
            let window = i64::from(WINDOW);
            let start = (offset - window).max(min);
            let span = u32::try_from(offset - start).unwrap_or_default();
            let before = if span == 0 { Vec::new() } else { self.pull_now(queue, start, span).await?.messages };
            if let Some(earlier) = before.iter().find(|message| message.stored >= time) {
                // Within one window the first is found; a longer run of equal times takes the next round.
                offset = earlier.offset;
                continue;
            }
            if offset >= max {
                return Ok(max);
            }
            let after = self.pull_now(queue, offset, WINDOW).await?;
            if let Some(first) = after.messages.iter().find(|message| message.stored >= time) {
                return Ok(first.offset);
            }
            if after.messages.is_empty() && after.next <= offset {
                return Ok(offset);
            }
            offset = after.next.max(offset).min(max);
        }
        Ok(offset)
    }

    /// At once: an empty batch where there is nothing at `offset`.
    pub(super) async fn pull_now(&self, queue: &QueueRef, offset: i64, max: u32) -> Result<PulledBatch> {
        let request =
            pull_request(BROWSER, queue, offset, max).field("sysFlag", SUBSCRIPTION).field("suspendTimeoutMillis", 0);
        let reply = self.ask(&queue.broker, &request).await?;
        read_batch(reply, queue)
    }

    /// Waits at the broker for up to `wait`.
    pub(super) async fn pull_waiting(
        &self,
        group: &str,
        queue: &QueueRef,
        offset: i64,
        max: u32,
        wait: Duration,
        grace: Duration,
    ) -> Result<PulledBatch> {
        let request = pull_request(group, queue, offset, max)
            .field("sysFlag", SUBSCRIPTION | SUSPEND)
            .field("suspendTimeoutMillis", wait.as_millis());
        let reply = self.ask_within(&queue.broker, &request, wait + grace).await?;
        read_batch(reply, queue)
    }
}

fn pull_request(group: &str, queue: &QueueRef, offset: i64, max: u32) -> Request {
    Request::new(RequestCode::PullMessage)
        .field("consumerGroup", group)
        .field("topic", &queue.topic)
        .field("queueId", queue.queue)
        .field("queueOffset", offset)
        .field("maxMsgNums", max)
        .field("commitOffset", 0)
        .field("subscription", "*")
        .field("subVersion", 0)
        .field("expressionType", "TAG")
}

fn read_batch(reply: Reply, queue: &QueueRef) -> Result<PulledBatch> {
    match reply.code {
        ResponseCode::SUCCESS
        | ResponseCode::PULL_NOT_FOUND
        | ResponseCode::PULL_RETRY_IMMEDIATELY
        | ResponseCode::PULL_OFFSET_MOVED => {}
        _ => return Err(reply.refusal(|| queue.to_string())),
    }
    let messages = match reply.code {
        ResponseCode::SUCCESS => decode(&reply, &queue.broker, Some(queue))?,
        _ => Vec::new(),
    };
    Ok(PulledBatch {
        messages,
        next: reply.number("nextBeginOffset")?,
        min: reply.number("minOffset")?,
        max: reply.number("maxOffset")?,
    })
}

fn decode(reply: &Reply, broker: &str, of: Option<&QueueRef>) -> Result<Vec<Message>> {
    decode_messages(&reply.body, broker, of).map_err(|error| reply.misunderstood(error.to_string()))
}
