//! The list of groups.

use askama::Template;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::groups::{GroupPage, GroupQuery, GroupSort, Standing, list};
use millrace_console::snapshot::GroupState;
use millrace_core::coverage::{Coverage, Known, Why};
use millrace_core::time::Millis;
use serde::Deserialize;

use super::{kind_words, standing_state, standing_word};
use crate::component::{Column, State};
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::pages::topics::amount::Amount;
use crate::render::filters;
use crate::{Failure, InCluster, format};

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    filter: String,
    #[serde(default)]
    standing: String,
    /// `1`: also RocketMQ's own.
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
    pub(crate) fn query(&self) -> GroupQuery {
        let default = GroupQuery::default();
        GroupQuery {
            filter: self.filter.clone(),
            standing: Standing::parse(&self.standing),
            hide_system: self.all != "1",
            sort: GroupSort::parse(&self.sort).unwrap_or(default.sort),
            descending: self.desc == "1",
            page: self.page.unwrap_or(default.page),
            size: self.size.unwrap_or(default.size),
        }
    }
}

/// A standing that the list can be narrowed to.
struct StandingLink {
    word: Msg,
    count: usize,
    chosen: bool,
    link: Link,
}

struct Row {
    name: String,
    link: Link,
    state: State,
    word: Msg,
    kind: Option<(Msg, Msg)>,
    clients: Amount,
    topics: Vec<(String, Link)>,
    more_topics: usize,
    rate: Result<String, Why>,
    /// `None`: it committed no offset.
    lag: Option<Amount>,
    oldest: Known<Option<Millis>>,
    dead: i64,
    dead_link: Link,
    differs: bool,
}

#[derive(Template)]
#[template(path = "groups/list.html", blocks = ["groups"])]
struct List {
    cluster: String,
    asked: Asked,
    can_create: bool,
    standings: Vec<StandingLink>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    shown: Msg,
    previous: Option<Link>,
    next: Option<Link>,
    coverage: Coverage,
    /// Nothing was ever read.
    unread: bool,
}

/// Names of topics that a row shows.
const TOPICS_SHOWN: usize = 2;

impl List {
    fn of(cluster: &str, asked: Asked, page: &GroupPage, query: &GroupQuery, can_create: bool, locale: Locale) -> Self {
        let link = |query: &GroupQuery| link(cluster, query);
        let at = |page: usize| link(&GroupQuery { page, ..query.clone() });
        let narrowed = |standing| link(&GroupQuery { standing, page: 1, ..query.clone() });
        let mut standings = vec![StandingLink {
            word: Msg::new("topics-chip-all"),
            count: page.all,
            chosen: query.standing.is_none(),
            link: narrowed(None),
        }];
        standings.extend(Standing::ALL.into_iter().filter_map(|standing| {
            let count = page.counts.get(&standing).copied().unwrap_or(0);
            let chosen = query.standing == Some(standing);
            let word = standing_word(standing);
            (count > 0 || chosen).then(|| StandingLink { word, count, chosen, link: narrowed(Some(standing)) })
        }));
        let first = (page.page - 1) * page.size;
        Self {
            cluster: cluster.to_owned(),
            can_create,
            standings,
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

fn link(cluster: &str, query: &GroupQuery) -> Link {
    let default = GroupQuery::default();
    let unless = |differs: bool, text: String| if differs { text } else { String::new() };
    links::groups(cluster)
        .with("filter", &query.filter)
        .with("standing", query.standing.map_or("", Standing::word))
        .with("all", if query.hide_system { "" } else { "1" })
        .with("sort", unless(query.sort != default.sort, query.sort.word().to_owned()))
        .with("desc", if query.descending { "1" } else { "" })
        .with("size", unless(query.size != default.size, query.size.to_string()))
        .with("page", unless(query.page > 1, query.page.to_string()))
}

fn columns(cluster: &str, query: &GroupQuery) -> Vec<Column> {
    let column = |word, sort: GroupSort, class| {
        // Amounts are first wanted from the largest.
        let largest_first = !matches!(sort, GroupSort::Name | GroupSort::Standing);
        let sorted_by = (query.sort == sort).then_some(query.descending);
        Column::of(word, sorted_by, largest_first, class, |descending| {
            link(cluster, &GroupQuery { sort, descending, page: 1, ..query.clone() })
        })
    };
    vec![
        column(Msg::new("groups-group"), GroupSort::Name, ""),
        column(Msg::new("groups-state"), GroupSort::Standing, ""),
        column(Msg::new("groups-clients"), GroupSort::Clients, "num"),
        column(Msg::new("groups-topics"), GroupSort::Topics, ""),
        column(Msg::new("groups-out"), GroupSort::Rate, "num"),
        column(Msg::new("groups-lag"), GroupSort::Lag, "num"),
        column(Msg::new("groups-oldest"), GroupSort::Age, ""),
    ]
}

impl Row {
    fn of(cluster: &str, state: &GroupState, locale: Locale) -> Self {
        let standing = Standing::of(state);
        let own_topics = || state.topics.iter().filter(|on| !on.topic.starts_with(millrace_core::name::RETRY_PREFIX));
        let per_second = |n: &f64| Msg::new("unit-per-second").with("n", format::decimal(*n)).text(locale);
        Self {
            name: state.name.clone(),
            link: links::group(cluster, &state.name),
            state: standing_state(standing),
            word: standing_word(standing),
            kind: kind_words(&state.clients.consume_type, &state.clients.message_model),
            clients: Amount::of(&state.clients.online, locale, format::grouped),
            topics: own_topics()
                .take(TOPICS_SHOWN)
                .map(|on| (on.topic.clone(), links::topic(cluster, &on.topic)))
                .collect(),
            more_topics: own_topics().count().saturating_sub(TOPICS_SHOWN),
            rate: match &state.per_second {
                Known::Known(n) => Ok(per_second(n)),
                Known::Unknown(why) => Err(why.clone()),
            },
            lag: state.lag.as_ref().map(|lag| Amount::of(lag, locale, format::grouped)),
            oldest: state.oldest_unread.clone(),
            dead: state.dead.as_ref().map_or(0, millrace_console::Tally::at_least),
            dead_link: links::group_part(cluster, &state.name, "dead-letters"),
            differs: state.differs,
        }
    }
}

pub(crate) async fn show(InCluster { cx, view }: InCluster, Query(asked): Query<Asked>) -> Result<Response, Failure> {
    let query = asked.query();
    let page = list(&view.console.snapshot(), &query);
    let list = List::of(&view.name, asked, &page, &query, view.console.writable(), cx.locale);
    match cx.hx.target() {
        Some("groups") => cx.html(&list.as_groups()),
        _ => cx.html(&list),
    }
}
