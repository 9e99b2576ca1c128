//! One topic: its answer in a sentence, then its queues, its groups or its configuration.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use millrace_broker::Perm;
use millrace_console::snapshot::{TopicAtBroker, Trend};
use millrace_console::topics::{Chip, Reader, TopicDetail};
use millrace_core::coverage::Known;
use millrace_core::time::Millis;

use super::amount::Amount;
use super::chip_word;
use super::head::{Head, Part};
use crate::component::{State, Verdict};
use crate::i18n::{Locale, Msg};
use crate::render::filters;
use crate::{ClusterView, Failure, InCluster, format, links};

#[derive(Template)]
#[template(path = "topics/show.html")]
struct Show {
    head: Head,
    verdict: Verdict,
    detail: TopicDetail,
    queues: Vec<QueueRow>,
    readers: Vec<ReaderRow>,
}

struct QueueRow {
    broker: String,
    queue: i32,
    min: i64,
    max: i64,
    span: i64,
    last_update: Option<Millis>,
    browse: links::Link,
}

struct ReaderRow {
    group: String,
    /// `None`: subscribed, and no offset committed.
    lag: Option<Amount>,
    state: State,
    word: Msg,
    expired_unread: i64,
}

impl Show {
    async fn of(view: &ClusterView, topic: &str, part: Part, locale: Locale) -> Result<Self, Failure> {
        let detail = view.console.topic(topic).await.map_err(|error| super::failure(view, error))?;
        let queues: Vec<QueueRow> = detail
            .queues()
            .map(|at| QueueRow {
                broker: at.broker.to_owned(),
                queue: at.stats.queue.queue,
                min: at.stats.min,
                max: at.stats.max,
                span: at.stats.max.saturating_sub(at.stats.min).max(0),
                last_update: at.stats.last_update,
                browse: links::topic_part(&view.name, topic, "messages")
                    .with("by", "offset")
                    .with("broker", at.broker)
                    .with("queue", at.stats.queue.queue.to_string())
                    .with("offset", (at.stats.max - 1).max(at.stats.min).to_string())
                    .with("order", "newest"),
            })
            .collect();
        let readers: Vec<ReaderRow> = detail.readers.iter().map(|reader| ReaderRow::of(reader, locale)).collect();
        let mut head = Head::of(view, topic, part);
        head.queues = Some(queues.len());
        head.groups = Some(readers.len());
        Ok(Self { verdict: verdict(&detail, locale), head, queues, readers, detail })
    }
}

impl ReaderRow {
    fn of(reader: &Reader, locale: Locale) -> Self {
        let (state, word) = match &reader.lag {
            None => (State::Idle, Msg::new("topics-reader-without-offset")),
            Some(on) if on.left_over => (State::Idle, Msg::new("topics-reader-left-over")),
            Some(on) if on.beyond_end > 0 => (State::Warn, Msg::new("topics-reader-beyond").with("n", on.beyond_end)),
            Some(on) => match (on.trend, on.lag.value()) {
                (Trend::Stuck { .. }, _) => (State::Bad, Msg::new("topics-reader-stuck")),
                (Trend::Growing { by, .. }, _) => (State::Warn, Msg::new("topics-reader-growing").with("n", by)),
                (Trend::Steady, None) => (State::Unknown, Msg::new("topics-reader-unknown")),
                (Trend::Steady, Some(0)) => (State::Ok, Msg::new("topics-reader-done")),
                (Trend::Steady, Some(_)) => (State::Ok, Msg::new("topics-reader-reading")),
            },
        };
        Self {
            group: reader.group.clone(),
            lag: reader.lag.as_ref().map(|on| Amount::of(&on.lag, locale, format::grouped)),
            state,
            word,
            expired_unread: reader.lag.as_ref().map_or(0, |on| on.expired_unread),
        }
    }
}

/// The topic in a sentence.
fn verdict(detail: &TopicDetail, locale: Locale) -> Verdict {
    let say = |state, headline, details| Verdict { state, headline, details };
    let rate = detail.state.as_ref().and_then(|state| state.per_second.value());
    let mut details: Vec<Msg> = Vec::new();
    if let Some(rate) = rate {
        let text = Msg::new("unit-per-second").with("n", format::decimal(rate)).text(locale);
        details.push(Msg::new("topics-is-written").with("rate", text));
    }
    if !detail.coverage.complete() {
        return say(State::Unknown, Msg::new("topics-is-partly-known"), details);
    }
    if detail.state.as_ref().is_some_and(|state| state.differs) {
        return say(State::Warn, Msg::new("topics-differs"), details);
    }
    let known = |reader: &&Reader| reader.lag.as_ref().is_some_and(|on| !on.left_over);
    let stuck = detail
        .readers
        .iter()
        .filter(known)
        .find(|reader| reader.lag.as_ref().is_some_and(|on| matches!(on.trend, Trend::Stuck { .. })));
    if let Some(reader) = stuck {
        return say(State::Bad, Msg::new("topics-is-stuck").with("group", &reader.group), details);
    }
    let slowest = detail
        .readers
        .iter()
        .filter(known)
        .filter_map(|reader| Some((reader, reader.lag.as_ref()?)))
        .max_by_key(|(_, on)| on.lag.at_least());
    match slowest {
        None => say(State::Idle, Msg::new("topics-is-unread"), details),
        Some((reader, on)) => match on.lag.value() {
            None => say(State::Unknown, Msg::new("topics-lag-unknown").with("group", &reader.group), details),
            Some(0) => say(State::Ok, Msg::new("topics-is-read").with("n", detail.readers.len()), details),
            Some(lag) => {
                let growing = matches!(on.trend, Trend::Growing { .. });
                let state = if growing { State::Warn } else { State::Ok };
                let headline = Msg::new("topics-is-behind").with("group", &reader.group).with("lag", lag);
                say(state, headline, details)
            }
        },
    }
}

/// The permission of a topic in words.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn perm_word(perm: &Perm) -> Msg {
    match (perm.readable(), perm.writable()) {
        (true, true) => Msg::new("topics-perm-rw"),
        (true, false) => Msg::new("topics-perm-r"),
        (false, true) => Msg::new("topics-perm-w"),
        (false, false) => Msg::new("topics-perm-none"),
    }
}

pub(crate) fn type_word(place: &TopicAtBroker) -> Msg {
    match place.config.message_type.attribute().and_then(|name| Chip::parse(&name.to_lowercase())) {
        Some(chip) => chip_word(chip),
        None => chip_word(Chip::Unspecified),
    }
}

type Asked = Path<(String, String)>;

async fn answer(InCluster { cx, view }: InCluster, topic: &str, part: Part) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, topic, part, cx.locale).await?)
}

pub(crate) async fn queues(cluster: InCluster, Path((_, topic)): Asked) -> Result<Response, Failure> {
    answer(cluster, &topic, Part::Queues).await
}

pub(crate) async fn groups(cluster: InCluster, Path((_, topic)): Asked) -> Result<Response, Failure> {
    answer(cluster, &topic, Part::Groups).await
}

pub(crate) async fn config(cluster: InCluster, Path((_, topic)): Asked) -> Result<Response, Failure> {
    answer(cluster, &topic, Part::Config).await
}
