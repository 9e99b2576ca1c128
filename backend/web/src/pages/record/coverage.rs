//! What an answer looked at, and why nothing may have been found, in words.

use millrace_core::coverage::Missed;
use millrace_tracker::record::{RecordAnswer, UnfoundReason};

use super::Reader;
use crate::component::State;
use crate::i18n::Msg;
use crate::links::{self, Link};

/// What was searched, part by part.
pub(crate) fn searched(answer: &RecordAnswer, reader: &Reader<'_>) -> Vec<Msg> {
    let coverage = &answer.coverage;
    let mut parts = Vec::new();
    parts.push(match coverage.since {
        Some(since) => {
            Msg::new("record-searched-since").with("n", coverage.segments).with("since", reader.moment(since))
        }
        None => Msg::new("record-searched-nothing"),
    });
    parts.push(match coverage.behind_ms {
        Some(behind) => Msg::new("record-ingest-behind")
            .with("queues", coverage.trace_queues)
            .with("behind", reader.duration(behind)),
        None => Msg::new("record-ingest-unknown").with("queues", coverage.trace_queues),
    });
    if coverage.brokers.asked > 0 {
        let (answered, asked) = (coverage.brokers.answered, coverage.brokers.asked);
        parts.push(Msg::new("record-brokers-asked").with("answered", answered).with("asked", asked));
    }
    if let Some(scan) = &coverage.topics {
        parts.push(Msg::new("record-topics-searched").with("n", scan.topics));
        if scan.left_out > 0 {
            parts.push(Msg::new("record-topics-left-out").with("n", scan.left_out));
        }
    }
    parts
}

/// What could not be searched.
pub(crate) fn missed(answer: &RecordAnswer) -> Vec<Missed> {
    let coverage = &answer.coverage;
    let topics = coverage.topics.iter().flat_map(|scan| &scan.coverage.missed);
    let all =
        coverage.missed.iter().chain(&coverage.trace_brokers.missed).chain(&coverage.brokers.missed).chain(topics);
    let mut missed: Vec<Missed> = all.cloned().collect();
    missed.sort();
    missed.dedup();
    missed
}

/// One reason why nothing may have been found, and where to look.
pub(crate) struct Reason {
    pub(crate) state: State,
    pub(crate) headline: Msg,
    pub(crate) way: Msg,
    pub(crate) link: Option<Link>,
}

pub(crate) fn reasons(answer: &RecordAnswer, cluster: &str, reader: &Reader<'_>) -> Vec<Reason> {
    let ingest = || Some(links::ingest(cluster));
    let say = |state, headline, way, link| Reason { state, headline, way, link };
    answer
        .unfound
        .iter()
        .map(|reason| match reason {
            UnfoundReason::NoTraceTopic => {
                say(State::Bad, Msg::new("record-no-trace-topic"), Msg::new("record-no-trace-topic-way"), ingest())
            }
            UnfoundReason::TraceTopicRefused { refused } => {
                let first = refused.first().map(|missed| reader.say(&crate::why::why(&missed.why))).unwrap_or_default();
                let brokers: Vec<&str> = refused.iter().map(|missed| missed.what.as_str()).collect();
                let headline = Msg::new("record-trace-refused").with("brokers", brokers.join(", ")).with("why", first);
                say(State::Bad, headline, Msg::new("record-trace-refused-way"), ingest())
            }
            UnfoundReason::IngestStopped { why } => {
                let headline = match why {
                    Some(why) => Msg::new("record-ingest-degraded").with("why", why),
                    None => Msg::new("record-ingest-stopped"),
                };
                say(State::Bad, headline, Msg::new("record-ingest-stopped-way"), ingest())
            }
            UnfoundReason::IngestBehind { behind_ms } => say(
                State::Warn,
                Msg::new("record-ingest-late").with("behind", reader.duration(*behind_ms)),
                Msg::new("record-ingest-late-way"),
                ingest(),
            ),
            UnfoundReason::NotKept { since } => say(
                State::Idle,
                Msg::new("record-not-kept").with("since", reader.moment(*since)),
                Msg::new("record-not-kept-way"),
                ingest(),
            ),
            UnfoundReason::NothingIngested => {
                say(State::Warn, Msg::new("record-nothing-ingested"), Msg::new("record-nothing-ingested-way"), ingest())
            }
            UnfoundReason::StoreDamaged { missed } => say(
                State::Bad,
                Msg::new("record-store-damaged").with("n", missed.len()),
                Msg::new("record-store-damaged-way"),
                ingest(),
            ),
            UnfoundReason::TopicsMissed { missed } => say(
                State::Warn,
                Msg::new("record-topics-missed").with("n", missed.len()),
                Msg::new("record-topics-missed-way"),
                None,
            ),
            UnfoundReason::KeyNowhere { topics } => say(
                State::Idle,
                Msg::new("record-key-nowhere").with("topics", *topics),
                Msg::new("record-key-nowhere-way"),
                None,
            ),
            UnfoundReason::IdNowhere { topics } => say(
                State::Idle,
                Msg::new("record-id-nowhere").with("topics", *topics),
                Msg::new("record-id-nowhere-way"),
                None,
            ),
        })
        .collect()
}
