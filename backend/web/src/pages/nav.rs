//! The navigation. One invariant: it names only pages that are served.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::cx::Section;
use crate::i18n::Msg;
use crate::links::{self, Link};

static SERVED: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| crate::routes::table().into_iter().map(|route| route.path).collect());

pub(crate) struct Item {
    pub(crate) section: Section,
    pub(crate) word: Msg,
    pub(crate) link: Link,
}

pub(crate) fn items(cluster: &str) -> Vec<Item> {
    let all = [
        ("/c/{cluster}", Section::Overview, Msg::new("base-overview"), links::overview(cluster)),
        ("/c/{cluster}/records", Section::Records, Msg::new("base-records"), links::records(cluster)),
        ("/c/{cluster}/topics", Section::Topics, Msg::new("base-topics"), links::topics(cluster)),
        ("/c/{cluster}/groups", Section::Groups, Msg::new("base-groups"), links::groups(cluster)),
        ("/c/{cluster}/messages", Section::Messages, Msg::new("base-messages"), links::messages(cluster)),
        ("/c/{cluster}/dead-letters", Section::DeadLetters, Msg::new("base-dead"), links::dead_letters(cluster)),
        ("/c/{cluster}/history", Section::History, Msg::new("base-history"), links::history(cluster)),
        ("/c/{cluster}/ingest", Section::Ingest, Msg::new("base-ingest"), links::ingest(cluster)),
    ];
    all.into_iter()
        .filter(|(path, ..)| SERVED.contains(path))
        .map(|(_, section, word, link)| Item { section, word, link })
        .collect()
}

/// Whether links to topics lead anywhere.
pub(crate) fn has_topics() -> bool {
    SERVED.contains("/c/{cluster}/topics/{topic}")
}

/// Whether the search box leads anywhere.
pub(crate) fn has_records() -> bool {
    SERVED.contains("/c/{cluster}/records")
}
