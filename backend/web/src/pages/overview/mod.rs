//! A cluster at a glance: what wants a person, then brokers and rates.

mod attention;

use std::sync::Arc;

use askama::Template;
use axum::extract::State as AppState;
use axum::response::Response;
use millrace_console::overview::{BrokerLine, Overview, overview};
use millrace_core::coverage::Known;
use millrace_core::time::Millis;
use millrace_tracker::ingest::IngestStatus;

use crate::component::{Meter, State, Verdict};
use crate::i18n::{Locale, Msg};
use crate::render::filters;
use crate::{App, ClusterView, Cx, Failure, InCluster, live, pages};

pub(crate) use attention::{AttentionLine, detail, headline, state};

/// From here on a broker deletes old messages early.
const DISK_TIGHT: f64 = 0.75;
/// From here on a broker refuses writes.
const DISK_FULL: f64 = 0.90;

#[derive(Template)]
#[template(path = "overview/show.html", blocks = ["state"])]
struct Show {
    cluster: String,
    verdict: Verdict,
    overview: Overview,
    attention: Vec<AttentionLine>,
    status: IngestStatus,
    ingest: Verdict,
}

impl Show {
    fn of(view: &ClusterView, cx: &Cx) -> Self {
        let (overview, status) = read(view, cx.now);
        let ingest = pages::ingest::verdict(&status, cx.locale);
        Self {
            cluster: view.name.clone(),
            verdict: sum_up(&overview, &ingest, cx.now, cx.locale),
            attention: attention::lines(&overview.attention, &view.name, cx.now, cx.locale),
            overview,
            status,
            ingest,
        }
    }

    /// Whether any broker was read, so that counts are counts.
    fn was_read(&self) -> bool {
        self.overview.coverage.as_of.is_some()
    }
}

/// The same figures for the page and for programs.
pub(crate) fn read(view: &ClusterView, now: Millis) -> (Overview, IngestStatus) {
    let status = view.ingest.status(now);
    (overview(&view.console.snapshot(), &status.topics), status)
}

/// A rate as a text's value; the text adds the unit.
pub(crate) fn rate_text(rate: f64) -> String {
    crate::format::decimal(rate)
}

pub(crate) fn broker_state(line: &BrokerLine) -> State {
    match (&line.failure, line.read_at) {
        (Some(_), _) => State::Bad,
        (None, None) => State::Unknown,
        (None, Some(_)) => State::Ok,
    }
}

pub(crate) fn disk_meter(line: &BrokerLine) -> Option<Meter> {
    let used = *line.disk_used.known()?;
    let state = match used {
        used if used >= DISK_FULL => State::Bad,
        used if used >= DISK_TIGHT => State::Warn,
        _ => State::Ok,
    };
    Some(Meter::of(used, state))
}

/// The cluster in a sentence: the worst thing, or that nothing is wrong.
fn sum_up(overview: &Overview, ingest: &Verdict, now: Millis, locale: Locale) -> Verdict {
    let ingest_matters = matches!(ingest.state, State::Warn | State::Bad);
    let Some(worst) = overview.attention.first() else {
        if overview.coverage.as_of.is_none() {
            return Verdict { state: State::Unknown, headline: Msg::new("overview-not-read"), details: Vec::new() };
        }
        if ingest_matters {
            return ingest.clone();
        }
        let details = vec![ingest.headline.clone()];
        return Verdict { state: State::Ok, headline: Msg::new("overview-all-well"), details };
    };
    let more = overview.attention.len() - 1 + usize::from(ingest_matters);
    let mut details = Vec::new();
    if more > 0 {
        details.push(Msg::new("overview-and-more").with("n", more));
    }
    details.push(ingest.headline.clone());
    Verdict { state: state(worst), headline: headline(worst, now, locale), details }
}

/// The cluster in a sentence.
pub(crate) fn verdict(view: &ClusterView, now: Millis, locale: Locale) -> Verdict {
    let (overview, status) = read(view, now);
    sum_up(&overview, &pages::ingest::verdict(&status, locale), now, locale)
}

pub(crate) async fn show(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, &cx))
}

pub(crate) async fn events(
    InCluster { cx, view }: InCluster,
    AppState(app): AppState<Arc<App>>,
) -> Result<Response, Failure> {
    let changes =
        live::any(vec![live::changes(view.ingest.changes()), live::changes(view.console.snapshots().watch())]);
    let clock = Arc::clone(&app.clock);
    live::stream(&app, changes, move || {
        let mut cx = cx.clone();
        cx.now = clock.now();
        let html = cx.render(&Show::of(&view, &cx).as_state());
        async move { html }
    })
}

#[cfg(test)]
mod tests {
    use millrace_broker::fake::Fault;

    use crate::testing::{FakeTraces, Site, builder, fake_cluster, site, view};

    #[tokio::test]
    async fn brokers_topics_and_rates_are_shown() {
        let site = site();
        site.settle().await;
        let body = site.get("/c/shop").await.body;
        for shown in ["broker-a", "192.0.2.1:10911", "broker-b", "2 of 2 brokers answered"] {
            assert!(body.contains(shown), "{shown} is not in {body}");
        }
    }

    /// A broker that is silent is named with its reason, and no figure of it is zero.
    #[tokio::test]
    async fn a_silent_broker_is_unknown_and_not_zero() {
        let fake = fake_cluster().runtime_entry("broker-a", "putTps", "12.0");
        fake.fail("broker-b", Fault::Dead);
        let site = Site::of(builder().cluster(view("shop", &fake, FakeTraces::default())).build());
        site.settle().await;
        let body = site.get("/c/shop").await.body;
        assert!(body.contains("broker-b has been silent"), "{body}");
        assert!(body.contains("connection refused"), "{body}");
        assert!(body.contains("1 of 2 brokers answered"), "{body}");
        let json: serde_json::Value =
            serde_json::from_str(&site.get("/api/v1/clusters/shop").await.body).expect("JSON");
        assert_eq!(json.pointer("/attention/0/what"), Some(&serde_json::json!("broker_down")));
        let put = json.pointer("/brokers/1/put_per_second").expect("a figure");
        assert!(put.get("unknown").is_some(), "{put}");
        assert_eq!(json.pointer("/coverage/answered"), Some(&serde_json::json!(1)));
    }

    #[tokio::test]
    async fn before_the_first_reading_nothing_is_claimed() {
        let fake = fake_cluster();
        fake.fail_name_servers(Fault::Dead);
        let site = Site::of(builder().cluster(view("shop", &fake, FakeTraces::default())).build());
        site.settle().await;
        let body = site.get_with("/c/shop", &[("accept-language", "zh-CN")]).await.body;
        assert!(body.contains("NameServer"), "{body}");
        assert!(!body.contains("一切正常"), "{body}");
    }
}
