//! The records behind one key, when several use it.

use millrace_core::flow::{Flow, HopState, MessageRef};
use millrace_core::time::Millis;

use super::words;
use crate::component::State;
use crate::i18n::Msg;

/// Records on one page.
pub(crate) const PAGE: usize = 25;
/// Up to this many are drawn together.
const DRAWN_TOGETHER: usize = 5;

pub(crate) struct Strands {
    pub(crate) total: usize,
    /// From 0.
    pub(crate) page: usize,
    pub(crate) rows: Vec<StrandRow>,
    /// The flow of all of them is still worth drawing.
    pub(crate) drawn: bool,
}

pub(crate) struct StrandRow {
    /// Its first message's id, by which the record is shown alone.
    pub(crate) root: String,
    pub(crate) at: Option<Millis>,
    pub(crate) topic: Option<String>,
    pub(crate) sender: Option<String>,
    pub(crate) messages: usize,
    pub(crate) groups: usize,
    pub(crate) state: (State, Msg),
}

impl Strands {
    pub(crate) fn pages(&self) -> usize {
        self.total.div_ceil(PAGE)
    }
}

/// The newest first; `None` when there is no more than one.
pub(crate) fn strands(flow: &Flow, page: usize) -> Option<Strands> {
    let mut strands = flow.strands();
    if strands.len() < 2 {
        return None;
    }
    strands.reverse();
    let total = strands.len();
    let page = page.min(total.div_ceil(PAGE).saturating_sub(1));
    let rows = strands.iter().skip(page * PAGE).take(PAGE).filter_map(|strand| row(flow, strand)).collect();
    Some(Strands { total, page, rows, drawn: total <= DRAWN_TOGETHER })
}

fn row(flow: &Flow, strand: &[MessageRef]) -> Option<StrandRow> {
    let first = flow.message(*strand.first()?)?;
    let hops: Vec<_> = strand.iter().flat_map(|message| flow.hops_of(*message)).map(|(_, hop)| hop).collect();
    let worst = hops.iter().max_by_key(|hop| words::state(&hop.state).0);
    let state = worst.map_or_else(
        || (State::Info, Msg::new("record-not-consumed")),
        |hop| match hop.state {
            HopState::Ok { .. } | HopState::Passed => (State::Ok, Msg::new("record-consumed")),
            _ => words::state(&hop.state),
        },
    );
    let mut groups: Vec<_> = hops.iter().filter_map(|hop| hop.group.as_deref()).collect();
    groups.sort_unstable();
    groups.dedup();
    Some(StrandRow {
        root: first.id.clone(),
        at: first.begin(),
        topic: first.topic.clone(),
        sender: first.publications.first().map(|sent| sent.group.clone()),
        messages: strand.len(),
        groups: groups.len(),
        state,
    })
}
