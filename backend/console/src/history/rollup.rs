//! Minutes become hours, hours become days, and what is old goes. Each step is one transaction and may be done again:
//! a kill between two of them loses nothing.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use millrace_store::{HistoryRow, MetaStore, Past, Result, Stretch};

use super::figures::{Kind, Mix};
use super::pages::{self, Slices};
use super::recorder::HistoryOptions;

/// Brings the history of a cluster up to `now`.
pub(crate) async fn roll(store: &dyn MetaStore, cluster: &str, options: HistoryOptions, now: Millis) -> Result<()> {
    let this_hour = Stretch::Hour.start_of(now);
    while let Some((first, _)) = store.history_ends(cluster, Stretch::Minute, Millis(i64::MIN)).await? {
        let start = Stretch::Hour.start_of(first);
        if start >= this_hour {
            break;
        }
        roll_hour(store, cluster, start).await?;
    }
    let today = Stretch::Day.start_of(now);
    let mut from = match store.history_ends(cluster, Stretch::Day, Millis(i64::MIN)).await? {
        Some((_, last)) => last.plus(Stretch::Day.millis()),
        None => Millis(i64::MIN),
    };
    while let Some((first, _)) = store.history_ends(cluster, Stretch::Hour, from).await? {
        let start = Stretch::Day.start_of(first);
        if start >= today {
            break;
        }
        roll_day(store, cluster, start).await?;
        from = start.plus(Stretch::Day.millis());
    }
    let ago = |days: u32| today.plus(-i64::from(days) * Stretch::Day.millis());
    store.forget_history(cluster, Stretch::Hour, ago(options.minutes_days)).await?;
    store.forget_history(cluster, Stretch::Day, ago(options.hours_days)).await
}

fn of(stretch: Stretch, start: Millis, length: i64) -> Past {
    Past { stretch, from: start, until: start.plus(length) }
}

async fn roll_hour(store: &dyn MetaStore, cluster: &str, start: Millis) -> Result<()> {
    let minutes = of(Stretch::Minute, start, Stretch::Hour.millis());
    let rows = store.history(cluster, minutes, None).await?;
    // A minute that came after its hour was rolled up joins it.
    let before = store.history(cluster, of(Stretch::Hour, start, 1), None).await?;
    let rows = hour(start, &before, &rows);
    store.put_history(cluster, Stretch::Hour, &rows, Some(minutes)).await
}

async fn roll_day(store: &dyn MetaStore, cluster: &str, start: Millis) -> Result<()> {
    let hours = store.history(cluster, of(Stretch::Hour, start, Stretch::Day.millis()), None).await?;
    store.put_history(cluster, Stretch::Day, &day(start, &hours), None).await
}

fn hour(start: Millis, before: &[HistoryRow], minutes: &[HistoryRow]) -> Vec<HistoryRow> {
    let places = pages::places(Stretch::Hour);
    let mut slices: Slices = before.iter().flat_map(pages::read_slices).collect();
    for row in minutes {
        let place = pages::place(Stretch::Hour, start, row.start);
        for (series, point) in pages::read_minute(row) {
            let slice = slices.entry(series).or_insert_with(|| vec![None; places]);
            if let Some(slot) = slice.get_mut(place) {
                *slot = Some(point);
            }
        }
    }
    pages::split(start, slices)
}

fn day(start: Millis, hours: &[HistoryRow]) -> Vec<HistoryRow> {
    let places = pages::places(Stretch::Day);
    let mut slices: Slices = BTreeMap::new();
    for row in hours {
        let place = pages::place(Stretch::Day, start, row.start);
        for (series, minutes) in pages::read_slices(row) {
            let Some((kind, _)) = Kind::of_series(&series) else { continue };
            let mut mix = Mix::default();
            for point in minutes.iter().flatten() {
                mix.add(point);
            }
            let known = minutes.iter().any(Option::is_some);
            let point = known.then(|| mix.point(kind));
            if let Some(slot) = slices.entry(series).or_insert_with(|| vec![None; places]).get_mut(place) {
                *slot = point;
            }
        }
    }
    pages::split(start, slices)
}
