//! How a row of the history is written. A minute's row holds a point a series; an hour's and a day's hold a point for
//! each minute or hour, of the series of one bucket.

use std::collections::BTreeMap;

use millrace_core::time::Millis;
use millrace_store::{HistoryRow, Stretch};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::figures::{Point, Points};

/// Series of an hour or a day are split among so many rows, so that one series is read without the others.
const BUCKETS: u64 = 64;
const VERSION: u32 = 1;

/// Points of one row's series, each in its place in the stretch.
pub(crate) type Slices = BTreeMap<String, Vec<Option<Point>>>;

#[derive(Serialize)]
struct Written<'a, T> {
    v: u32,
    series: &'a T,
}

#[derive(Deserialize)]
struct Read<T> {
    v: u32,
    series: T,
}

/// The steps that a row of `stretch` is made of.
pub(crate) fn step(stretch: Stretch) -> Stretch {
    match stretch {
        Stretch::Minute | Stretch::Hour => Stretch::Minute,
        Stretch::Day => Stretch::Hour,
    }
}

pub(crate) fn places(stretch: Stretch) -> usize {
    usize::try_from(stretch.millis() / step(stretch).millis()).unwrap_or(1)
}

/// Which place of the stretch that begins at `start` the moment lies in.
pub(crate) fn place(stretch: Stretch, start: Millis, at: Millis) -> usize {
    usize::try_from(at.since(start).max(0) / step(stretch).millis()).unwrap_or(usize::MAX)
}

pub(crate) fn bucket(series: &str) -> u16 {
    u16::try_from(xxh3_64(series.as_bytes()) % BUCKETS).unwrap_or(0)
}

pub(crate) fn minute(start: Millis, points: &Points) -> HistoryRow {
    HistoryRow { start, bucket: 0, body: written(points) }
}

pub(crate) fn read_minute(row: &HistoryRow) -> Points {
    read(row)
}

/// One row a bucket that has series.
pub(crate) fn split(start: Millis, slices: Slices) -> Vec<HistoryRow> {
    let mut buckets: BTreeMap<u16, Slices> = BTreeMap::new();
    for (series, slice) in slices {
        buckets.entry(bucket(&series)).or_default().insert(series, slice);
    }
    buckets.into_iter().map(|(bucket, slices)| HistoryRow { start, bucket, body: written(&slices) }).collect()
}

pub(crate) fn read_slices(row: &HistoryRow) -> Slices {
    read(row)
}

fn written<T: Serialize>(series: &T) -> Vec<u8> {
    serde_json::to_vec(&Written { v: VERSION, series }).unwrap_or_default()
}

/// A row that cannot be read is a gap; the log tells of it.
fn read<T: DeserializeOwned + Default>(row: &HistoryRow) -> T {
    match serde_json::from_slice::<Read<T>>(&row.body) {
        Ok(read) if read.v == VERSION => read.series,
        Ok(read) => {
            tracing::warn!(version = read.v, start = row.start.0, "a row of the history is of another version");
            T::default()
        }
        Err(error) => {
            tracing::warn!(%error, start = row.start.0, "a row of the history cannot be read");
            T::default()
        }
    }
}
