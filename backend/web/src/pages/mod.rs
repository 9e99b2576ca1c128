//! One module a page. Each asks the ports, makes a view and renders it.

pub(crate) mod about;
pub(crate) mod clusters;
pub(crate) mod dead_letters;
pub(crate) mod groups;
pub(crate) mod history;
pub(crate) mod ingest;
pub(crate) mod messages;
pub(crate) mod nav;
pub(crate) mod overview;
pub(crate) mod record;
pub(crate) mod settings;
pub(crate) mod topics;

use millrace_core::coverage::Coverage;

use crate::i18n::Msg;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How many brokers an answer covers.
pub(crate) fn brokers_covered(coverage: &Coverage) -> Msg {
    Msg::new("ui-brokers-covered").with("answered", coverage.answered).with("asked", coverage.asked)
}
