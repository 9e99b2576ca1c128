//! Words for what wants a person: what is the case, what it means, where to look.

use std::mem::{Discriminant, discriminant};

use millrace_console::overview::{Attention, Severity};
use millrace_core::time::Millis;

use crate::component::State;
use crate::format;
use crate::i18n::{Locale, Msg};
use crate::links::{self, Link};

/// Lines of one kind at most; the rest is counted.
const EACH: usize = 5;

pub(crate) struct AttentionLine {
    pub(crate) state: State,
    pub(crate) headline: Msg,
    pub(crate) detail: Option<Msg>,
    pub(crate) link: Option<Link>,
}

/// A line for each, kind by kind in the order of their worst; of a kind with many only the first ones.
pub(crate) fn lines(all: &[Attention], cluster: &str, now: Millis, locale: Locale) -> Vec<AttentionLine> {
    let mut kinds: Vec<(Discriminant<Attention>, Vec<&Attention>)> = Vec::new();
    for attention in all {
        let kind = discriminant(attention);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of_kind)) => of_kind.push(attention),
            None => kinds.push((kind, vec![attention])),
        }
    }
    let mut lines = Vec::new();
    for (_, of_kind) in kinds {
        lines.extend(of_kind.iter().take(EACH).map(|attention| AttentionLine {
            state: state(attention),
            headline: headline(attention, now, locale),
            detail: Some(detail(attention)),
            link: link(attention, cluster),
        }));
        if let Some(more) = of_kind.len().checked_sub(EACH).filter(|more| *more > 0) {
            let headline = Msg::new("overview-more").with("n", more);
            lines.push(AttentionLine { state: State::Info, headline, detail: None, link: None });
        }
    }
    lines
}

pub(crate) fn state(attention: &Attention) -> State {
    match attention.severity() {
        Severity::Bad => State::Bad,
        Severity::Warn => State::Warn,
    }
}

/// What is the case.
pub(crate) fn headline(attention: &Attention, now: Millis, locale: Locale) -> Msg {
    let lasting = |since: &Millis| format::duration(now.since(*since).max(0) / 1_000 * 1_000, locale);
    match attention {
        Attention::ClusterUnreachable { since, .. } => {
            Msg::new("overview-no-name-server").with("lasting", lasting(since))
        }
        Attention::NameServerDown { address, .. } => Msg::new("overview-name-server-down").with("address", address),
        Attention::BrokerDown { broker, since, .. } => {
            Msg::new("overview-broker-silent").with("broker", broker).with("lasting", lasting(since))
        }
        Attention::NoBroker => Msg::new("overview-no-broker"),
        Attention::NoMaster { broker } => Msg::new("overview-no-master").with("broker", broker),
        Attention::BrokerRunsForeignCommands { broker, version } => {
            Msg::new("overview-insecure").with("broker", broker).with("version", version)
        }
        Attention::NameServerRunsForeignCommands { broker, version } => {
            Msg::new("overview-insecure-name-server").with("broker", broker).with("version", version)
        }
        Attention::DiskFilling { broker, used, .. } => Msg::new("overview-disk")
            .with("broker", broker)
            .with("used", format!("{} %", format::decimal(used * 100.0))),
        Attention::ClockOff { broker, ahead } => {
            Msg::new("overview-clock").with("broker", broker).with("offset", format::duration(*ahead, locale))
        }
        Attention::GroupStuck { group, topic, lag, since } => Msg::new("overview-stuck")
            .with("topic", topic)
            .with("group", group)
            .with("lag", *lag)
            .with("lasting", lasting(since)),
        Attention::LagGrowing { group, topic, lag, by, since } => Msg::new("overview-growing")
            .with("topic", topic)
            .with("group", group)
            .with("lag", *lag)
            .with("by", *by)
            .with("lasting", lasting(since)),
        Attention::OffsetBeyondEnd { group, topic, by } => {
            Msg::new("overview-beyond-end").with("group", group).with("topic", topic).with("by", *by)
        }
        Attention::ExpiredUnread { group, topic, messages } => {
            Msg::new("overview-expired").with("group", group).with("topic", topic).with("n", *messages)
        }
        Attention::DeadLetters { topic, messages } => {
            Msg::new("overview-dead-letters").with("topic", topic).with("n", *messages)
        }
        Attention::TraceTopicMissing { topic } => Msg::new("overview-no-trace-topic").with("topic", topic),
        Attention::TopicDiffers { topic } => Msg::new("overview-differs").with("topic", topic),
    }
}

/// What it means and what to do.
pub(crate) fn detail(attention: &Attention) -> Msg {
    match attention {
        Attention::ClusterUnreachable { why, .. }
        | Attention::NameServerDown { why, .. }
        | Attention::BrokerDown { why, .. } => crate::why::why(why),
        Attention::NoBroker => Msg::new("overview-no-broker-way"),
        Attention::NoMaster { .. } => Msg::new("overview-no-master-way"),
        Attention::BrokerRunsForeignCommands { .. } => Msg::new("overview-insecure-way"),
        Attention::NameServerRunsForeignCommands { .. } => Msg::new("overview-insecure-name-server-way"),
        Attention::DiskFilling { bad: true, .. } => Msg::new("overview-disk-full-way"),
        Attention::DiskFilling { .. } => Msg::new("overview-disk-way"),
        Attention::ClockOff { .. } => Msg::new("overview-clock-way"),
        Attention::GroupStuck { .. } => Msg::new("overview-stuck-way"),
        Attention::LagGrowing { .. } => Msg::new("overview-growing-way"),
        Attention::OffsetBeyondEnd { .. } => Msg::new("overview-beyond-end-way"),
        Attention::ExpiredUnread { .. } => Msg::new("overview-expired-way"),
        Attention::DeadLetters { .. } => Msg::new("overview-dead-letters-way"),
        Attention::TraceTopicMissing { .. } => Msg::new("overview-no-trace-topic-way"),
        Attention::TopicDiffers { .. } => Msg::new("overview-differs-way"),
    }
}

/// The page of what it is about.
fn link(attention: &Attention, cluster: &str) -> Option<Link> {
    match attention {
        Attention::GroupStuck { topic, .. }
        | Attention::LagGrowing { topic, .. }
        | Attention::OffsetBeyondEnd { topic, .. }
        | Attention::ExpiredUnread { topic, .. }
        | Attention::DeadLetters { topic, .. }
        | Attention::TopicDiffers { topic } => crate::pages::nav::has_topics().then(|| links::topic(cluster, topic)),
        Attention::TraceTopicMissing { .. } => Some(links::ingest(cluster)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use millrace_console::overview::Attention;
    use millrace_core::coverage::Why;
    use millrace_core::time::Millis;

    use super::{detail, headline, lines};
    use crate::component::State;
    use crate::i18n::Locale;

    #[test]
    fn many_of_a_kind_are_counted_and_none_is_lost() {
        let down = |n: usize| Attention::BrokerDown { broker: format!("b{n}"), why: "x".into(), since: Millis(0) };
        let mut all: Vec<_> = (0..8).map(down).collect();
        all.insert(3, Attention::NoMaster { broker: "c".into() });
        let lines = lines(&all, "shop", Millis(60_000), Locale::En);
        let texts: Vec<_> = lines.iter().map(|line| line.headline.text(Locale::En)).collect();
        assert_eq!(lines.len(), 7);
        assert_eq!(texts.first().map(String::as_str), Some("b0 has been silent for 1 min"));
        assert_eq!(texts.get(5).map(String::as_str), Some("3 more of this kind"));
        assert_eq!(lines.get(6).map(|line| line.state), Some(State::Bad));
    }

    #[test]
    fn every_kind_has_words_in_both_languages() {
        let (group, topic, broker) = ("g".to_owned(), "t".to_owned(), "b".to_owned());
        let (why, since, version) = (Why::from("refused"), Millis(0), "V4_9_4".to_owned());
        let kinds = [
            Attention::ClusterUnreachable { why: why.clone(), since },
            Attention::NameServerDown { address: "192.0.2.9:9876".into(), why },
            Attention::NoBroker,
            Attention::NoMaster { broker: broker.clone() },
            Attention::BrokerRunsForeignCommands { broker: broker.clone(), version: version.clone() },
            Attention::NameServerRunsForeignCommands { broker: broker.clone(), version },
            Attention::DiskFilling { broker: broker.clone(), used: 0.8, bad: false },
            Attention::DiskFilling { broker: broker.clone(), used: 0.95, bad: true },
            Attention::ClockOff { broker, ahead: -3_000 },
            Attention::GroupStuck { group: group.clone(), topic: topic.clone(), lag: 5, since },
            Attention::LagGrowing { group: group.clone(), topic: topic.clone(), lag: 5, by: 2, since },
            Attention::OffsetBeyondEnd { group: group.clone(), topic: topic.clone(), by: 4 },
            Attention::ExpiredUnread { group, topic: topic.clone(), messages: 2 },
            Attention::DeadLetters { topic: topic.clone(), messages: 1_204 },
            Attention::TraceTopicMissing { topic: topic.clone() },
            Attention::TopicDiffers { topic },
        ];
        for attention in kinds {
            for locale in Locale::ALL {
                for msg in [headline(&attention, Millis(90_000), locale), detail(&attention)] {
                    let text = msg.text(locale);
                    assert!(text != msg.key() && !text.contains('{'), "{locale:?} {attention:?}: {text}");
                }
            }
        }
    }
}
