//! What all pages of one topic have at their top: its name, its parts, what can be done with it.

use millrace_core::name::TopicKind;

use crate::ClusterView;
use crate::links::{self, Link};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Queues,
    Groups,
    Config,
    Messages,
    History,
    /// One of its forms.
    Form,
}

pub(crate) struct Head {
    pub(crate) cluster: String,
    pub(crate) topic: String,
    pub(crate) part: Part,
    pub(crate) can_send: bool,
    pub(crate) can_delete: bool,
    /// Where they are known.
    pub(crate) queues: Option<usize>,
    pub(crate) groups: Option<usize>,
}

impl Head {
    pub(crate) fn of(view: &ClusterView, topic: &str, part: Part) -> Self {
        let system = TopicKind::of(topic) == TopicKind::System;
        let snapshot = view.console.snapshot();
        let state = snapshot.topic(topic);
        let queues = state.map(|state| {
            state.brokers.iter().map(|place| usize::try_from(place.config.read_queues).unwrap_or(0)).sum()
        });
        Self {
            cluster: view.name.clone(),
            topic: topic.to_owned(),
            part,
            can_send: view.console.sendable() && !system,
            can_delete: view.console.writable() && !system,
            queues,
            groups: state.map(|state| state.groups.len()),
        }
    }

    pub(crate) fn link(&self, part: &str) -> Link {
        links::topic_part(&self.cluster, &self.topic, part)
    }
}
