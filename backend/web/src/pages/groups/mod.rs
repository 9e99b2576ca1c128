//! Consumer groups: the list, one group, its clients, and the forms that make, change, delete and reset one. One
//! invariant: every page calls the console's function of that name, which the JSON API calls too.

pub(crate) mod client;
pub(crate) mod dead_letters;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod head;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod reset;
pub(crate) mod show;

use millrace_console::groups::Standing;

use crate::component::State;
use crate::i18n::Msg;

/// The word of how a group does.
pub(crate) fn standing_word(standing: Standing) -> Msg {
    match standing {
        Standing::Stuck => Msg::new("groups-stuck"),
        Standing::Offline => Msg::new("groups-offline"),
        Standing::Growing => Msg::new("groups-growing"),
        Standing::Unknown => Msg::new("groups-unknown"),
        Standing::Reading => Msg::new("groups-reading"),
        Standing::Done => Msg::new("groups-done"),
        Standing::NoOffset => Msg::new("groups-no-offset"),
        Standing::LeftOver => Msg::new("groups-left-over"),
    }
}

pub(crate) fn standing_state(standing: Standing) -> State {
    match standing {
        Standing::Stuck | Standing::Offline => State::Bad,
        Standing::Growing => State::Warn,
        Standing::Unknown => State::Unknown,
        Standing::Reading | Standing::Done => State::Ok,
        Standing::NoOffset | Standing::LeftOver => State::Idle,
    }
}

/// How a group's clients get messages, in words; `None` while nobody is online.
pub(crate) fn kind_words(consume_type: &str, message_model: &str) -> Option<(Msg, Msg)> {
    let how = match consume_type {
        "CONSUME_PASSIVELY" => Msg::new("groups-push"),
        "CONSUME_ACTIVELY" => Msg::new("groups-pull"),
        "CONSUME_POP" => Msg::new("groups-pop"),
        "" => return None,
        other => Msg::new("groups-other-type").with("name", other),
    };
    let whom = match message_model {
        "BROADCASTING" => Msg::new("groups-broadcasting"),
        _ => Msg::new("groups-clustering"),
    };
    Some((how, whom))
}

#[cfg(test)]
mod tests;
