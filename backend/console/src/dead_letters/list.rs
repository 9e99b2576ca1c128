//! Groups that have dead letters, from the snapshot.

use std::sync::Arc;

use millrace_core::coverage::Coverage;
use millrace_core::name::{DLQ_PREFIX, TopicKind};

use crate::console::Console;
use crate::snapshot::{GroupState, TopicState};

#[derive(Debug)]
pub struct DeadLetterGroups {
    /// Those whose last message died last come first; those with an empty dead-letter topic last.
    pub rows: Vec<DeadLetterGroup>,
    pub coverage: Coverage,
}

#[derive(Debug, Clone)]
pub struct DeadLetterGroup {
    pub group: String,
    /// Its dead-letter topic.
    pub topic: Arc<TopicState>,
    /// `None`: no broker knows the group any more.
    pub state: Option<Arc<GroupState>>,
}

impl Console {
    pub fn dead_letter_groups(&self) -> DeadLetterGroups {
        let snapshot = self.snapshot();
        let dead = snapshot.topics.values().filter(|topic| topic.kind == TopicKind::DeadLetter);
        let mut rows: Vec<DeadLetterGroup> = dead
            .filter_map(|topic| {
                let group = topic.name.strip_prefix(DLQ_PREFIX)?.to_owned();
                Some(DeadLetterGroup { state: snapshot.group(&group).cloned(), topic: Arc::clone(topic), group })
            })
            .collect();
        let last = |row: &DeadLetterGroup| row.topic.last_write.known().copied().flatten();
        rows.sort_by(|a, b| {
            let empty = |row: &DeadLetterGroup| row.topic.span.value() == Some(0);
            empty(a).cmp(&empty(b)).then(last(b).cmp(&last(a))).then(a.group.cmp(&b.group))
        });
        DeadLetterGroups { rows, coverage: snapshot.coverage() }
    }
}
