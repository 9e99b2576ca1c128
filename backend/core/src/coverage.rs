//! What could be read and what could not. *Unknown is not zero*: a value that was not read carries its reason.

use serde::{Deserialize, Serialize};

use crate::time::Millis;

/// A value that was read, or the reason why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    Known(T),
    Unknown(String),
}

impl<T> Known<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Self::Known(value) => Known::Known(f(value)),
            Self::Unknown(why) => Known::Unknown(why),
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Known<T> {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }
}

/// One thing that was asked and did not answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missed {
    /// What was asked: a broker's name, a queue, a segment.
    pub what: String,
    /// Why it did not answer.
    pub why: String,
}

/// How much of what should have answered did, and how old the answer is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// How many were asked.
    pub asked: usize,
    /// How many answered.
    pub answered: usize,
    /// Those that did not.
    pub missed: Vec<Missed>,
    /// When the oldest part of the answer was read.
    pub as_of: Option<Millis>,
}

impl Coverage {
    pub fn complete(&self) -> bool {
        self.missed.is_empty() && self.answered == self.asked
    }

    pub fn answer(&mut self) {
        self.asked += 1;
        self.answered += 1;
    }

    pub fn miss(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.asked += 1;
        self.missed.push(Missed { what: what.into(), why: why.into() });
    }
}
