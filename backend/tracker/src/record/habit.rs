//! What the groups of a cluster usually do, from its newest traces; learnt again now and then.

use std::sync::{Arc, Mutex, PoisonError};

use millrace_core::flow::{Fact, habits};
use millrace_core::time::Millis;
use millrace_store::{StoreError, TraceStore};

/// Newest trace records that are looked at.
const RECORDS: usize = 2_000;
/// How long what was learnt is good for.
const FRESH_MS: i64 = 15_000;

#[derive(Debug, Default)]
pub(super) struct Habits {
    learnt: Mutex<Option<(Millis, Arc<Vec<Fact>>)>>,
}

impl Habits {
    pub(super) async fn of(&self, store: &dyn TraceStore, now: Millis) -> Result<Arc<Vec<Fact>>, StoreError> {
        if let Some((at, facts)) = &*self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
            && now.since(*at) < FRESH_MS
        {
            return Ok(Arc::clone(facts));
        }
        let records = store.newest(RECORDS).await?;
        let facts = tokio::task::spawn_blocking(move || habits(&records)).await.unwrap_or_default();
        let facts = Arc::new(facts);
        *self.learnt.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, Arc::clone(&facts)));
        Ok(facts)
    }
}
