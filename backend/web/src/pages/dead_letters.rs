//! Groups that have dead letters.

use askama::Template;
use axum::response::Response;
use millrace_console::dead_letters::DeadLetterGroup;
use millrace_core::coverage::{Coverage, Known};
use millrace_core::time::Millis;

use crate::i18n::Locale;
use crate::links::{self, Link};
use crate::pages::topics::amount::Amount;
use crate::render::filters;
use crate::{Failure, InCluster, format};

struct Row {
    group: String,
    /// `None`: no broker knows the group any more.
    group_link: Option<Link>,
    link: Link,
    letters: Amount,
    empty: bool,
    last: Known<Option<Millis>>,
    brokers: Vec<String>,
}

impl Row {
    fn of(cluster: &str, row: &DeadLetterGroup, locale: Locale) -> Self {
        Self {
            group_link: row.state.is_some().then(|| links::group(cluster, &row.group)),
            link: links::group_part(cluster, &row.group, "dead-letters"),
            letters: Amount::of(&row.topic.span, locale, format::grouped),
            empty: row.topic.span.value() == Some(0),
            last: row.topic.last_write.clone(),
            brokers: row.topic.brokers.iter().map(|place| place.broker.clone()).collect(),
            group: row.group.clone(),
        }
    }
}

#[derive(Template)]
#[template(path = "dead_letters/list.html")]
struct List {
    rows: Vec<Row>,
    coverage: Coverage,
    /// Nothing was ever read.
    unread: bool,
}

pub(crate) async fn list(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    let groups = view.console.dead_letter_groups();
    cx.html(&List {
        rows: groups.rows.iter().map(|row| Row::of(&view.name, row, cx.locale)).collect(),
        unread: groups.coverage.as_of.is_none(),
        coverage: groups.coverage,
    })
}
