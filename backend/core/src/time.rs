//! Instants and durations as whole milliseconds. The clock is read only at the edge and passed in.

use serde::{Deserialize, Serialize};

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// `self - earlier`, in milliseconds; negative when `earlier` is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant `ms` milliseconds later.
    #[must_use]
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Where the present comes from: the system's clock in the program, a fixed one in tests.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Millis;
}
