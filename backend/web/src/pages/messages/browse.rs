//! Browsing one topic: newest, by time, by queue and offset, by key, by id. Every view is a link.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use axum_extra::extract::Query;
use millrace_console::messages::{Browse, Cursor, Instant, KEY_CAP, KeyQuery, Limit, Limits, Order, ReadAs, TakenFor};
use millrace_console::{ConsoleError, FieldErrors};
use millrace_core::coverage::Coverage;
use millrace_core::time::Millis;
use serde::Deserialize;

use super::row::MessageRow;
use crate::component::State;
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::pages::topics::failure;
use crate::pages::topics::fields::{say, wrong};
use crate::pages::topics::head::{Head, Part};
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster, format};

/// Rows of one page, unless asked otherwise.
const SIZE: usize = 32;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    /// `newest`, `time`, `offset`, `key` or `id`.
    #[serde(default)]
    pub(crate) by: String,
    #[serde(default)]
    pub(crate) from: String,
    #[serde(default)]
    pub(crate) to: String,
    /// `oldest` or `newest` first.
    #[serde(default)]
    pub(crate) order: String,
    #[serde(default)]
    pub(crate) broker: String,
    #[serde(default)]
    pub(crate) queue: String,
    #[serde(default)]
    pub(crate) offset: String,
    #[serde(default)]
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) cursor: String,
    #[serde(default)]
    pub(crate) size: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Newest,
    Time,
    Offset,
    Key,
    Id,
}

impl By {
    const ALL: [Self; 5] = [Self::Newest, Self::Time, Self::Offset, Self::Key, Self::Id];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Time => "time",
            Self::Offset => "offset",
            Self::Key => "key",
            Self::Id => "id",
        }
    }

    fn msg(self) -> Msg {
        match self {
            Self::Newest => Msg::new("messages-by-newest"),
            Self::Time => Msg::new("messages-by-time"),
            Self::Offset => Msg::new("messages-by-offset"),
            Self::Key => Msg::new("messages-by-key"),
            Self::Id => Msg::new("messages-by-id"),
        }
    }
}

impl Asked {
    pub(crate) fn by(&self) -> By {
        By::ALL.into_iter().find(|by| by.word() == self.by).unwrap_or(By::Newest)
    }

    /// Whether there is something to look for yet, or only a form to fill in.
    fn is_filled(&self) -> bool {
        match self.by() {
            By::Newest => true,
            By::Time => !self.from.trim().is_empty() || !self.to.trim().is_empty(),
            By::Offset => !self.offset.trim().is_empty(),
            By::Key => !self.key.trim().is_empty(),
            By::Id => !self.id.trim().is_empty(),
        }
    }

    fn order(&self) -> Order {
        if self.order == "oldest" { Order::OldestFirst } else { Order::NewestFirst }
    }

    fn link(&self, cluster: &str, topic: &str) -> Link {
        links::topic_part(cluster, topic, "messages")
            .with("by", &self.by)
            .with("from", &self.from)
            .with("to", &self.to)
            .with("order", &self.order)
            .with("broker", &self.broker)
            .with("queue", &self.queue)
            .with("offset", &self.offset)
            .with("key", &self.key)
            .with("id", &self.id)
            .with("size", self.size.map(|size| size.to_string()).unwrap_or_default())
    }
}

/// The times of a request, and how they were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) from: Option<Instant>,
    pub(crate) to: Option<Instant>,
}

impl Times {
    pub(crate) fn read(asked: &Asked, zone: &format::Zone, now: Millis) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut one = |field: &'static str, text: &str| {
            if text.trim().is_empty() {
                return None;
            }
            Instant::parse(text, zone.time_zone(), now).map_err(|error| errors.add(field, error.code())).ok()
        };
        let times = Self { from: one("from", &asked.from), to: one("to", &asked.to) };
        if errors.is_empty() { Ok(times) } else { Err(errors) }
    }

    fn said(self) -> Vec<(Millis, Msg)> {
        [self.from, self.to].into_iter().flatten().map(|instant| (instant.at, read_as(instant))).collect()
    }
}

fn read_as(instant: Instant) -> Msg {
    match instant.read_as {
        ReadAs::Seconds => Msg::new("messages-read-seconds"),
        ReadAs::Milliseconds => Msg::new("messages-read-milliseconds"),
        ReadAs::Microseconds => Msg::new("messages-read-microseconds"),
        ReadAs::Nanoseconds => Msg::new("messages-read-nanoseconds"),
        ReadAs::Iso => Msg::new("messages-read-iso"),
        ReadAs::Local => Msg::new("messages-read-local"),
        ReadAs::LocalTwice => Msg::new("messages-read-twice"),
        ReadAs::Relative => Msg::new("messages-read-relative"),
    }
}

/// What is looked for in the queues.
pub(crate) fn browse_of(asked: &Asked, times: Times, now: Millis) -> Result<Browse, FieldErrors> {
    match asked.by() {
        By::Time => Ok(Browse::Range {
            from: times.from.map_or(Millis(0), |instant| instant.at),
            to: times.to.map_or(now, |instant| instant.at),
            order: asked.order(),
        }),
        By::Offset => {
            let mut errors = FieldErrors::default();
            let offset = asked.offset.trim().parse::<i64>().ok().filter(|offset| *offset >= 0);
            if offset.is_none() {
                errors.add("offset", "number-unreadable");
            }
            let queue = asked.queue.trim().parse::<i32>().ok().filter(|queue| *queue >= 0);
            if queue.is_none() || asked.broker.is_empty() {
                errors.add("queue", "queue-missing");
            }
            match (offset, queue) {
                (Some(offset), Some(queue)) if errors.is_empty() => {
                    Ok(Browse::Queue { broker: asked.broker.clone(), queue, offset, order: asked.order() })
                }
                _ => Err(errors),
            }
        }
        _ => Ok(Browse::Newest),
    }
}

/// What was found.
struct Found {
    rows: Vec<MessageRow>,
    /// The answer in a sentence.
    said: Msg,
    state: State,
    notes: Vec<Msg>,
    /// Instants that were typed, with how they were read.
    times: Vec<(Millis, Msg)>,
    coverage: Coverage,
    covered: Msg,
    first: Option<Link>,
    next: Option<Link>,
}

#[derive(Template)]
#[template(path = "messages/browse.html", blocks = ["messages"])]
struct Page {
    head: Head,
    asked: Asked,
    by: By,
    ways: Vec<(Msg, bool, Link)>,
    /// Broker and queue of each, for choosing one.
    queues: Vec<(String, i32, bool)>,
    from_error: Option<String>,
    to_error: Option<String>,
    queue_error: Option<String>,
    offset_error: Option<String>,
    /// What is wrong with what no field shows: a link's cursor.
    other_errors: Vec<String>,
    found: Option<Found>,
}

/// Fields that show their own errors.
const FIELDS: [&str; 4] = ["from", "to", "queue", "offset"];

impl Page {
    fn of(
        view: &ClusterView,
        topic: &str,
        asked: Asked,
        errors: &FieldErrors,
        found: Option<Found>,
        locale: Locale,
    ) -> Self {
        let by = asked.by();
        let of = |field| wrong(errors, field, locale);
        let ways = By::ALL.into_iter().map(|way| {
            let link = links::topic_part(&view.name, topic, "messages").with("by", way.word());
            (way.msg(), way == by, link)
        });
        let snapshot = view.console.snapshot();
        let queues = snapshot.topic(topic).map(|state| {
            let all = state.brokers.iter().flat_map(|place| {
                let count = place.config.read_queues.max(place.config.write_queues);
                (0..i32::try_from(count).unwrap_or(0)).map(|queue| (place.broker.clone(), queue))
            });
            all.map(|(broker, queue)| {
                let chosen = broker == asked.broker && queue.to_string() == asked.queue;
                (broker, queue, chosen)
            })
            .collect()
        });
        Self {
            head: Head::of(view, topic, Part::Messages),
            by,
            ways: ways.collect(),
            queues: queues.unwrap_or_default(),
            from_error: of("from"),
            to_error: of("to"),
            queue_error: of("queue"),
            offset_error: of("offset"),
            other_errors: errors
                .0
                .iter()
                .filter(|error| !FIELDS.contains(&error.field))
                .map(|error| say(error).text(locale))
                .collect(),
            found,
            asked,
        }
    }
}

pub(crate) async fn show(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    Query(mut asked): Query<Asked>,
) -> Result<Response, Failure> {
    // A queue is chosen in one field: `broker/3`.
    if let Some((broker, queue)) = asked.queue.clone().rsplit_once('/') {
        (asked.broker, asked.queue) = (broker.to_owned(), queue.to_owned());
    }
    let (errors, found) = if asked.is_filled() {
        match find(&view, &cx, &topic, &asked).await {
            Ok(found) => (FieldErrors::default(), Some(found)),
            Err(ConsoleError::Invalid(errors)) => (errors, None),
            Err(error) => return Err(failure(&view, error)),
        }
    } else {
        (FieldErrors::default(), None)
    };
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = Page::of(&view, &topic, asked, &errors, found, cx.locale);
    match cx.hx.target() {
        Some("messages") => cx.html_with(status, &page.as_messages()),
        _ => cx.html_with(status, &page),
    }
}

async fn find(view: &ClusterView, cx: &Cx, topic: &str, asked: &Asked) -> Result<Found, ConsoleError> {
    let times = Times::read(asked, &cx.zone, cx.now)?;
    match asked.by() {
        By::Key => by_key(view, topic, asked, times).await,
        By::Id => by_id(view, Some(topic), &asked.id).await,
        By::Newest | By::Time | By::Offset => in_queues(view, cx, topic, asked, times).await,
    }
}

async fn in_queues(
    view: &ClusterView,
    cx: &Cx,
    topic: &str,
    asked: &Asked,
    times: Times,
) -> Result<Found, ConsoleError> {
    let browse = browse_of(asked, times, cx.now)?;
    let cursor = (!asked.cursor.is_empty())
        .then(|| Cursor::parse(&asked.cursor, topic))
        .transpose()
        .map_err(|_| FieldErrors::one("cursor", "cursor-damaged"))?;
    let later = cursor.is_some();
    let page = view.console.browse(topic, &browse, asked.size.unwrap_or(SIZE), cursor, Limits::default()).await?;
    let mut notes = Vec::new();
    match page.limit {
        Some(Limit::Time) => notes.push(Msg::new("messages-limit-time").with("n", page.examined)),
        Some(Limit::Pulls) => notes.push(Msg::new("messages-limit-pulls").with("n", page.examined)),
        Some(Limit::Bytes) => notes.push(Msg::new("messages-limit-bytes").with("n", page.examined)),
        None => {}
    }
    let link = asked.link(&view.name, topic);
    let covered = Msg::new("messages-queues-covered").with("answered", page.coverage.answered);
    Ok(Found {
        said: Msg::new("messages-shown").with("n", page.rows.len()).with("total", page.total),
        state: state_of(&page.coverage, page.limit.is_some()),
        rows: page.rows.iter().map(|row| MessageRow::of_row(&view.name, row)).collect(),
        notes,
        times: times.said(),
        covered,
        coverage: page.coverage,
        first: later.then(|| link.clone()),
        next: page.next.map(|next| link.with("cursor", next.encode())),
    })
}

fn state_of(coverage: &Coverage, limited: bool) -> State {
    if !coverage.complete() {
        State::Unknown
    } else if limited {
        State::Warn
    } else {
        State::Ok
    }
}

async fn by_key(view: &ClusterView, topic: &str, asked: &Asked, times: Times) -> Result<Found, ConsoleError> {
    let query = KeyQuery {
        key: asked.key.clone(),
        from: times.from.map(|instant| instant.at),
        to: times.to.map(|instant| instant.at),
    };
    let keyed = view.console.messages_by_key(topic, &query).await?;
    let mut notes = Vec::new();
    let mut next = None;
    if !keyed.capped.is_empty() {
        notes.push(Msg::new("messages-capped").with("n", KEY_CAP).with("brokers", keyed.capped.join(", ")));
        if let Some(older) = keyed.older.filter(|older| *older < keyed.to) {
            let asked = Asked { to: older.0.to_string(), ..asked.clone() };
            next = Some(asked.link(&view.name, topic));
        } else {
            notes.push(Msg::new("messages-capped-moment"));
        }
    }
    if keyed.foreign > 0 {
        notes.push(Msg::new("messages-foreign").with("n", keyed.foreign));
    }
    Ok(Found {
        said: Msg::new("messages-found-key").with("n", keyed.messages.len()).with("key", &keyed.key),
        state: state_of(&keyed.coverage, !keyed.capped.is_empty()),
        rows: keyed.messages.iter().map(|message| MessageRow::of_message(&view.name, message)).collect(),
        notes,
        times: times.said(),
        covered: crate::pages::brokers_covered(&keyed.coverage),
        coverage: keyed.coverage,
        first: None,
        next,
    })
}

async fn by_id(view: &ClusterView, topic: Option<&str>, id: &str) -> Result<Found, ConsoleError> {
    let looked = view.console.messages_by_id(topic, id).await?;
    let mut notes = vec![taken_for(&looked.taken_for)];
    if looked.messages.len() > 1 {
        notes.push(Msg::new("messages-sent-again"));
    }
    Ok(Found {
        said: Msg::new("messages-found-id").with("n", looked.messages.len()),
        state: state_of(&looked.coverage, false),
        rows: looked.messages.iter().map(|message| MessageRow::of_message(&view.name, message)).collect(),
        notes,
        times: Vec::new(),
        covered: crate::pages::brokers_covered(&looked.coverage),
        coverage: looked.coverage,
        first: None,
        next: None,
    })
}

/// What an id was taken for.
pub(crate) fn taken_for(taken_for: &TakenFor) -> Msg {
    match taken_for {
        TakenFor::Uniq => Msg::new("messages-taken-uniq"),
        TakenFor::Grpc => Msg::new("messages-taken-grpc"),
        TakenFor::Offset { broker } => Msg::new("messages-taken-offset").with("broker", broker),
        TakenFor::UniqDespiteShape { address } => Msg::new("messages-taken-despite").with("address", address),
        TakenFor::Other => Msg::new("messages-taken-other"),
    }
}
