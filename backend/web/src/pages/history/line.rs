//! The figures of one topic, group or broker over time: what the pages of all three share.

use millrace_console::history::{Kind, Line, Range};
use millrace_core::time::Millis;
use serde::Deserialize;

use crate::chart::{Chart, Figures};
use crate::cx::Cx;
use crate::i18n::Msg;
use crate::links::{self, Link};
use crate::pages::topics::failure;
use crate::{ClusterView, Failure};

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    pub(crate) range: String,
}

impl Asked {
    pub(crate) fn range(&self) -> Range {
        Range::parse(&self.range).unwrap_or_default()
    }
}

/// What every page of a line shows below its top.
pub(crate) struct View {
    pub(crate) ranges: Vec<(Msg, bool, Link)>,
    pub(crate) charts: Vec<Chart>,
    pub(crate) columns: Vec<Msg>,
    /// Newest first; steps of which nothing is known are left out.
    pub(crate) rows: Vec<(String, Link, Vec<Option<String>>)>,
    pub(crate) empty: bool,
    pub(crate) everything: Link,
}

impl View {
    /// `here` is the page's own address.
    pub(crate) async fn of(
        view: &ClusterView,
        cx: &Cx,
        (kind, name): (Kind, &str),
        asked: &Asked,
        here: &Link,
    ) -> Result<Self, Failure> {
        let range = asked.range();
        let line = view.console.history_of(kind, name, range).await.map_err(|error| failure(view, error))?;
        let everything = links::history(&view.name).with("kind", kind_code(kind));
        let link = |at: Millis| everything.clone().with("at", at.0.to_string());
        let figures = super::figures(kind);
        let chart = |(place, (title, unit)): (usize, &super::Figure)| {
            let figures = line.figure(place);
            let drawn = Figures { title: title(), unit: *unit, from: line.from, step: line.step, values: &figures };
            Chart::of(&drawn, &cx.zone, cx.locale, link)
        };
        let of_range = |of: Range| (range_word(of), of == range, here.clone().with("range", of.code()));
        Ok(Self {
            ranges: Range::ALL.into_iter().map(of_range).collect(),
            charts: figures.iter().enumerate().map(chart).collect(),
            columns: figures.iter().map(|(title, _)| title()).collect(),
            rows: rows(&line, kind, cx, link),
            empty: line.is_empty(),
            everything: everything.clone(),
        })
    }
}

fn rows(line: &Line, kind: Kind, cx: &Cx, link: impl Fn(Millis) -> Link) -> Vec<(String, Link, Vec<Option<String>>)> {
    let points = line.points.iter().enumerate().rev().filter_map(|(place, point)| Some((line.at(place), (*point)?)));
    points
        .map(|(at, point)| {
            let figures = super::figures(kind).iter().zip(point);
            let cells = figures.map(|((_, unit), figure)| figure.map(|figure| unit.shown(figure, cx.locale)));
            (cx.zone.minute(at), link(at), cells.collect())
        })
        .collect()
}

fn range_word(range: Range) -> Msg {
    match range {
        Range::Hour => Msg::new("history-hour"),
        Range::Day => Msg::new("history-day"),
        Range::Week => Msg::new("history-week"),
        Range::Quarter => Msg::new("history-quarter"),
    }
}

pub(crate) fn kind_code(kind: Kind) -> &'static str {
    match kind {
        Kind::Topic => "topic",
        Kind::Group => "group",
        Kind::Broker => "broker",
    }
}
