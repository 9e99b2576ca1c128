//! Trace records and facts are merged into messages and deliveries. The merge is commutative and idempotent: it fills
//! sorted sets and only then reads them.

use std::collections::{BTreeMap, BTreeSet};

use super::alias::Aliases;
use super::clock::{Clocks, Machine};
use super::fact::Fact;
use super::model::{
    Attempt, Evidence, MessageKind, MessageNode, Publication, Recalled, StoredAt, Transaction, TransactionEnd,
    TransactionOutcome,
};
use crate::id::UniqId;
use crate::name::{DLQ_PREFIX, RETRY_PREFIX};
use crate::time::Millis;
use crate::trace::{Outcome, Pub, PubType, TraceEvent, TraceRecord, TransactionState};

/// Begins a key that names the parent message's id.
pub(super) const PARENT_TOKEN: &str = "~p=";

/// A message's identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageKey {
    pub(super) id: String,
    pub(super) topic: Option<String>,
}

/// A message while records are merged into it.
#[derive(Debug, Default)]
pub(super) struct MessageDraft {
    publications: BTreeSet<Publication>,
    types: BTreeSet<PubType>,
    batches: BTreeSet<Vec<String>>,
    tags: BTreeSet<String>,
    keys: BTreeSet<String>,
    body_lengths: BTreeSet<i64>,
    ends: BTreeSet<TransactionEnd>,
    recalls: BTreeSet<Recalled>,
    stored: BTreeSet<StoredAt>,
    offset_ids: BTreeSet<String>,
    machines: BTreeSet<Machine>,
}

/// One delivery, both halves merged.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    pub(super) message_id: String,
    pub(super) group: Option<String>,
    pub(super) attempt: Attempt,
    pub(super) keys: BTreeSet<String>,
    pub(super) machines: BTreeSet<Machine>,
    /// On the client's own clock, in its ids' time: how long it worked, where the end is known.
    pub(super) window_ms: Option<i64>,
}

#[derive(Debug, Default)]
struct Halves {
    befores: BTreeSet<Before>,
    afters: BTreeSet<After>,
    keys: BTreeSet<String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Before {
    time: Millis,
    retry: i64,
    group: String,
    host: String,
    owner: Option<String>,
    machine: Machine,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct After {
    time: Option<Millis>,
    cost: i64,
    success: bool,
    outcome: Option<Outcome>,
    group: Option<String>,
    host: String,
    owner: Option<String>,
    machine: Machine,
}

/// Everything that the records and facts say, merged.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) messages: BTreeMap<MessageKey, MessageDraft>,
    /// By request id and message id.
    pub(super) deliveries: Vec<Delivery>,
    /// The latest time, on its own clock, at which a process traced anything.
    pub(super) alive: BTreeMap<String, Millis>,
}

/// Merges `records` and `facts`.
pub(super) fn gather(records: &[TraceRecord], facts: &[Fact], aliases: &Aliases, clocks: &Clocks) -> Gathered {
    let mut gathered = Gathered::default();
    let mut halves: BTreeMap<(String, String), Halves> = BTreeMap::new();
    for record in records {
        let machine = Machine::of(record);
        gathered.note_alive(record);
        match &record.event {
            TraceEvent::Pub(e) => gathered.add_publication(record, e, aliases, clocks, &machine),
            TraceEvent::EndTransaction(e) => {
                let draft = gathered.message(aliases.canonical(&e.message_id), Some(&e.topic));
                draft.keys.extend(e.keys.iter().cloned());
                draft.tags.extend(e.tags.clone());
                let at = clocks.correct(&machine, e.time);
                draft.ends.insert(TransactionEnd { at, state: e.state.clone(), from_check: e.from_check });
                draft.machines.insert(machine);
            }
            TraceEvent::Recall(e) => {
                let draft = gathered.message(aliases.canonical(&e.message_id), Some(&e.topic));
                draft.recalls.insert(Recalled { at: clocks.correct(&machine, e.time), ok: e.success });
                draft.machines.insert(machine);
            }
            TraceEvent::SubBefore(e) => {
                let key = (e.request_id.clone(), aliases.canonical(&e.message_id).to_owned());
                let both = halves.entry(key).or_default();
                both.keys.extend(e.keys.iter().cloned());
                both.befores.insert(Before {
                    time: e.time,
                    retry: e.retry,
                    group: e.group.clone(),
                    host: record.origin.born_host.clone(),
                    owner: record.origin.owner_group.clone(),
                    machine,
                });
            }
            TraceEvent::SubAfter(e) => {
                let key = (e.request_id.clone(), aliases.canonical(&e.message_id).to_owned());
                let both = halves.entry(key).or_default();
                both.keys.extend(e.keys.iter().cloned());
                both.afters.insert(After {
                    time: e.time,
                    cost: e.cost,
                    success: e.success,
                    outcome: e.outcome,
                    group: e.group.clone(),
                    host: record.origin.born_host.clone(),
                    owner: record.origin.owner_group.clone(),
                    machine,
                });
            }
        }
    }
    for fact in facts {
        gathered.add_stored(fact, aliases);
    }
    gathered.join(halves, clocks);
    gathered.complete(aliases);
    gathered
}

impl Gathered {
    pub(super) fn stored(&self, key: &MessageKey) -> impl Iterator<Item = &StoredAt> {
        self.messages.get(key).into_iter().flat_map(|draft| &draft.stored)
    }

    pub(super) fn first_publication(&self, key: &MessageKey) -> Option<&Publication> {
        self.messages.get(key)?.publications.first()
    }

    /// Every delivery and every parent token gets a message to hang on; what was traced with a delivery is added to it.
    fn complete(&mut self, aliases: &Aliases) {
        let ids: BTreeSet<String> = self.messages.keys().map(|key| key.id.clone()).collect();
        for delivery in std::mem::take(&mut self.deliveries) {
            if ids.contains(&delivery.message_id) {
                let first = MessageKey { id: delivery.message_id.clone(), topic: None };
                let of_id = self.messages.range_mut(first..).take_while(|(key, _)| key.id == delivery.message_id);
                of_id.for_each(|(_, draft)| draft.keys.extend(delivery.keys.iter().cloned()));
            } else {
                self.message(&delivery.message_id, None).keys.extend(delivery.keys.iter().cloned());
            }
            self.deliveries.push(delivery);
        }
        // An object that was sent on has its keys in every topic.
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (key, draft) in &self.messages {
            keys.entry(key.id.clone()).or_default().extend(draft.keys.iter().cloned());
        }
        for (key, draft) in &mut self.messages {
            draft.keys.extend(keys.get(&key.id).into_iter().flatten().cloned());
        }
        let tokens: BTreeSet<String> = self
            .messages
            .values()
            .flat_map(|draft| &draft.keys)
            .filter_map(|key| key.strip_prefix(PARENT_TOKEN))
            .filter(|id| !id.is_empty())
            .map(|id| aliases.canonical(id).to_owned())
            .collect();
        let ids: BTreeSet<String> = self.messages.keys().map(|key| key.id.clone()).collect();
        for id in tokens.difference(&ids) {
            self.message(id, None);
        }
    }

    fn message(&mut self, id: &str, topic: Option<&str>) -> &mut MessageDraft {
        let key = MessageKey { id: id.to_owned(), topic: topic.map(str::to_owned) };
        self.messages.entry(key).or_default()
    }

    fn note_alive(&mut self, record: &TraceRecord) {
        let id = match &record.event {
            TraceEvent::SubBefore(e) => Some(&e.request_id),
            TraceEvent::SubAfter(e) => Some(&e.request_id),
            TraceEvent::Pub(e) => e.message_ids.first(),
            TraceEvent::EndTransaction(_) | TraceEvent::Recall(_) => None,
        };
        let Some(process) = id.and_then(|id| UniqId::parse(id)).map(|id| id.process) else { return };
        if let Some(time) = record.event.time() {
            let latest = self.alive.entry(process).or_insert(time);
            *latest = (*latest).max(time);
        }
    }

    fn add_publication(
        &mut self,
        record: &TraceRecord,
        e: &Pub,
        aliases: &Aliases,
        clocks: &Clocks,
        machine: &Machine,
    ) {
        let cost = e.cost.max(0);
        let (begin, end) = if written_by_go(e) { (e.time.plus(-cost), e.time) } else { (e.time, e.time.plus(cost)) };
        for (place, id) in e.message_ids.iter().enumerate() {
            let offset_id = e.offset_ids.get(place).cloned();
            let draft = self.message(aliases.canonical(id), Some(&e.topic));
            draft.publications.insert(Publication {
                begin: clocks.correct(machine, begin),
                end: clocks.correct(machine, end),
                raw: e.time,
                cost: e.cost,
                ok: e.success,
                group: e.producer_group.clone(),
                broker: e.store_host.clone(),
                offset_id: offset_id.clone(),
                process: UniqId::parse(id).map(|id| id.process),
                host: record.origin.born_host.clone(),
                region: e.region.clone(),
            });
            draft.types.insert(e.message_type);
            draft.tags.extend(e.tags.clone());
            draft.keys.extend(e.keys.iter().cloned());
            draft.offset_ids.extend(offset_id);
            draft.machines.insert(machine.clone());
            if e.message_ids.len() > 1 {
                draft.batches.insert(e.message_ids.clone());
            } else {
                draft.body_lengths.insert(e.body_length);
            }
        }
    }

    fn add_stored(&mut self, fact: &Fact, aliases: &Aliases) {
        let Fact::Stored { topic, message_id, offset_id, queue, offset, stored, keys, tags, reconsume_times } = fact
        else {
            return;
        };
        if topic.starts_with(RETRY_PREFIX) || topic.starts_with(DLQ_PREFIX) {
            return; // a copy, not the message
        }
        let draft = self.message(aliases.canonical(message_id), Some(topic));
        draft.offset_ids.extend(offset_id.clone());
        draft.keys.extend(keys.iter().cloned());
        draft.tags.extend(tags.clone());
        draft.stored.insert(StoredAt {
            queue: queue.clone(),
            offset: *offset,
            stored: *stored,
            reconsume_times: *reconsume_times,
        });
    }

    fn join(&mut self, halves: BTreeMap<(String, String), Halves>, clocks: &Clocks) {
        let mut together: BTreeMap<String, usize> = BTreeMap::new();
        for (request_id, _) in halves.keys() {
            *together.entry(request_id.clone()).or_default() += 1;
        }
        for ((request_id, message_id), both) in halves {
            let size = together.get(&request_id).copied().unwrap_or(1);
            if let Some(delivery) = delivery(request_id, message_id, both, size, clocks) {
                self.deliveries.push(delivery);
            }
        }
    }
}

/// Go writes the time after the send and a client host without a process id; Java 4.8.0, which writes a host too, adds
/// `@pid`.
fn written_by_go(e: &Pub) -> bool {
    e.client_host.as_deref().is_some_and(|host| !host.is_empty() && !host.contains('@'))
}

fn delivery(
    request_id: String,
    message_id: String,
    both: Halves,
    together: usize,
    clocks: &Clocks,
) -> Option<Delivery> {
    let before = both.befores.first();
    let after = both.afters.last();
    let host = before.map(|half| &half.host).or_else(|| after.map(|half| &half.host))?.clone();
    let id = UniqId::parse(&request_id);
    let raw_end = after.and_then(|half| half.time);
    let raw_begin = before.map(|half| half.time).or_else(|| begin_by_request(id.as_ref()?, raw_end?, after?.cost));
    let size = i64::try_from(together).unwrap_or(i64::MAX);
    let window_ms = match (raw_begin, raw_end, after) {
        (Some(begin), Some(end), _) => Some(end.since(begin).max(0)),
        // Java divides a batch's time by its size and rounds down.
        (_, None, Some(half)) if together > 1 => Some(half.cost.max(0).saturating_add(1).saturating_mul(size)),
        (_, _, Some(half)) => Some(half.cost.max(0)),
        _ => None,
    };
    let raw_end = raw_end.or_else(|| Some(raw_begin?.plus(after?.cost.max(0))));
    let begin_clock = before.map(|half| &half.machine).or_else(|| after.map(|half| &half.machine))?;
    let end_clock = after.map_or(begin_clock, |half| &half.machine);
    let owner = before.and_then(|half| half.owner.clone()).or_else(|| after.and_then(|half| half.owner.clone()));
    let group = before
        .map(|half| half.group.clone())
        .or_else(|| after.and_then(|half| half.group.clone()))
        .filter(|group| !group.is_empty())
        .or_else(|| owner.clone());
    let attempt = Attempt {
        begin: raw_begin.map(|time| clocks.correct(begin_clock, time)),
        end: raw_end.map(|time| clocks.correct(end_clock, time)),
        cost: after.map(|half| half.cost),
        ok: after.map(|half| half.success),
        outcome: after.and_then(|half| half.outcome),
        retry: before.map(|half| half.retry),
        process: id.map(|id| id.process),
        host,
        owner,
        raw_begin,
        request_id,
    };
    let machines = both.befores.iter().map(|half| &half.machine).chain(both.afters.iter().map(|half| &half.machine));
    Some(Delivery { message_id, group, attempt, machines: machines.cloned().collect(), keys: both.keys, window_ms })
}

/// When a delivery of which only the end was traced began: a request id carries its milliseconds in the client's month,
/// and months begin at whole quarters of an hour in every zone. Holds for work of less than that.
fn begin_by_request(id: &UniqId, end: Millis, cost: i64) -> Option<Millis> {
    const QUARTER: i64 = 15 * 60_000;
    let worked = end.0.checked_sub(id.ms_in_month)?.rem_euclid(QUARTER);
    (worked >= cost.saturating_sub(2)).then(|| end.plus(-worked))
}

impl MessageDraft {
    pub(super) fn keys(&self) -> &BTreeSet<String> {
        &self.keys
    }

    pub(super) fn machines(&self) -> &BTreeSet<Machine> {
        &self.machines
    }

    pub(super) fn published(&self) -> Option<Millis> {
        self.publications.iter().map(|publication| publication.begin).min()
    }

    pub(super) fn offset_ids(&self) -> &BTreeSet<String> {
        &self.offset_ids
    }

    /// Publications, ends and recalls; repeats count once.
    pub(super) fn records(&self) -> usize {
        self.publications.len() + self.ends.len() + self.recalls.len()
    }

    pub(super) fn types(&self) -> &BTreeSet<PubType> {
        &self.types
    }

    /// The merged message. `ordering` says that its process numbers types as clients 5.0.0 and 5.1.0 do; `first`, that
    /// no other topic got the same id earlier, so that the id tells the producing process; `consumed`, that a delivery
    /// was traced.
    pub(super) fn node(&self, key: &MessageKey, ordering: bool, first: bool, consumed: bool) -> MessageNode {
        let (tokens, keys): (Vec<&String>, Vec<&String>) =
            self.keys.iter().partition(|text| text.starts_with(PARENT_TOKEN));
        let mut publications: Vec<Publication> = self.publications.iter().cloned().collect();
        if !first {
            for publication in &mut publications {
                publication.process = None;
            }
        }
        let kind = self.kind(ordering);
        MessageNode {
            id: key.id.clone(),
            topic: key.topic.clone(),
            evidence: if !publications.is_empty() || consumed || !self.ends.is_empty() || !self.recalls.is_empty() {
                Evidence::Traced
            } else if self.stored.is_empty() {
                Evidence::SeenDownstream
            } else {
                Evidence::FoundInTopic
            },
            publications,
            perhaps: false,
            offset_ids: self.offset_ids.iter().cloned().collect(),
            tags: self.tags.first().cloned(),
            keys: keys.into_iter().cloned().collect(),
            parent_tokens: tokens
                .iter()
                .filter_map(|text| text.strip_prefix(PARENT_TOKEN))
                .map(str::to_owned)
                .collect(),
            body_length: self.body_lengths.last().copied(),
            kind,
            batch: self.batches.first().cloned().unwrap_or_default(),
            transaction: self.transaction(kind, consumed),
            recalls: self.recalls.iter().cloned().collect(),
            stored: self.stored.iter().cloned().collect(),
        }
    }

    fn kind(&self, ordering: bool) -> MessageKind {
        if !self.ends.is_empty() {
            return MessageKind::Transaction;
        }
        match self.types.last() {
            Some(PubType::Normal) => MessageKind::Normal,
            Some(PubType::HalfOrOrder) if ordering => MessageKind::Order,
            Some(PubType::TransactionHalf | PubType::TransactionCommit | PubType::HalfOrOrder) => {
                MessageKind::Transaction
            }
            // Ordinal 4 is "delay" in 5.0.0 and 5.1.0 and "order" later, but no classic client ever writes "order".
            Some(PubType::Delay | PubType::Order) => MessageKind::Delay,
            Some(PubType::Other(_)) | None => MessageKind::Unknown,
        }
    }

    /// The outcome as the producer decided it; a delivery proves a commit whose trace was lost.
    fn transaction(&self, kind: MessageKind, consumed: bool) -> Option<Transaction> {
        if kind != MessageKind::Transaction {
            return None;
        }
        let has = |state: &TransactionState| self.ends.iter().any(|end| end.state == *state);
        let outcome = if consumed || has(&TransactionState::Commit) {
            TransactionOutcome::Committed
        } else if has(&TransactionState::Rollback) {
            TransactionOutcome::RolledBack
        } else if self.ends.is_empty() {
            TransactionOutcome::Half
        } else {
            TransactionOutcome::Undecided
        };
        Some(Transaction { outcome, ends: self.ends.iter().cloned().collect() })
    }
}
