//! The list of groups: filter, chips, order and pages over one snapshot. No call to a broker.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use millrace_core::coverage::{Coverage, Known};
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

use crate::listing::{Paged, directed};
use crate::snapshot::{GroupState, Snapshot, Trend};

/// How a group does, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It has messages to read, its clients are online, and its offsets do not move.
    Stuck,
    /// It has messages to read, and nobody of it is online.
    Offline,
    /// Its lag grows and grows.
    Growing,
    /// Something of it could not be read.
    Unknown,
    /// It has messages to read, and reads them.
    Reading,
    /// It has read everything.
    Done,
    /// It has committed no offset: it is new, or it broadcasts.
    NoOffset,
    /// No broker knows it any more; its offsets are still there.
    LeftOver,
}

impl Standing {
    pub const ALL: [Self; 8] = [
        Self::Stuck,
        Self::Offline,
        Self::Growing,
        Self::Unknown,
        Self::Reading,
        Self::Done,
        Self::NoOffset,
        Self::LeftOver,
    ];

    pub fn of(group: &GroupState) -> Self {
        if group.left_over {
            return Self::LeftOver;
        }
        let Some(lag) = &group.lag else {
            return Self::NoOffset;
        };
        let behind = lag.at_least() > 0;
        let nobody = group.clients.online.value() == Some(0);
        match group.trend {
            _ if behind && nobody => Self::Offline,
            Trend::Stuck { .. } => Self::Stuck,
            Trend::Growing { .. } => Self::Growing,
            Trend::Steady => match lag.value() {
                None => Self::Unknown,
                Some(0) => Self::Done,
                Some(_) => Self::Reading,
            },
        }
    }

    /// As in a link.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Offline => "offline",
            Self::Growing => "growing",
            Self::Unknown => "unknown",
            Self::Reading => "reading",
            Self::Done => "done",
            Self::NoOffset => "no_offset",
            Self::LeftOver => "left_over",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.word() == word)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupSort {
    #[default]
    Name,
    Standing,
    Clients,
    Topics,
    Rate,
    Lag,
    Age,
}

impl GroupSort {
    pub const ALL: [Self; 7] =
        [Self::Name, Self::Standing, Self::Clients, Self::Topics, Self::Rate, Self::Lag, Self::Age];

    pub fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Standing => "standing",
            Self::Clients => "clients",
            Self::Topics => "topics",
            Self::Rate => "rate",
            Self::Lag => "lag",
            Self::Age => "age",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupQuery {
    /// Part of the name or of a topic that it reads, in any case.
    pub filter: String,
    pub standing: Option<Standing>,
    pub hide_system: bool,
    pub sort: GroupSort,
    pub descending: bool,
    /// From 1.
    pub page: usize,
    pub size: usize,
}

impl Default for GroupQuery {
    fn default() -> Self {
        Self {
            filter: String::new(),
            standing: None,
            hide_system: true,
            sort: GroupSort::Name,
            descending: false,
            page: 1,
            size: 50,
        }
    }
}

#[derive(Debug, Clone)]
pub struct GroupPage {
    pub rows: Vec<Arc<GroupState>>,
    /// Rows on all pages.
    pub total: usize,
    /// The page that this is; the last one where a later one was asked for.
    pub page: usize,
    pub pages: usize,
    pub size: usize,
    /// How many groups each standing would show with this filter.
    pub counts: BTreeMap<Standing, usize>,
    /// How many the list without a standing would show.
    pub all: usize,
    pub coverage: Coverage,
}

pub fn list(snapshot: &Snapshot, query: &GroupQuery) -> GroupPage {
    let filter = query.filter.trim().to_lowercase();
    let shown =
        |group: &GroupState| (!query.hide_system || !group.system) && (filter.is_empty() || matches(group, &filter));
    let matching: Vec<(Standing, &Arc<GroupState>)> =
        snapshot.groups.values().filter(|group| shown(group)).map(|group| (Standing::of(group), group)).collect();
    let mut counts = BTreeMap::new();
    for (standing, _) in &matching {
        *counts.entry(*standing).or_default() += 1;
    }
    let all = matching.len();
    let chosen = |standing: Standing| query.standing.is_none_or(|wanted| wanted == standing);
    let mut rows: Vec<(Standing, &Arc<GroupState>)> =
        matching.into_iter().filter(|(standing, _)| chosen(*standing)).collect();
    rows.sort_by(|a, b| order(*a, *b, query.sort, query.descending));
    let paged = Paged::of(rows, query.page, query.size);
    GroupPage {
        total: paged.total,
        page: paged.page,
        pages: paged.pages,
        size: paged.size,
        counts,
        all,
        coverage: snapshot.coverage(),
        rows: paged.rows.into_iter().map(|(_, group)| Arc::clone(group)).collect(),
    }
}

fn matches(group: &GroupState, filter: &str) -> bool {
    group.name.to_lowercase().contains(filter) || group.topics.iter().any(|on| on.topic.to_lowercase().contains(filter))
}

/// Equals go by name.
fn order(
    (standing_a, a): (Standing, &Arc<GroupState>),
    (standing_b, b): (Standing, &Arc<GroupState>),
    sort: GroupSort,
    descending: bool,
) -> Ordering {
    let by = match sort {
        GroupSort::Name => {
            let by_name = a.name.cmp(&b.name);
            return if descending { by_name.reverse() } else { by_name };
        }
        GroupSort::Standing => directed(Some(standing_a), Some(standing_b), descending, Ord::cmp),
        GroupSort::Clients => directed(a.clients.online.value(), b.clients.online.value(), descending, Ord::cmp),
        GroupSort::Topics => directed(Some(a.topics.len()), Some(b.topics.len()), descending, Ord::cmp),
        GroupSort::Rate => {
            directed(a.per_second.known(), b.per_second.known(), descending, |a, b| f64::total_cmp(a, b))
        }
        GroupSort::Lag => directed(lag(a), lag(b), descending, Ord::cmp),
        // The older, the larger.
        GroupSort::Age => directed(oldest(a), oldest(b), descending, |a, b| b.cmp(a)),
    };
    by.then_with(|| a.name.cmp(&b.name))
}

fn lag(group: &GroupState) -> Option<i64> {
    group.lag.as_ref().and_then(crate::Tally::value)
}

fn oldest(group: &GroupState) -> Option<Millis> {
    match group.oldest_unread {
        Known::Known(at) => at,
        Known::Unknown(_) => None,
    }
}
