//! The list of topics: filter, chips, order and pages over one snapshot. No call to a broker.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_broker::MessageType;
use millrace_core::coverage::Coverage;
use millrace_core::name::TopicKind;
use serde::{Deserialize, Serialize};

use crate::listing::{Paged, directed};
use crate::snapshot::{Snapshot, TopicState};

/// A kind of topic to look at alone: by the message type for people's own topics, by the name for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chip {
    Normal,
    Fifo,
    Delay,
    Transaction,
    Mixed,
    Unspecified,
    Retry,
    DeadLetter,
    System,
}

impl Chip {
    pub const ALL: [Self; 9] = [
        Self::Normal,
        Self::Fifo,
        Self::Delay,
        Self::Transaction,
        Self::Mixed,
        Self::Unspecified,
        Self::Retry,
        Self::DeadLetter,
        Self::System,
    ];

    pub fn of(topic: &TopicState) -> Self {
        match topic.kind {
            TopicKind::Retry => Self::Retry,
            TopicKind::DeadLetter => Self::DeadLetter,
            TopicKind::System => Self::System,
            TopicKind::User => match topic.message_type {
                MessageType::Normal => Self::Normal,
                MessageType::Fifo => Self::Fifo,
                MessageType::Delay => Self::Delay,
                MessageType::Transaction => Self::Transaction,
                MessageType::Mixed => Self::Mixed,
                MessageType::Unspecified => Self::Unspecified,
            },
        }
    }

    /// As in a link.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Fifo => "fifo",
            Self::Delay => "delay",
            Self::Transaction => "transaction",
            Self::Mixed => "mixed",
            Self::Unspecified => "unspecified",
            Self::Retry => "retry",
            Self::DeadLetter => "dead_letter",
            Self::System => "system",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chip| chip.word() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    #[default]
    Name,
    Type,
    Queues,
    Rate,
    Groups,
    Lag,
    LastWrite,
}

impl Sort {
    pub const ALL: [Self; 7] =
        [Self::Name, Self::Type, Self::Queues, Self::Rate, Self::Groups, Self::Lag, Self::LastWrite];

    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Type => "type",
            Self::Queues => "queues",
            Self::Rate => "rate",
            Self::Groups => "groups",
            Self::Lag => "lag",
            Self::LastWrite => "last_write",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicQuery {
    /// Part of the name or of a reading group's name, in any case.
    pub filter: String,
    pub chip: Option<Chip>,
    /// Retry, dead-letter and system topics stay out, unless their chip is chosen.
    pub hide_system: bool,
    pub sort: Sort,
    pub descending: bool,
    /// From 1.
    pub page: usize,
    pub size: usize,
}

impl Default for TopicQuery {
    fn default() -> Self {
        Self {
            filter: String::new(),
            chip: None,
            hide_system: true,
            sort: Sort::Name,
            descending: false,
            page: 1,
            size: 50,
        }
    }
}

#[derive(Debug, Clone)]
pub struct TopicPage {
    pub rows: Vec<Arc<TopicState>>,
    /// Rows on all pages.
    pub total: usize,
    /// The page that this is; the last one where a later one was asked for.
    pub page: usize,
    pub pages: usize,
    pub size: usize,
    /// How many topics each chip would show with this filter.
    pub counts: BTreeMap<Chip, usize>,
    /// How many the list without a chip would show.
    pub all: usize,
    pub coverage: Coverage,
}

pub fn list(snapshot: &Snapshot, query: &TopicQuery) -> TopicPage {
    let filter = query.filter.trim().to_lowercase();
    let matching: Vec<&Arc<TopicState>> =
        snapshot.topics.values().filter(|topic| filter.is_empty() || matches(topic, &filter)).collect();
    let mut counts = BTreeMap::new();
    for topic in &matching {
        *counts.entry(Chip::of(topic)).or_default() += 1;
    }
    let shown_without_chip = |topic: &TopicState| !query.hide_system || topic.kind == TopicKind::User;
    let all = matching.iter().filter(|topic| shown_without_chip(topic)).count();
    let mut rows: Vec<&Arc<TopicState>> = matching
        .into_iter()
        .filter(|topic| query.chip.map_or_else(|| shown_without_chip(topic), |chip| Chip::of(topic) == chip))
        .collect();
    rows.sort_by(|a, b| order(a, b, query.sort, query.descending));
    let paged = Paged::of(rows, query.page, query.size);
    TopicPage {
        total: paged.total,
        page: paged.page,
        pages: paged.pages,
        size: paged.size,
        counts,
        all,
        coverage: snapshot.coverage(),
        rows: paged.rows.into_iter().cloned().collect(),
    }
}

fn matches(topic: &TopicState, filter: &str) -> bool {
    topic.name.to_lowercase().contains(filter)
        || topic.groups.iter().any(|group| group.group.to_lowercase().contains(filter))
}

/// Unknown values come last in both directions; equals go by name.
fn order(a: &TopicState, b: &TopicState, sort: Sort, descending: bool) -> Ordering {
    let by = match sort {
        Sort::Name => {
            let by_name = a.name.cmp(&b.name);
            return if descending { by_name.reverse() } else { by_name };
        }
        Sort::Type => directed(Some(Chip::of(a)), Some(Chip::of(b)), descending, Ord::cmp),
        Sort::Queues => directed(a.queues.value(), b.queues.value(), descending, Ord::cmp),
        Sort::Rate => directed(a.per_second.value(), b.per_second.value(), descending, f64::total_cmp),
        Sort::Groups => directed(Some(a.groups.len()), Some(b.groups.len()), descending, Ord::cmp),
        Sort::Lag => directed(lag(a), lag(b), descending, Ord::cmp),
        Sort::LastWrite => directed(last_write(a), last_write(b), descending, Ord::cmp),
    };
    by.then_with(|| a.name.cmp(&b.name))
}

fn lag(topic: &TopicState) -> Option<i64> {
    topic.lag.as_ref().and_then(crate::Tally::value)
}

fn last_write(topic: &TopicState) -> Option<millrace_core::time::Millis> {
    topic.last_write.known().copied().flatten()
}
