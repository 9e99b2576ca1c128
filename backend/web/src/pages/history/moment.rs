//! Everything of a cluster at a moment, beside how it is now.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::FieldErrors;
use millrace_console::history::{Kind, Moment, Point};
use millrace_console::messages::Instant;
use millrace_core::time::Millis;
use serde::Deserialize;

use super::line::kind_code;
use crate::chart::Unit;
use crate::cx::Cx;
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::pages::topics;
use crate::render::filters;
use crate::{ClusterView, Failure, InCluster};

/// The most rows of the page; a filter finds the others.
const MOST: usize = 500;
const HOUR: i64 = 3_600_000;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    pub(crate) at: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    filter: String,
}

impl Asked {
    fn kind(&self) -> Kind {
        Kind::ALL.into_iter().find(|kind| kind_code(*kind) == self.kind).unwrap_or(Kind::Group)
    }

    /// An hour ago where nothing is asked for.
    pub(crate) fn at(&self, cx: &Cx, now: Millis) -> Result<Millis, FieldErrors> {
        if self.at.trim().is_empty() {
            return Ok(now.plus(-HOUR));
        }
        Instant::parse(&self.at, cx.zone.time_zone(), now).map(|instant| instant.at).map_err(|error| {
            let mut errors = FieldErrors::default();
            errors.add("at", error.code());
            errors
        })
    }

    fn link(&self, cluster: &str, kind: Kind, at: &str) -> Link {
        links::history(cluster).with("kind", kind_code(kind)).with("at", at).with("filter", &self.filter)
    }
}

struct Row {
    name: String,
    link: Link,
    /// Then and now.
    figures: Vec<(Option<String>, Option<String>)>,
}

#[derive(Template)]
#[template(path = "history/moment.html")]
struct Show {
    cluster: String,
    asked: Asked,
    typed: String,
    error: Option<String>,
    kinds: Vec<(Msg, bool, Link)>,
    steps: Vec<(Msg, Link)>,
    from: String,
    until: String,
    recorded: Option<(String, String)>,
    columns: Vec<Msg>,
    rows: Vec<Row>,
    /// Rows that the page has no room for.
    more: usize,
    nothing_then: bool,
}

impl Show {
    async fn of(view: &ClusterView, cx: &Cx, asked: Asked) -> Result<Self, Failure> {
        let now = view.console.now();
        let (at, error) = match asked.at(cx, now) {
            Ok(at) => (at, None),
            Err(errors) => (now.plus(-HOUR), topics::fields::wrong(&errors, "at", cx.locale)),
        };
        let kind = asked.kind();
        let moment = view.console.moment(at).await.map_err(|error| topics::failure(view, error))?;
        let mut rows = rows(view, &moment, &view.console.moment_now(), kind, &asked.filter, cx.locale);
        let more = rows.len().saturating_sub(MOST);
        rows.truncate(MOST);
        let step = |word, ms: i64| (word, asked.link(&view.name, kind, &at.plus(ms).0.to_string()));
        Ok(Self {
            cluster: view.name.clone(),
            typed: if error.is_some() { asked.at.clone() } else { cx.zone.minute(at) },
            kinds: Kind::ALL
                .into_iter()
                .map(|of| (kind_word(of), of == kind, asked.link(&view.name, of, &at.0.to_string())))
                .collect(),
            steps: vec![
                step(Msg::new("history-day-before"), -24 * HOUR),
                step(Msg::new("history-hour-before"), -HOUR),
                step(Msg::new("history-minutes-before"), -HOUR / 6),
                step(Msg::new("history-minutes-after"), HOUR / 6),
                step(Msg::new("history-hour-after"), HOUR),
                step(Msg::new("history-day-after"), 24 * HOUR),
            ],
            from: cx.zone.minute(moment.from),
            until: cx.zone.short(moment.until, 0),
            recorded: moment.recorded.map(|(first, last)| (cx.zone.minute(first), cx.zone.minute(last))),
            columns: super::figures(kind).iter().map(|(title, _)| title()).collect(),
            nothing_then: moment.points.is_empty(),
            asked,
            error,
            rows,
            more,
        })
    }
}

fn kind_word(kind: Kind) -> Msg {
    match kind {
        Kind::Topic => Msg::new("history-topics"),
        Kind::Group => Msg::new("history-groups"),
        Kind::Broker => Msg::new("history-brokers"),
    }
}

/// By the first figure then, from the largest: what was worst stands first.
fn rows(
    view: &ClusterView,
    moment: &Moment,
    now: &BTreeMap<(Kind, String), Point>,
    kind: Kind,
    filter: &str,
    locale: Locale,
) -> Vec<Row> {
    let wanted = filter.trim().to_lowercase();
    let names: BTreeSet<&str> = moment
        .of(kind)
        .map(|(name, _)| name)
        .chain(now.keys().filter(|(of, _)| *of == kind).map(|(_, name)| name.as_str()))
        .filter(|name| name.to_lowercase().contains(&wanted))
        .collect();
    let mut found: Vec<(&str, Point, Point)> = names
        .into_iter()
        .map(|name| {
            let key = (kind, name.to_owned());
            let at = |points: &BTreeMap<(Kind, String), Point>| points.get(&key).copied().unwrap_or_default();
            (name, at(&moment.points), at(now))
        })
        .collect();
    let thousandths = |figure: Option<f64>| {
        #[expect(clippy::cast_possible_truncation, reason = "only for the order")]
        figure.map_or(-1, |figure| (figure * 1_000.0) as i64)
    };
    found.sort_by_key(|(_, then, now)| Reverse((thousandths(then[0]), thousandths(now[0]))));
    let shown = |unit: Unit, figure: Option<f64>| figure.map(|figure| unit.shown(figure, locale));
    let row = |(name, then, now): (&str, Point, Point)| Row {
        link: match kind {
            Kind::Topic => links::topic_part(&view.name, name, "history"),
            Kind::Group => links::group_part(&view.name, name, "history"),
            Kind::Broker => links::broker_history(&view.name, name),
        },
        figures: super::figures(kind)
            .iter()
            .zip(then.into_iter().zip(now))
            .map(|((_, unit), (then, now))| (shown(*unit, then), shown(*unit, now)))
            .collect(),
        name: name.to_owned(),
    };
    found.into_iter().map(row).collect()
}

pub(crate) async fn show(InCluster { cx, view }: InCluster, Query(asked): Query<Asked>) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, &cx, asked).await?)
}
