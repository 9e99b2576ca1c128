//! Which figures are recorded of what, and how several readings become one.

use std::collections::BTreeMap;

use millrace_core::name::{TopicKind, is_system_group};
use millrace_core::time::Millis;
use serde::Serialize;

use crate::snapshot::{BrokerState, GroupState, Snapshot, TopicState};

/// What has a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Topic,
    Group,
    Broker,
}

/// Figures in the order of [`Kind::figures`]; `None` where one was not known.
pub type Point = [Option<f64>; 4];

/// How the readings of a stretch of time become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Mean,
    Largest,
    Last,
    /// The kind has fewer figures.
    Nothing,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Topic, Self::Group, Self::Broker];

    /// Names of the figures, in the order of a point.
    pub fn figures(self) -> &'static [&'static str] {
        match self {
            // `messages`: from the lowest offset to the end. `lag`: of the group furthest behind.
            Self::Topic => &["messages_per_second", "lag", "messages"],
            // `wait_ms`: the age of the oldest message that it has not consumed.
            Self::Group => &["lag", "wait_ms", "consumed_per_second", "clients"],
            Self::Broker => &["put_per_second", "get_per_second", "disk_used", "answered"],
        }
    }

    fn of(self) -> [Of; 4] {
        match self {
            Self::Topic => [Of::Mean, Of::Largest, Of::Last, Of::Nothing],
            Self::Group => [Of::Largest, Of::Largest, Of::Mean, Of::Last],
            Self::Broker => [Of::Mean, Of::Mean, Of::Last, Of::Mean],
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Topic => 't',
            Self::Group => 'g',
            Self::Broker => 'b',
        }
    }

    /// The series' name in a row.
    pub(crate) fn series(self, name: &str) -> String {
        format!("{}/{name}", self.letter())
    }

    /// The kind and name of a series.
    pub(crate) fn of_series(series: &str) -> Option<(Self, &str)> {
        let (letter, name) = series.split_once('/')?;
        Self::ALL.into_iter().find(|kind| letter.chars().eq([kind.letter()])).map(|kind| (kind, name))
    }
}

/// Every series' figures at one moment.
pub(crate) type Points = BTreeMap<String, Point>;

/// What is known now. Figures that are old, or lower bounds, are left out.
pub(crate) fn points(snapshot: &Snapshot, now: Millis) -> Points {
    let topics = snapshot.topics.values().filter(|topic| topic.kind != TopicKind::System);
    let topics = topics.map(|state| (Kind::Topic.series(&state.name), topic(state)));
    let groups = snapshot.groups.values().filter(|group| !group.system && !is_system_group(&group.name));
    let groups = groups.map(|state| (Kind::Group.series(&state.name), group(state, now)));
    let brokers = snapshot.brokers.iter().map(|state| (Kind::Broker.series(&state.broker.name), broker(state)));
    topics.chain(groups).chain(brokers).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn float(number: i64) -> f64 {
    number as f64
}

fn topic(state: &TopicState) -> Point {
    let lag = match &state.lag {
        Some(lag) => lag.value().map(float),
        None => None,
    };
    [state.per_second.value(), lag, state.span.value().map(float), None]
}

fn group(state: &GroupState, now: Millis) -> Point {
    let wait = state.oldest_unread.known().map(|oldest| oldest.map_or(0, |at| now.since(at).max(0)));
    [
        state.lag.as_ref().and_then(crate::Tally::value).map(float),
        wait.map(float),
        state.per_second.known().copied(),
        state.clients.online.value().map(float),
    ]
}

fn broker(state: &BrokerState) -> Point {
    let answers = state.failure().is_none() && state.at().is_some();
    let runtime = if state.runtime.failure().is_none() { state.runtime.value() } else { None };
    [
        runtime.and_then(|runtime| runtime.put_per_second),
        runtime.and_then(|runtime| runtime.get_per_second),
        runtime.and_then(|runtime| runtime.disk_used),
        Some(if answers { 1.0 } else { 0.0 }),
    ]
}

/// Readings that become one point.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mix {
    figures: [Reading; 4],
}

#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    count: u32,
    sum: f64,
    largest: f64,
    last: f64,
}

impl Mix {
    pub(crate) fn add(&mut self, point: &Point) {
        for (reading, figure) in self.figures.iter_mut().zip(point) {
            let Some(figure) = figure.filter(|figure| figure.is_finite()) else { continue };
            reading.largest = if reading.count == 0 { figure } else { reading.largest.max(figure) };
            reading.count += 1;
            reading.sum += figure;
            reading.last = figure;
        }
    }

    pub(crate) fn point(&self, kind: Kind) -> Point {
        let mut point = Point::default();
        for ((out, reading), of) in point.iter_mut().zip(&self.figures).zip(kind.of()) {
            if reading.count == 0 {
                continue;
            }
            let figure = match of {
                Of::Mean => reading.sum / f64::from(reading.count),
                Of::Largest => reading.largest,
                Of::Last => reading.last,
                Of::Nothing => continue,
            };
            // A thousandth is finer than any page shows, and rows stay small.
            *out = Some((figure * 1_000.0).round() / 1_000.0);
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Mix};

    #[test]
    fn readings_become_one_by_their_meaning_and_a_gap_adds_nothing() {
        let mut mix = Mix::default();
        mix.add(&[Some(30.0), Some(7.0), None, Some(2.0)]);
        mix.add(&[None, Some(9.0), Some(4.0), Some(3.0)]);
        mix.add(&[Some(10.0), None, None, Some(f64::NAN)]);
        assert_eq!(mix.point(Kind::Topic), [Some(20.0), Some(9.0), Some(4.0), None]);
        assert_eq!(mix.point(Kind::Group), [Some(30.0), Some(9.0), Some(4.0), Some(3.0)]);
        assert_eq!(Mix::default().point(Kind::Broker), [None; 4]);
    }

    #[test]
    fn a_series_names_its_kind_whatever_the_name() {
        for (kind, name) in [(Kind::Topic, "a/b"), (Kind::Group, ""), (Kind::Broker, "broker-a"), (Kind::Topic, "%")] {
            assert_eq!(Kind::of_series(&kind.series(name)), Some((kind, name)));
        }
        assert_eq!(Kind::of_series("x/orders"), None);
        assert_eq!(Kind::of_series("orders"), None);
    }
}
