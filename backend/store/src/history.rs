//! What a cluster looked like: rows that hold a stretch of time of some of its figures. What the figures are is not
//! known here.

use async_trait::async_trait;
use millrace_core::time::Millis;

use crate::{Result, StoreError};

/// How much time a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stretch {
    Minute,
    Hour,
    Day,
}

impl Stretch {
    pub fn millis(self) -> i64 {
        match self {
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }

    /// When the stretch began that `at` lies in, in UTC.
    pub fn start_of(self, at: Millis) -> Millis {
        Millis(at.0.div_euclid(self.millis()).saturating_mul(self.millis()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRow {
    pub start: Millis,
    /// Which part of the series it holds.
    pub bucket: u16,
    pub body: Vec<u8>,
}

/// Rows that begin from `from` until before `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    pub stretch: Stretch,
    pub from: Millis,
    pub until: Millis,
}

#[async_trait]
pub trait HistoryStore: Send + Sync + std::fmt::Debug {
    /// Writes rows in place of those at the same start and bucket, and takes `instead_of` away: all of it or nothing.
    async fn put_history(
        &self,
        cluster: &str,
        stretch: Stretch,
        rows: &[HistoryRow],
        instead_of: Option<Past>,
    ) -> Result<()>;
    /// By start, then by bucket; of every bucket where none is named.
    async fn history(&self, cluster: &str, past: Past, bucket: Option<u16>) -> Result<Vec<HistoryRow>>;
    /// The first and the last start from `from` on.
    async fn history_ends(&self, cluster: &str, stretch: Stretch, from: Millis) -> Result<Option<(Millis, Millis)>>;
    /// Takes away what began before `before`.
    async fn forget_history(&self, cluster: &str, stretch: Stretch, before: Millis) -> Result<()>;
}

/// Longest body when inflated.
const LONGEST: usize = 256 << 20;
const LEVEL: i32 = 3;

pub(crate) fn pack(body: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::compress(body, LEVEL).map_err(|error| damaged("the history to write", &error))
}

pub(crate) fn unpack(packed: &[u8], database: &str) -> Result<Vec<u8>> {
    let read = || -> std::io::Result<Vec<u8>> {
        let length = zstd::bulk::Decompressor::upper_bound(packed).unwrap_or(LONGEST).min(LONGEST);
        zstd::bulk::decompress(packed, length)
    };
    read().map_err(|error| damaged(database, &error))
}

fn damaged(at: &str, error: &std::io::Error) -> StoreError {
    StoreError::Damaged { what: "a row of the history".into(), at: at.into(), why: error.to_string() }
}
