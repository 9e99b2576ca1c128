//! The list of topics.

use askama::Template;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::snapshot::TopicState;
use millrace_console::topics::{Chip, Sort, TopicPage, TopicQuery, list};
use millrace_core::coverage::{Coverage, Known};
use millrace_core::time::Millis;
use serde::Deserialize;

use super::amount::Amount;
use super::chip_word;
use crate::component::{Column, Sparkline};
use crate::format;
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::render::filters;
use crate::{Failure, InCluster};

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    filter: String,
    #[serde(default)]
    kind: String,
    /// `1`: also what RocketMQ made itself.
    #[serde(default)]
    all: String,
    #[serde(default)]
    sort: String,
    /// `1`: from the largest.
    #[serde(default)]
    desc: String,
    #[serde(default)]
    page: Option<usize>,
    #[serde(default)]
    size: Option<usize>,
}

impl Asked {
    pub(crate) fn query(&self) -> TopicQuery {
        let default = TopicQuery::default();
        TopicQuery {
            filter: self.filter.clone(),
            chip: Chip::parse(&self.kind),
            hide_system: self.all != "1",
            sort: Sort::parse(&self.sort).unwrap_or(default.sort),
            descending: self.desc == "1",
            page: self.page.unwrap_or(default.page),
            size: self.size.unwrap_or(default.size),
        }
    }
}

/// A kind that the list can be narrowed to.
struct ChipLink {
    word: Msg,
    count: usize,
    chosen: bool,
    link: Link,
}

struct Row {
    name: String,
    link: Link,
    kind: Msg,
    queues: String,
    queues_why: String,
    rate: Amount,
    line: Option<Sparkline>,
    groups: Vec<(String, Link)>,
    more_groups: usize,
    /// `None`: no group reads it.
    lag: Option<Amount>,
    behind: bool,
    last_write: Known<Option<Millis>>,
    differs: bool,
}

#[derive(Template)]
#[template(path = "topics/list.html", blocks = ["topics"])]
struct List {
    cluster: String,
    asked: Asked,
    can_create: bool,
    chips: Vec<ChipLink>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    shown: Msg,
    previous: Option<Link>,
    next: Option<Link>,
    coverage: Coverage,
    /// Nothing was ever read.
    unread: bool,
}

/// Names of groups that a row shows.
const GROUPS_SHOWN: usize = 3;

impl List {
    fn of(cluster: &str, asked: Asked, page: &TopicPage, query: &TopicQuery, can_create: bool, locale: Locale) -> Self {
        let link = |query: &TopicQuery| link(cluster, query);
        let at = |page: usize| link(&TopicQuery { page, ..query.clone() });
        let mut chips = vec![ChipLink {
            word: Msg::new("topics-chip-all"),
            count: page.all,
            chosen: query.chip.is_none(),
            link: link(&TopicQuery { chip: None, page: 1, ..query.clone() }),
        }];
        chips.extend(Chip::ALL.into_iter().filter_map(|chip| {
            let count = page.counts.get(&chip).copied().unwrap_or(0);
            let chosen = query.chip == Some(chip);
            (count > 0 || chosen).then(|| ChipLink {
                word: chip_word(chip),
                count,
                chosen,
                link: link(&TopicQuery { chip: Some(chip), page: 1, ..query.clone() }),
            })
        }));
        let first = (page.page - 1) * page.size;
        Self {
            cluster: cluster.to_owned(),
            can_create,
            chips,
            columns: columns(cluster, query),
            rows: page.rows.iter().map(|state| Row::of(cluster, state, locale)).collect(),
            shown: Msg::new("topics-shown")
                .with("from", if page.total == 0 { 0 } else { first + 1 })
                .with("to", first + page.rows.len())
                .with("total", page.total),
            previous: (page.page > 1).then(|| at(page.page - 1)),
            next: (page.page < page.pages).then(|| at(page.page + 1)),
            unread: page.coverage.as_of.is_none(),
            coverage: page.coverage.clone(),
            asked,
        }
    }
}

fn link(cluster: &str, query: &TopicQuery) -> Link {
    let default = TopicQuery::default();
    let unless = |differs: bool, text: String| if differs { text } else { String::new() };
    links::topics(cluster)
        .with("filter", &query.filter)
        .with("kind", query.chip.map_or("", Chip::word))
        .with("all", if query.hide_system { "" } else { "1" })
        .with("sort", unless(query.sort != default.sort, query.sort.word().to_owned()))
        .with("desc", if query.descending { "1" } else { "" })
        .with("size", unless(query.size != default.size, query.size.to_string()))
        .with("page", unless(query.page > 1, query.page.to_string()))
}

fn columns(cluster: &str, query: &TopicQuery) -> Vec<Column> {
    let column = |word, sort: Sort, class| {
        // Amounts are first wanted from the largest.
        let largest_first = !matches!(sort, Sort::Name | Sort::Type);
        let sorted_by = (query.sort == sort).then_some(query.descending);
        Column::of(word, sorted_by, largest_first, class, |descending| {
            link(cluster, &TopicQuery { sort, descending, page: 1, ..query.clone() })
        })
    };
    vec![
        column(Msg::new("topics-name"), Sort::Name, ""),
        column(Msg::new("topics-type"), Sort::Type, ""),
        column(Msg::new("topics-queues"), Sort::Queues, "num"),
        column(Msg::new("topics-in"), Sort::Rate, "num"),
        column(Msg::new("topics-groups"), Sort::Groups, ""),
        column(Msg::new("topics-lag"), Sort::Lag, "num"),
        column(Msg::new("topics-last-write"), Sort::LastWrite, ""),
    ]
}

impl Row {
    fn of(cluster: &str, state: &TopicState, locale: Locale) -> Self {
        let queues = Amount::of(&state.queues, locale, format::grouped);
        let rate = Amount::of(&state.per_second, locale, |n| {
            Msg::new("unit-per-second").with("n", format::decimal(n)).text(locale)
        });
        let first = state.brokers.first().map(|place| place.config.write_queues);
        let even = state.brokers.iter().all(|place| Some(place.config.write_queues) == first);
        let shape = match (even && state.brokers.len() > 1, first) {
            (true, Some(each)) => format!("{} × {each}", state.brokers.len()),
            _ => queues.text.trim_start_matches("≥ ").to_owned(),
        };
        let behind = state.groups.iter().any(|group| group.trend != millrace_console::snapshot::Trend::Steady);
        Self {
            name: state.name.clone(),
            link: links::topic(cluster, &state.name),
            kind: chip_word(Chip::of(state)),
            queues: if queues.unknown && !shape.is_empty() { format!("≥ {shape}") } else { shape },
            queues_why: queues.why,
            rate,
            line: (state.history.len() > 1).then(|| Sparkline::of(&state.history)),
            groups: state
                .groups
                .iter()
                .take(GROUPS_SHOWN)
                .map(|on| (on.group.clone(), links::group(cluster, &on.group)))
                .collect(),
            more_groups: state.groups.len().saturating_sub(GROUPS_SHOWN),
            lag: state.lag.as_ref().map(|lag| Amount::of(lag, locale, format::grouped)),
            behind,
            last_write: state.last_write.clone(),
            differs: state.differs,
        }
    }
}

pub(crate) async fn show(InCluster { cx, view }: InCluster, Query(asked): Query<Asked>) -> Result<Response, Failure> {
    let query = asked.query();
    let page = list(&view.console.snapshot(), &query);
    let list = List::of(&view.name, asked, &page, &query, view.console.writable(), cx.locale);
    match cx.hx.target() {
        Some("topics") => cx.html(&list.as_topics()),
        _ => cx.html(&list),
    }
}
