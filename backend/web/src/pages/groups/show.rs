//! One group: its answer in a sentence, then how far it is, who of it is online, or its configuration.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use millrace_console::groups::{Client, ClientSays, GroupDetail, GroupQueue, Standing};
use millrace_console::snapshot::GroupAtBroker;
use millrace_core::coverage::Known;
use millrace_core::name::RETRY_PREFIX;
use millrace_core::time::Millis;

use super::head::{Head, Part};
use super::{kind_words, standing_state};
use crate::component::{State, Verdict};
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};
use crate::render::filters;
use crate::{ClusterView, Failure, InCluster, format};

#[derive(Template)]
#[template(path = "groups/show.html")]
struct Show {
    head: Head,
    verdict: Verdict,
    kind: Option<(Msg, Msg)>,
    detail: GroupDetail,
    topics: Vec<OnTopic>,
    clients: Vec<ClientRow>,
    configs: Vec<GroupAtBroker>,
    dead: Option<(i64, Link)>,
}

/// The queues of one topic.
struct OnTopic {
    topic: String,
    link: Link,
    reset: Link,
    retry: bool,
    lag: i64,
    queues: Vec<QueueRow>,
}

struct QueueRow {
    at: GroupQueue,
    lag: Option<i64>,
    browse: Option<Link>,
    /// Nobody of a group that is online says that it reads the queue, or more than one does.
    wrong: Option<Msg>,
}

struct ClientRow {
    client: Client,
    link: Link,
    queues: Option<usize>,
}

impl Show {
    async fn of(view: &ClusterView, group: &str, part: Part, locale: Locale) -> Result<Self, Failure> {
        let detail = view.console.group(group).await.map_err(|error| crate::pages::topics::failure(view, error))?;
        let mut head = Head::of(view, group, part);
        head.clients = Some(detail.clients.len());
        let dead = detail.state.as_ref().and_then(|state| state.dead.as_ref());
        let dead = dead.map(|dead| (dead.at_least(), head.link("dead-letters")));
        Ok(Self {
            verdict: verdict(&detail, view.console.now(), locale),
            kind: kind_words(&detail.consume_type, &detail.message_model),
            topics: topics(view, &detail),
            clients: detail.clients.iter().map(|client| ClientRow::of(view, group, client)).collect(),
            dead: dead.filter(|(messages, _)| *messages > 0),
            configs: detail.state.as_ref().map(|state| state.brokers.clone()).unwrap_or_default(),
            head,
            detail,
        })
    }
}

impl ClientRow {
    fn of(view: &ClusterView, group: &str, client: &Client) -> Self {
        Self {
            link: links::client(&view.name, group, &client.connection.client_id),
            queues: match &client.says {
                ClientSays::Running(running) => Some(running.queues.len()),
                ClientSays::Nothing(_) => None,
            },
            client: client.clone(),
        }
    }
}

fn topics(view: &ClusterView, detail: &GroupDetail) -> Vec<OnTopic> {
    // Where no client told its queues, nothing is said about owners.
    let told = detail.clients.iter().any(|client| matches!(client.says, ClientSays::Running(_)));
    let clustering = detail.message_model != "BROADCASTING";
    let mut topics: Vec<OnTopic> = Vec::new();
    for at in &detail.queues {
        let topic = &at.queue.topic;
        if topics.last().is_none_or(|last| last.topic != *topic) {
            topics.push(OnTopic {
                link: links::topic(&view.name, topic),
                reset: links::group_part(&view.name, &detail.name, "reset").with("topic", topic),
                retry: topic.starts_with(RETRY_PREFIX),
                topic: topic.clone(),
                lag: 0,
                queues: Vec::new(),
            });
        }
        let Some(last) = topics.last_mut() else { continue };
        let lag = at.lag();
        last.lag = last.lag.saturating_add(lag.unwrap_or(0));
        let wrong = match at.owners.len() {
            0 if told && clustering => Some(Msg::new("groups-no-owner")),
            2.. if clustering => Some(Msg::new("groups-two-owners")),
            _ => None,
        };
        let browse = at.committed.filter(|committed| *committed < at.end).map(|committed| {
            links::topic_part(&view.name, topic, "messages")
                .with("by", "offset")
                .with("broker", &at.queue.broker)
                .with("queue", at.queue.queue.to_string())
                .with("offset", committed.to_string())
        });
        last.queues.push(QueueRow { at: at.clone(), lag, browse, wrong });
    }
    // What people made before the retries of it.
    topics.sort_by_key(|on| on.retry);
    topics
}

/// The group in a sentence.
fn verdict(detail: &GroupDetail, now: Millis, locale: Locale) -> Verdict {
    let lag: i64 = detail.queues.iter().filter_map(GroupQueue::lag).sum();
    let mut details = Vec::new();
    let oldest = detail.queues.iter().filter_map(|at| at.oldest_unread.known().copied().flatten()).min();
    if let Some(oldest) = oldest {
        let age = format::duration(now.since(oldest).max(0), locale);
        details.push(Msg::new("groups-oldest-is").with("age", age));
    }
    if detail.unasked > 0 {
        details.push(Msg::new("groups-unasked").with("n", detail.unasked));
    }
    let say = |state, headline| Verdict { state, headline, details: details.clone() };
    if !detail.coverage.complete() {
        return say(State::Unknown, Msg::new("topics-is-partly-known"));
    }
    if let Some(mismatch) = detail.mismatches.first() {
        return say(State::Bad, Msg::new("groups-mismatch").with("topic", &mismatch.topic));
    }
    let paused = detail.state.as_ref().is_some_and(|state| state.brokers.iter().any(|at| !at.config.consume_enable));
    if paused {
        return say(State::Warn, Msg::new("groups-is-paused").with("lag", lag));
    }
    let online = detail.clients.len();
    let standing = detail.state.as_ref().map_or(Standing::Unknown, |state| Standing::of(state));
    match (standing, online, lag) {
        (Standing::LeftOver, ..) => say(State::Idle, Msg::new("groups-is-left-over")),
        (_, 0, 0) => say(State::Idle, Msg::new("groups-is-empty")),
        (_, 0, _) => say(State::Bad, Msg::new("groups-is-offline").with("lag", lag)),
        (Standing::Stuck, _, 1..) => say(State::Bad, Msg::new("groups-is-stuck").with("lag", lag)),
        (Standing::Growing, _, 1..) => say(State::Warn, Msg::new("groups-is-growing").with("lag", lag)),
        (_, _, 0) if detail.queues.is_empty() => {
            say(standing_state(Standing::NoOffset), Msg::new("groups-is-without-offset").with("n", online))
        }
        (_, _, 0) => say(State::Ok, Msg::new("groups-is-done").with("n", online)),
        _ => say(State::Ok, Msg::new("groups-is-reading").with("lag", lag).with("n", online)),
    }
}

type Asked = Path<(String, String)>;

async fn answer(InCluster { cx, view }: InCluster, group: &str, part: Part) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, group, part, cx.locale).await?)
}

pub(crate) async fn progress(cluster: InCluster, Path((_, group)): Asked) -> Result<Response, Failure> {
    answer(cluster, &group, Part::Progress).await
}

pub(crate) async fn clients(cluster: InCluster, Path((_, group)): Asked) -> Result<Response, Failure> {
    answer(cluster, &group, Part::Clients).await
}

pub(crate) async fn config(cluster: InCluster, Path((_, group)): Asked) -> Result<Response, Failure> {
    answer(cluster, &group, Part::Config).await
}
