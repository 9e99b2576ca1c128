//! The figures of one topic, group or broker over time.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use millrace_store::{Past, Stretch};

use super::figures::{Kind, Mix, Point};
use super::pages;
use crate::{Console, Result};

/// How far a line goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Range {
    Hour,
    #[default]
    Day,
    Week,
    Quarter,
}

const MINUTE: i64 = 60_000;

impl Range {
    pub const ALL: [Self; 4] = [Self::Hour, Self::Day, Self::Week, Self::Quarter];

    pub fn code(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Quarter => "90d",
        }
    }

    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|range| range.code() == code)
    }

    /// How long it is, and how long one of its points, in milliseconds.
    fn measures(self) -> (i64, i64) {
        match self {
            Self::Hour => (60 * MINUTE, MINUTE),
            Self::Day => (1_440 * MINUTE, 10 * MINUTE),
            Self::Week => (7 * 1_440 * MINUTE, 60 * MINUTE),
            Self::Quarter => (90 * 1_440 * MINUTE, 1_440 * MINUTE),
        }
    }
}

/// Points at equal steps; `None` where nothing was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub from: Millis,
    /// Milliseconds.
    pub step: i64,
    pub points: Vec<Option<Point>>,
}

impl Line {
    pub fn until(&self) -> Millis {
        self.at(self.points.len())
    }

    /// When a point begins.
    pub fn at(&self, place: usize) -> Millis {
        self.from.plus(i64::try_from(place).unwrap_or(0).saturating_mul(self.step))
    }

    pub fn is_empty(&self) -> bool {
        self.points.iter().all(Option::is_none)
    }

    /// One figure over time.
    pub fn figure(&self, figure: usize) -> Vec<Option<f64>> {
        self.points.iter().map(|point| point.and_then(|point| point.get(figure).copied().flatten())).collect()
    }
}

impl Console {
    /// Up to and with the step that is under way.
    pub async fn history_of(&self, kind: Kind, name: &str, range: Range) -> Result<Line> {
        let (length, step) = range.measures();
        let until = Millis((self.now().0.div_euclid(step) + 1).saturating_mul(step));
        let from = until.plus(-length);
        let series = kind.series(name);
        let mut mixes: BTreeMap<usize, Mix> = BTreeMap::new();
        let mut take = |at: Millis, point: &Point| {
            if at >= from && at < until {
                let place = usize::try_from(at.since(from) / step).unwrap_or(usize::MAX);
                mixes.entry(place).or_default().add(point);
            }
        };

        // Hours of days that are over stand in for their minutes where they are fine enough.
        let mut rest = from;
        let coarse = if step >= Stretch::Hour.millis() { &[Stretch::Day, Stretch::Hour][..] } else { &[Stretch::Hour] };
        for stretch in coarse {
            let past = Past { stretch: *stretch, from: stretch.start_of(rest), until };
            for row in self.history().history(self.name(), past, Some(pages::bucket(&series))).await? {
                rest = rest.max(row.start.plus(stretch.millis()));
                let slice = pages::read_slices(&row).remove(&series).unwrap_or_default();
                for (place, point) in slice.iter().enumerate() {
                    let Some(point) = point else { continue };
                    let after = i64::try_from(place).unwrap_or(0) * pages::step(*stretch).millis();
                    take(row.start.plus(after), point);
                }
            }
        }
        let past = Past { stretch: Stretch::Minute, from, until };
        for row in self.history().history(self.name(), past, None).await? {
            if let Some(point) = pages::read_minute(&row).get(&series) {
                take(row.start, point);
            }
        }

        let places = usize::try_from(length / step).unwrap_or(0);
        let mut points = vec![None; places];
        for (place, mix) in mixes {
            if let Some(slot) = points.get_mut(place) {
                *slot = Some(mix.point(kind));
            }
        }
        Ok(Line { from, step, points })
    }
}
