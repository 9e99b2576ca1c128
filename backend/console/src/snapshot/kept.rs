//! The last good value of something that is read again and again, and the failure since, if there is one.

use std::sync::Arc;

use millrace_core::coverage::Why;
use millrace_core::time::Millis;
use serde::Serialize;

/// Why the newest reading failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub why: Why,
    /// The first reading that failed since the last good one.
    pub since: Millis,
}

impl Failure {
    /// Why a value is absent: what failed, or nobody asked yet.
    pub(crate) fn why(failure: Option<&Self>) -> Why {
        failure.map_or(Why::NotReadYet, |failure| failure.why.clone())
    }
}

#[derive(Debug)]
pub struct Kept<T> {
    good: Option<(Millis, Arc<T>)>,
    failure: Option<Failure>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { good: None, failure: None }
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self { good: self.good.clone(), failure: self.failure.clone() }
    }
}

impl<T> Kept<T> {
    /// A failure leaves the last good value in its place.
    pub(crate) fn put<E: Into<Why>>(&mut self, result: Result<T, E>, now: Millis) {
        match result {
            Ok(value) => {
                self.good = Some((now, Arc::new(value)));
                self.failure = None;
            }
            Err(error) => self.fail(error.into(), now),
        }
    }

    pub(crate) fn fail(&mut self, why: Why, now: Millis) {
        let since = self.failure.as_ref().map_or(now, |failure| failure.since);
        self.failure = Some(Failure { why, since });
    }

    /// The last good value.
    pub fn value(&self) -> Option<&Arc<T>> {
        self.good.as_ref().map(|(_, value)| value)
    }

    /// When it was read.
    pub fn at(&self) -> Option<Millis> {
        self.good.as_ref().map(|(at, _)| *at)
    }

    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Why there is no value, or why it is old.
    pub(crate) fn why(&self) -> Why {
        Failure::why(self.failure.as_ref())
    }
}
