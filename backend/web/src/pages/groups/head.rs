//! What all pages of one group have at their top: its name, its parts, what can be done with it.

use millrace_core::name::is_system_group;

use crate::ClusterView;
use crate::links::{self, Link};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Progress,
    Clients,
    DeadLetters,
    History,
    Config,
    /// One of its forms.
    Form,
}

pub(crate) struct Head {
    pub(crate) cluster: String,
    pub(crate) group: String,
    pub(crate) part: Part,
    pub(crate) can_change: bool,
    /// Where it is known.
    pub(crate) clients: Option<usize>,
    /// At least so many; `None`: it has no dead-letter topic.
    pub(crate) dead: Option<i64>,
}

impl Head {
    pub(crate) fn of(view: &ClusterView, group: &str, part: Part) -> Self {
        let snapshot = view.console.snapshot();
        let online = snapshot.group(group).and_then(|state| state.clients.online.value());
        Self {
            cluster: view.name.clone(),
            group: group.to_owned(),
            part,
            can_change: view.console.writable() && !is_system_group(group),
            clients: online.and_then(|online| usize::try_from(online).ok()),
            dead: snapshot.group(group).and_then(|state| state.dead.as_ref()).map(millrace_console::Tally::at_least),
        }
    }

    pub(crate) fn link(&self, part: &str) -> Link {
        links::group_part(&self.cluster, &self.group, part)
    }
}
