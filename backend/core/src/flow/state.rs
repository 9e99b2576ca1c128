//! The state of a hop, and how it is known. A claim is never stronger than its evidence: a trace says how a delivery
//! went, a committed offset only that the group has passed, and silence says nothing unless the group is known to trace
//! and everything was read.

use std::collections::{BTreeMap, BTreeSet};

use super::fact::{ConsumeModel, Options};
use super::model::{Attempt, Evidence, HopState, MessageKind, MessageNode, TransactionOutcome, Why};
use super::place::{Groups, HopDraft, Subscription};
use crate::time::Millis;

/// RocketMQ's default delay levels in seconds; a concurrent consumer's retry `n` (from 0) waits for level `3 + n`
/// (`MessageStoreConfig.messageDelayLevel`).
const DELAY_LEVELS_S: [i64; 18] =
    [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1_200, 1_800, 3_600, 7_200];
/// An orderly consumer tries again after this (`suspendCurrentQueueTimeMillis`).
const ORDERLY_MS: i64 = 1_000;
/// A retry that is late by less may still be on its way.
const RETRY_GRACE_MS: i64 = 60_000;

/// What a hop is judged by.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) groups: &'a Groups<'a>,
    pub(super) options: &'a Options,
    /// Groups of which anything was traced.
    pub(super) tracing: &'a BTreeSet<&'a str>,
}

/// When a delivery that failed after `retry` earlier ones comes again, by the default schedule.
pub(super) fn retry_delay_ms(retry: i64) -> i64 {
    let level = usize::try_from(retry.max(0)).unwrap_or(usize::MAX).saturating_add(2);
    DELAY_LEVELS_S.get(level).or(DELAY_LEVELS_S.last()).map_or(0, |seconds| seconds * 1_000)
}

impl Judge<'_> {
    pub(super) fn max_retries(&self, group: Option<&str>) -> Option<i64> {
        group.and_then(|group| self.groups.configs.get(group)).and_then(|(retries, _)| *retries)
    }

    fn orderly(&self, hop: &HopDraft) -> bool {
        let declared = hop.group.as_deref().and_then(|group| self.groups.configs.get(group)).and_then(|(_, o)| *o);
        declared.unwrap_or_else(|| tried_again_at_once(&hop.attempts))
    }

    pub(super) fn state(&self, hop: &HopDraft, message: &MessageNode, broadcasting: bool) -> (HopState, Evidence) {
        if hop.attempts.is_empty() && hop.dead_letters.is_empty() {
            return if hop.by_child {
                (HopState::Ok { at: None }, Evidence::SeenDownstream)
            } else {
                self.without_attempt(hop, message, broadcasting)
            };
        }
        let evidence = if hop.attempts.is_empty() { Evidence::FoundInTopic } else { Evidence::Traced };
        (self.traced(hop, broadcasting), evidence)
    }

    fn traced(&self, hop: &HopDraft, broadcasting: bool) -> HopState {
        let counted = hop.dead_letters.iter().filter_map(|copy| copy.tries).max().unwrap_or(0);
        let tries = tries(&hop.attempts).max(counted);
        let succeeded = hop.attempts.iter().filter(|a| a.ok == Some(true)).map(|a| a.end.or(a.begin)).max();
        let dead_since = hop.dead_letters.iter().filter_map(|copy| copy.stored).max();
        if !hop.dead_letters.is_empty() && succeeded.is_none_or(|at| at < dead_since) {
            return HopState::DeadLettered { tries, since: dead_since, confirmed: true };
        }
        if broadcasting {
            return broadcast(&hop.attempts, tries, self.options);
        }
        if let Some(at) = succeeded {
            return HopState::Ok { at };
        }
        match last(&hop.attempts) {
            Some(attempt) if attempt.ok.is_none() => open(attempt, self.options),
            Some(attempt) => self.failed(hop, attempt, tries),
            None => HopState::Unknown { why: Why::NotTraced },
        }
    }

    fn failed(&self, hop: &HopDraft, attempt: &Attempt, tries: i64) -> HopState {
        let orderly = self.orderly(hop);
        let most = self.max_retries(hop.group.as_deref()).unwrap_or(self.options.max_retries);
        if !orderly && most >= 0 && tries > most {
            return HopState::DeadLettered { tries, since: None, confirmed: false };
        }
        let delay = if orderly { ORDERLY_MS } else { retry_delay_ms(tries - 1) };
        let next_due = attempt.end.or(attempt.begin).map(|end| end.plus(delay));
        let given_up = next_due.map(|due| due.plus(RETRY_GRACE_MS));
        let overdue =
            given_up.is_some_and(|by| self.options.now > by && self.options.watermark.is_none_or(|w| w >= by));
        if overdue { HopState::Failed { tries } } else { HopState::Retrying { tries, next_due } }
    }

    /// Nothing of the hop was traced, but the group should get the message.
    fn without_attempt(&self, hop: &HopDraft, message: &MessageNode, broadcasting: bool) -> (HopState, Evidence) {
        let subscription = self.groups.subscription(message.topic.as_deref(), hop.group.as_deref());
        if let Some(why) = not_expected(message, subscription) {
            return (HopState::NotExpected { why }, Evidence::Absent);
        }
        if broadcasting {
            return unknown(Why::Broadcasting);
        }
        if let Some(ahead) = self.ahead(hop, message) {
            let pop = subscription.is_some_and(|subscription| subscription.model == Some(ConsumeModel::Pop));
            let state = match ahead {
                ..0 if pop => return unknown(Why::Pop),
                ..0 => HopState::Passed,
                ahead => HopState::Waiting { ahead: Some(ahead) },
            };
            return (state, Evidence::InferredFromOffset);
        }
        if subscription.is_some_and(|subscription| subscription.clients == Some(0)) {
            return unknown(Why::GroupOffline);
        }
        if message.kind == MessageKind::Delay && message.stored.is_empty() {
            return unknown(Why::Delayed);
        }
        let Some(visible) = message.visible() else { return unknown(Why::PublicationNotTraced) };
        let due = visible.plus(self.options.grace_ms);
        if self.options.now <= due {
            return (HopState::Waiting { ahead: None }, Evidence::Absent);
        }
        match self.options.watermark {
            Some(watermark) if watermark < due => unknown(Why::IngestBehind),
            Some(_) if self.traces(hop, message, visible) => (HopState::Missing { since: due }, Evidence::Absent),
            _ => unknown(Why::NotTraced),
        }
    }

    /// Whether the group traces what it takes: something of it is among the records, or its deliveries of the time are.
    fn traces(&self, hop: &HopDraft, message: &MessageNode, at: Millis) -> bool {
        let group = hop.group.as_deref();
        group.is_some_and(|group| self.tracing.contains(group))
            || self.groups.traced_around(message.topic.as_deref(), group, at)
    }

    /// Messages between the group's committed offset and this one; negative when it has passed it.
    fn ahead(&self, hop: &HopDraft, message: &MessageNode) -> Option<i64> {
        let group = hop.group.as_deref()?;
        let ahead = message.stored.iter().filter_map(|stored| {
            let committed = self.groups.committed.get(&(group, &stored.queue))?;
            Some(if *committed > stored.offset { -1 } else { stored.offset.saturating_sub(*committed) })
        });
        ahead.max()
    }
}

fn unknown(why: Why) -> (HopState, Evidence) {
    (HopState::Unknown { why }, Evidence::Unknown { why })
}

/// A delivery without an end: at work, or its end was lost.
fn open(attempt: &Attempt, options: &Options) -> HopState {
    let since = attempt.begin;
    match since {
        Some(begin) if options.now.since(begin) > options.consume_timeout_ms => {
            HopState::Unknown { why: Why::EndNotTraced }
        }
        _ => HopState::Consuming { since },
    }
}

/// Broadcasting clients each get the message once and never again.
fn broadcast(attempts: &[Attempt], tries: i64, options: &Options) -> HopState {
    let mut by_client: BTreeMap<(&str, Option<&str>), &Attempt> = BTreeMap::new();
    for attempt in attempts {
        by_client.insert((&attempt.host, attempt.process.as_deref()), attempt);
    }
    if by_client.values().any(|attempt| attempt.ok == Some(false)) {
        return HopState::Failed { tries };
    }
    match by_client.values().find(|attempt| attempt.ok.is_none()) {
        Some(attempt) => open(attempt, options),
        None => HopState::Ok { at: attempts.iter().filter_map(|attempt| attempt.end.or(attempt.begin)).max() },
    }
}

/// The delivery that came last: by retry count where it is known, else by time.
fn last(attempts: &[Attempt]) -> Option<&Attempt> {
    attempts.iter().max_by_key(|attempt| (attempt.retry, attempt.begin.or(attempt.end), attempt.end))
}

/// Deliveries so far, those whose traces were lost included.
pub(super) fn tries(attempts: &[Attempt]) -> i64 {
    let traced = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
    let counted = attempts.iter().filter_map(|attempt| attempt.retry).max().map_or(0, |retry| retry.saturating_add(1));
    traced.max(counted)
}

/// No concurrent consumer gets a message back before ten seconds... unless it asked for a lower delay level, of at least
/// a second and a half with the way there and back.
fn tried_again_at_once(attempts: &[Attempt]) -> bool {
    attempts.windows(2).any(|pair| match pair {
        [failed, again] if failed.ok == Some(false) && again.retry > failed.retry => {
            failed.end.zip(again.begin).is_some_and(|(end, begin)| begin.since(end) < ORDERLY_MS + ORDERLY_MS / 2)
        }
        _ => false,
    })
}

fn not_expected(message: &MessageNode, subscription: Option<Subscription<'_>>) -> Option<Why> {
    match message.transaction.as_ref().map(|transaction| transaction.outcome) {
        Some(TransactionOutcome::RolledBack) => return Some(Why::RolledBack),
        Some(TransactionOutcome::Half | TransactionOutcome::Undecided) => return Some(Why::TransactionOpen),
        Some(TransactionOutcome::Committed) | None => {}
    }
    if message.recalls.iter().any(|recall| recall.ok) {
        return Some(Why::Recalled);
    }
    let expression = subscription.and_then(|subscription| subscription.expression)?;
    filtered(message, expression).then_some(Why::Filtered)
}

/// Whether a tag expression leaves the message out. Only what can be told: a batch's traces carry no tags, and SQL
/// expressions look at properties.
fn filtered(message: &MessageNode, expression: &str) -> bool {
    let known = message.tags.is_some() || (message.batch.is_empty() && !message.publications.is_empty());
    let tags: Vec<&str> = expression.split("||").map(str::trim).filter(|tag| !tag.is_empty()).collect();
    let by_tag = !tags.is_empty() && tags.iter().all(|tag| !tag.contains([' ', '=', '<', '>', '(', '\'']));
    known && by_tag && !tags.contains(&"*") && message.tags.as_deref().is_none_or(|tag| !tags.contains(&tag))
}

/// Whether the process traced anything after `time`, on its own clock.
pub(super) fn still_alive(alive: &BTreeMap<String, Millis>, process: Option<&str>, time: Option<Millis>) -> bool {
    process.and_then(|process| alive.get(process)).zip(time).is_some_and(|(latest, time)| *latest > time)
}
