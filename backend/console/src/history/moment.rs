//! What a cluster looked like at a moment.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use millrace_store::{Past, Stretch};

use super::figures::{self, Kind, Point, Points};
use super::pages;
use crate::{Console, Result};

/// The figures of everything at a moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The minute, or the hour, that the moment lies in.
    pub from: Millis,
    pub until: Millis,
    /// Empty where nothing was recorded then.
    pub points: BTreeMap<(Kind, String), Point>,
    /// From the first to the last that is recorded; `None`: nothing is.
    pub recorded: Option<(Millis, Millis)>,
}

impl Moment {
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = (&str, &Point)> {
        self.points.iter().filter(move |((of, _), _)| *of == kind).map(|((_, name), point)| (name.as_str(), point))
    }
}

impl Console {
    /// The minute that `at` lies in; the hour, where minutes are no longer kept.
    pub async fn moment(&self, at: Millis) -> Result<Moment> {
        let mut found = None;
        for stretch in [Stretch::Minute, Stretch::Hour, Stretch::Day] {
            let step = pages::step(stretch);
            let start = stretch.start_of(at);
            let past = Past { stretch, from: start, until: start.plus(1) };
            let rows = self.history().history(self.name(), past, None).await?;
            if rows.is_empty() {
                continue;
            }
            let mut points = Points::new();
            for row in &rows {
                if stretch == Stretch::Minute {
                    points.extend(pages::read_minute(row));
                    continue;
                }
                let place = pages::place(stretch, start, at);
                for (series, slice) in pages::read_slices(row) {
                    if let Some(point) = slice.get(place).copied().flatten() {
                        points.insert(series, point);
                    }
                }
            }
            if !points.is_empty() {
                found = Some((step, points));
                break;
            }
        }
        let (step, points) = found.unwrap_or((Stretch::Minute, Points::new()));
        let from = step.start_of(at);
        Ok(Moment { from, until: from.plus(step.millis()), points: named(points), recorded: self.recorded().await? })
    }

    /// The same figures as they are now, as far as they are known.
    pub fn moment_now(&self) -> BTreeMap<(Kind, String), Point> {
        named(figures::points(&self.snapshot(), self.now()))
    }

    /// From the first minute or hour that is recorded until the end of the last.
    pub async fn recorded(&self) -> Result<Option<(Millis, Millis)>> {
        let mut recorded: Option<(Millis, Millis)> = None;
        for stretch in [Stretch::Minute, Stretch::Hour, Stretch::Day] {
            let ends = self.history().history_ends(self.name(), stretch, Millis(i64::MIN)).await?;
            if let Some((first, last)) = ends {
                let last = last.plus(stretch.millis());
                recorded = Some(recorded.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
            }
        }
        Ok(recorded)
    }
}

fn named(points: Points) -> BTreeMap<(Kind, String), Point> {
    let named = |(series, point): (String, Point)| {
        let (kind, name) = Kind::of_series(&series)?;
        Some(((kind, name.to_owned()), point))
    };
    points.into_iter().filter_map(named).collect()
}
