//! Deliveries are gathered into hops, and each hop is placed at the message that it consumed.
//!
//! Consumers' traces carry no topic. Where one id lies in several topics, subscriptions and times decide, and where they
//! do not, the hop keeps all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::Machine;
use super::fact::{ConsumeModel, Fact};
use super::gather::{Delivery, Gathered, MessageKey};
use super::model::{Attempt, DeadLetterCopy, Publication};
use crate::time::Millis;

/// A hop while it is being put together.
#[derive(Debug, Clone, Default)]
pub(super) struct HopDraft {
    pub(super) message: usize,
    pub(super) or_messages: Vec<usize>,
    pub(super) group: Option<String>,
    /// By begin.
    pub(super) attempts: Vec<Attempt>,
    /// One for each attempt: see [`Delivery::window_ms`].
    pub(super) windows: Vec<Option<i64>>,
    pub(super) dead_letters: Vec<DeadLetterCopy>,
    /// See [`super::model::Hop::read_from`].
    pub(super) read_from: Option<DeadLetterCopy>,
    pub(super) machines: BTreeSet<Machine>,
    /// Nothing of it was traced; a child names its message.
    pub(super) by_child: bool,
}

/// What the broker says about groups, by topic and group.
#[derive(Debug, Default)]
pub(super) struct Groups<'a> {
    pub(super) subscriptions: BTreeMap<(&'a str, &'a str), Subscription<'a>>,
    pub(super) configs: BTreeMap<&'a str, (Option<i64>, Option<bool>)>,
    pub(super) committed: BTreeMap<(&'a str, &'a crate::name::QueueRef), i64>,
    pub(super) products: BTreeSet<(&'a str, &'a str)>,
    /// Group and topic that it was seen to consume.
    reads: BTreeSet<(&'a str, &'a str)>,
    /// Group and topic with when the group's traced deliveries began: the first and the last that were looked at.
    traced: BTreeMap<(&'a str, &'a str), (Millis, Millis)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Subscription<'a> {
    pub(super) expression: Option<&'a str>,
    pub(super) clients: Option<usize>,
    pub(super) model: Option<ConsumeModel>,
}

impl Subscription<'_> {
    fn broadcasts(self) -> bool {
        self.model == Some(ConsumeModel::Broadcasting)
    }
}

impl<'a> Groups<'a> {
    /// `facts` are sorted; of facts that contradict each other the last one counts.
    pub(super) fn of(facts: &'a [Fact]) -> Self {
        let mut groups = Self::default();
        for fact in facts {
            match fact {
                Fact::Subscribed { topic, group, expression, clients, model } => {
                    let subscription =
                        Subscription { expression: expression.as_deref(), clients: *clients, model: *model };
                    groups.subscriptions.insert((topic, group), subscription);
                }
                Fact::Group { group, max_retries, orderly } => {
                    groups.configs.insert(group, (*max_retries, *orderly));
                }
                Fact::Committed { group, queue, committed } => {
                    groups.committed.insert((group, queue), *committed);
                }
                Fact::Produces { group, topic } => {
                    groups.products.insert((group, topic));
                }
                Fact::Consumes { group, topic, first, last } => {
                    groups.reads.insert((group, topic));
                    if let Some(between) = first.zip(*last) {
                        groups.traced.insert((group, topic), between);
                    }
                }
                Fact::DeadLetter { .. } | Fact::Stored { .. } => {}
            }
        }
        groups
    }

    /// Whether the group is known to have traced what it took from the topic, before and after `at`.
    pub(super) fn traced_around(&self, topic: Option<&str>, group: Option<&str>, at: Millis) -> bool {
        let between = group.zip(topic).and_then(|place| self.traced.get(&place));
        between.is_some_and(|(first, last)| (*first..=*last).contains(&at))
    }

    pub(super) fn subscription(&self, topic: Option<&str>, group: Option<&str>) -> Option<Subscription<'a>> {
        self.subscriptions.get(&(topic?, group?)).copied()
    }

    fn subscribers(&self, topic: &'a str) -> impl Iterator<Item = &'a str> {
        self.subscriptions.range((topic, "")..).take_while(move |((t, _), _)| *t == topic).map(|((_, group), _)| *group)
    }

    /// Whether the group is declared broadcasting for the topic, or for any where the topic is not known.
    pub(super) fn broadcasting(&self, topic: Option<&str>, group: Option<&str>) -> bool {
        match topic {
            Some(_) => self.subscription(topic, group).is_some_and(Subscription::broadcasts),
            None => self.subscriptions.iter().any(|((_, g), s)| Some(*g) == group && s.broadcasts()),
        }
    }

    /// Whether the group's clients say that it gets each message once. Offsets at the broker do not: some brokers keep
    /// them for broadcasting groups too.
    pub(super) fn once(&self, topic: Option<&str>, group: Option<&str>) -> bool {
        let of_group = self
            .subscriptions
            .iter()
            .filter(|((of, g), _)| Some(*g) == group && topic.is_none_or(|topic| topic == *of));
        let mut models = of_group.filter_map(|(_, subscription)| subscription.model).peekable();
        models.peek().is_some() && models.all(|model| model != ConsumeModel::Broadcasting)
    }
}

/// Puts hops together: traced ones, then those that facts say there should be.
pub(super) fn hops(gathered: &Gathered, keys: &[MessageKey], groups: &Groups<'_>, facts: &[Fact]) -> Vec<HopDraft> {
    let mut by_hop: BTreeMap<(&str, Option<&str>), Vec<&Delivery>> = BTreeMap::new();
    for delivery in &gathered.deliveries {
        by_hop.entry((&delivery.message_id, delivery.group.as_deref())).or_default().push(delivery);
    }
    let mut hops: BTreeMap<(usize, Option<String>), HopDraft> = BTreeMap::new();
    for ((id, group), deliveries) in by_hop {
        let Some((message, or_messages)) = choose(gathered, keys, groups, id, group, &deliveries) else { continue };
        hops.insert((message, group.map(str::to_owned)), traced(message, or_messages, group, &deliveries));
    }
    for fact in facts {
        if let Fact::DeadLetter { group, message_id, topic, stored, offset_id, origin_id, tries } = fact {
            let copy =
                DeadLetterCopy { topic: topic.clone(), stored: *stored, offset_id: offset_id.clone(), tries: *tries };
            add_dead_letter(&mut hops, keys, group, [Some(message_id), origin_id.as_ref()], copy);
        }
    }
    find_readers_of_dead_letters(&mut hops, keys, groups);
    for (message, key) in keys.iter().enumerate() {
        let Some(topic) = key.topic.as_deref() else { continue };
        let mut expected: BTreeSet<&str> = groups.subscribers(topic).collect();
        for stored in gathered.stored(key) {
            let passed = groups.committed.keys().filter(|(_, queue)| **queue == stored.queue);
            expected.extend(passed.map(|(group, _)| *group));
        }
        for group in expected {
            let group = Some(group.to_owned());
            hops.entry((message, group.clone())).or_insert_with(|| HopDraft { message, group, ..HopDraft::default() });
        }
    }
    hops.into_values().collect()
}

fn traced(message: usize, or_messages: Vec<usize>, group: Option<&str>, deliveries: &[&Delivery]) -> HopDraft {
    let mut attempts: Vec<(Attempt, Option<i64>)> =
        deliveries.iter().map(|delivery| (delivery.attempt.clone(), delivery.window_ms)).collect();
    attempts.sort_by(|(a, _), (b, _)| {
        (a.begin.or(a.end), a.retry, &a.request_id).cmp(&(b.begin.or(b.end), b.retry, &b.request_id))
    });
    let (attempts, windows) = attempts.into_iter().unzip();
    HopDraft {
        message,
        or_messages,
        group: group.map(str::to_owned),
        attempts,
        windows,
        machines: deliveries.iter().flat_map(|delivery| delivery.machines.iter().cloned()).collect(),
        ..HopDraft::default()
    }
}

/// The message that the deliveries of `group` on `id` consumed, and the others that it may be.
fn choose(
    gathered: &Gathered,
    keys: &[MessageKey],
    groups: &Groups<'_>,
    id: &str,
    group: Option<&str>,
    deliveries: &[&Delivery],
) -> Option<(usize, Vec<usize>)> {
    let first = keys.partition_point(|key| key.id.as_str() < id);
    let places: Vec<usize> =
        keys.iter().enumerate().skip(first).take_while(|(_, key)| key.id == id).map(|(place, _)| place).collect();
    let topic = |place: &usize| keys.get(*place).and_then(|key| key.topic.as_deref());
    let begin = deliveries.iter().filter_map(|delivery| delivery.attempt.begin.or(delivery.attempt.end)).min();
    let publication = |place: &usize| gathered.first_publication(keys.get(*place)?);

    let mut left = places;
    narrow(&mut left, |place| groups.subscription(topic(place), group).is_some());
    narrow(&mut left, |place| {
        topic(place).zip(group).is_some_and(|(topic, group)| groups.reads.contains(&(group, topic)))
    });
    narrow(&mut left, |place| topic(place).is_some());
    // What the delivery sent on itself is not what it consumed.
    narrow(&mut left, |place| {
        publication(place).is_none_or(|sent| !deliveries.iter().any(|delivery| sent_within(&delivery.attempt, sent)))
    });
    narrow(&mut left, |place| match (publication(place), begin) {
        (Some(sent), Some(begin)) => sent.begin <= begin,
        _ => true,
    });
    // The first topic is the likelier one: whoever sent the object on had it from there.
    left.sort_by_key(|place| (publication(place).map(|sent| sent.begin), *place));
    let (message, others) = left.split_first()?;
    Some((*message, others.to_vec()))
}

/// Keeps what `holds`, unless nothing would be left.
fn narrow(places: &mut Vec<usize>, holds: impl Fn(&usize) -> bool) {
    if places.iter().any(&holds) {
        places.retain(holds);
    }
}

/// Whether the client machine of `attempt` made `sent` while the attempt ran.
pub(super) fn sent_within(attempt: &Attempt, sent: &Publication) -> bool {
    let Some(begin) = attempt.begin else { return false };
    let end = attempt.end.unwrap_or(Millis(i64::MAX));
    attempt.host == sent.host && begin <= sent.begin && sent.begin <= end
}

fn add_dead_letter(
    hops: &mut BTreeMap<(usize, Option<String>), HopDraft>,
    keys: &[MessageKey],
    group: &str,
    ids: [Option<&String>; 2],
    copy: DeadLetterCopy,
) {
    let of_id = |message: usize| keys.get(message).is_some_and(|key| ids.iter().flatten().any(|id| **id == key.id));
    let known = hops.iter().find(|((message, g), _)| g.as_deref() == Some(group) && of_id(*message));
    let at = known.map(|(at, _)| at.clone()).or_else(|| {
        let message = (0..keys.len()).find(|message| of_id(*message))?;
        Some((message, Some(group.to_owned())))
    });
    let Some(at) = at else { return };
    let hop = hops.entry(at.clone()).or_insert_with(|| HopDraft { message: at.0, group: at.1, ..HopDraft::default() });
    if !hop.dead_letters.contains(&copy) {
        hop.dead_letters.push(copy);
        hop.dead_letters.sort();
    }
}

/// A dead letter keeps its message's id, so a delivery of it looks like one of the message: subscriptions decide.
fn find_readers_of_dead_letters(
    hops: &mut BTreeMap<(usize, Option<String>), HopDraft>,
    keys: &[MessageKey],
    groups: &Groups<'_>,
) {
    let copies: Vec<(usize, DeadLetterCopy)> =
        hops.values().flat_map(|hop| hop.dead_letters.iter().map(|copy| (hop.message, copy.clone()))).collect();
    for (message, copy) in copies {
        let topic = keys.get(message).and_then(|key| key.topic.as_deref());
        for hop in hops.values_mut().filter(|hop| hop.message == message && !hop.attempts.is_empty()) {
            let group = hop.group.as_deref();
            let reads = groups.subscription(Some(&copy.topic), group).is_some();
            if reads && groups.subscription(topic, group).is_none() {
                hop.read_from = Some(copy.clone());
            }
        }
    }
}
