//! What was: the figures of one topic, group or broker over time, and of everything at a moment.

pub(crate) mod broker;
pub(crate) mod line;
pub(crate) mod moment;

use millrace_console::history::Kind;

use crate::chart::Unit;
use crate::i18n::Msg;

/// A figure's words and what it counts.
pub(crate) type Figure = (fn() -> Msg, Unit);

/// The words and units of a kind's figures, in the order of a point.
pub(crate) fn figures(kind: Kind) -> &'static [Figure] {
    match kind {
        Kind::Topic => &[
            (|| Msg::new("history-rate"), Unit::PerSecond),
            (|| Msg::new("history-worst-lag"), Unit::Count),
            (|| Msg::new("history-messages"), Unit::Count),
        ],
        Kind::Group => &[
            (|| Msg::new("history-lag"), Unit::Count),
            (|| Msg::new("history-wait"), Unit::Duration),
            (|| Msg::new("history-consumed"), Unit::PerSecond),
            (|| Msg::new("history-clients"), Unit::Count),
        ],
        Kind::Broker => &[
            (|| Msg::new("history-put"), Unit::PerSecond),
            (|| Msg::new("history-get"), Unit::PerSecond),
            (|| Msg::new("history-disk"), Unit::Share),
            (|| Msg::new("history-answered"), Unit::Share),
        ],
    }
}

#[cfg(test)]
mod tests;
