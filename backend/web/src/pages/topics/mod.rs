//! Topics: the list, one topic, and the forms that create and delete one and send it a message. One invariant: every
//! page calls the console's function of that name, which the JSON API calls too.

pub(crate) mod amount;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod fields;
pub(crate) mod head;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod send;
pub(crate) mod show;

use millrace_console::topics::Chip;
use millrace_console::{ConsoleError, Outcomes};

use crate::cx::Flash;
use crate::i18n::Msg;
use crate::{ClusterView, Failure};

/// Whoever acts, as long as nobody logs in.
pub(crate) const WHO: &str = "anonymous";

/// What keeps a page from being shown.
pub(crate) fn failure(view: &ClusterView, error: ConsoleError) -> Failure {
    match error {
        ConsoleError::Invalid(errors) => {
            Failure::Invalid(errors.0.first().map_or_else(|| Msg::new("topics-error-other"), fields::say))
        }
        ConsoleError::ReadOnly(cluster) => Failure::ReadOnly(cluster),
        ConsoleError::SystemTopic(topic) => Failure::Invalid(Msg::new("topics-error-system").with("topic", topic)),
        ConsoleError::SystemGroup(group) => Failure::Invalid(Msg::new("groups-error-system").with("group", group)),
        ConsoleError::NotFound(what) => Failure::NotThere { what, cluster: view.name.clone() },
        ConsoleError::Broker(error) => Failure::Broker(error),
        ConsoleError::Store(error) => Failure::Store(error),
    }
}

/// The word of a kind of topic.
pub(crate) fn chip_word(chip: Chip) -> Msg {
    match chip {
        Chip::Normal => Msg::new("topics-chip-normal"),
        Chip::Fifo => Msg::new("topics-chip-fifo"),
        Chip::Delay => Msg::new("topics-chip-delay"),
        Chip::Transaction => Msg::new("topics-chip-transaction"),
        Chip::Mixed => Msg::new("topics-chip-mixed"),
        Chip::Unspecified => Msg::new("topics-chip-unspecified"),
        Chip::Retry => Msg::new("topics-chip-retry"),
        Chip::DeadLetter => Msg::new("topics-chip-dead-letter"),
        Chip::System => Msg::new("topics-chip-system"),
    }
}

/// What came of an act, in a sentence for the next page. What failed is named with its reason.
pub(crate) fn outcome_flash(outcomes: &Outcomes, all: Msg, some: Msg) -> Flash {
    let failed: Vec<String> = outcomes
        .each
        .iter()
        .filter_map(|outcome| outcome.error.as_ref().map(|why| format!("{}: {why}", outcome.at)))
        .collect();
    match (failed.is_empty(), &outcomes.audit_error) {
        (true, None) => Flash::ok(all.with("n", outcomes.succeeded())),
        (true, Some(why)) => Flash::warn(Msg::new("topics-not-audited").with("why", why)),
        (false, _) => Flash::warn(
            some.with("n", outcomes.succeeded()).with("all", outcomes.each.len()).with("failed", failed.join("; ")),
        ),
    }
}

#[cfg(test)]
mod tests;
