//! Ingest of one cluster: how far it is, what it rejected, what is kept and what was dropped.

use std::sync::Arc;

use askama::Template;
use axum::extract::State as AppState;
use axum::response::Response;
use millrace_core::coverage::Known;
use millrace_core::time::Millis;
use millrace_core::trace::RejectReason;
use millrace_store::{DroppedSegment, RejectSummary, SegmentInfo};
use millrace_tracker::ingest::{IngestStatus, WorkerHealth};

use crate::component::{State, Verdict};
use crate::i18n::{Locale, Msg};
use crate::render::filters;
use crate::{App, ClusterView, Failure, InCluster, format, live};

/// Traces that are this much older than the present are worth a warning: a record page may then miss the newest hops.
const LATE_MS: i64 = 60_000;
/// Dropped segments that are shown.
const DROPPED: u32 = 50;

#[derive(Template)]
#[template(path = "ingest/show.html", blocks = ["state"])]
struct Show {
    cluster: String,
    verdict: Verdict,
    status: IngestStatus,
    behind_unknown: Msg,
    rejects: Known<Vec<RejectSummary>>,
    segments: Known<Vec<SegmentInfo>>,
    dropped: Known<Vec<DroppedSegment>>,
    kept_note: Msg,
}

impl Show {
    async fn of(view: &ClusterView, now: Millis, locale: Locale) -> Self {
        let status = view.ingest.status(now);
        let (rejects, segments, dropped) =
            tokio::join!(view.traces.rejects(), view.traces.segments(), view.traces.dropped(DROPPED));
        let kept_note = Msg::new("ingest-kept-note")
            .with("age", format::duration(view.ingest.retention.max_age_ms, locale))
            .with("size", format::bytes(view.ingest.retention.max_bytes));
        let behind_unknown =
            if status.queues.is_empty() { Msg::new("ingest-no-queues") } else { Msg::new("ingest-queue-silent") };
        Self {
            cluster: view.name.clone(),
            verdict: verdict(&status, locale),
            status,
            behind_unknown,
            rejects: rejects.into(),
            segments: segments.into(),
            dropped: dropped.into(),
            kept_note,
        }
    }
}

/// Why an entry was rejected.
pub(crate) fn reason(reason: RejectReason) -> Msg {
    match reason {
        RejectReason::NotUtf8 => Msg::new("ingest-not-utf8"),
        RejectReason::UnknownType => Msg::new("ingest-unknown-type"),
        RejectReason::TooFewFields => Msg::new("ingest-too-few-fields"),
        RejectReason::BadNumber => Msg::new("ingest-bad-number"),
        RejectReason::BadBoolean => Msg::new("ingest-bad-boolean"),
        RejectReason::MissingId => Msg::new("ingest-missing-id"),
    }
}

/// Ingest in a sentence.
pub(crate) fn verdict(status: &IngestStatus, locale: Locale) -> Verdict {
    let say = |state, headline, details| Verdict { state, headline, details };
    match &status.health {
        WorkerHealth::Off => {
            return say(State::Idle, Msg::new("ingest-is-not-here"), vec![Msg::new("ingest-is-not-here-way")]);
        }
        WorkerHealth::Stopped => {
            return say(State::Bad, Msg::new("ingest-is-stopped"), vec![Msg::new("ingest-is-stopped-way")]);
        }
        WorkerHealth::Starting => return say(State::Info, Msg::new("ingest-is-starting"), Vec::new()),
        WorkerHealth::Degraded { why } => {
            return say(
                State::Warn,
                Msg::new("ingest-is-degraded"),
                vec![Msg::new("ingest-reason-is").with("why", why), Msg::new("ingest-is-degraded-way")],
            );
        }
        WorkerHealth::Running => {}
    }
    if status.topics.is_empty() {
        return say(State::Warn, Msg::new("ingest-is-off"), vec![Msg::new("ingest-is-off-way")]);
    }
    match status.behind_ms {
        None if status.queues.is_empty() => {
            say(State::Info, Msg::new("ingest-is-without-queues"), vec![Msg::new("ingest-no-queues-why")])
        }
        None => say(State::Unknown, Msg::new("ingest-is-unknown"), vec![Msg::new("ingest-queue-silent")]),
        Some(behind) if behind > LATE_MS => say(
            State::Warn,
            Msg::new("ingest-is-late").with("behind", format::duration(behind, locale)),
            vec![Msg::new("ingest-is-late-way")],
        ),
        Some(behind) => {
            say(State::Ok, Msg::new("ingest-keeps-up").with("behind", format::duration(behind, locale)), Vec::new())
        }
    }
}

pub(crate) async fn show(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    cx.html(&Show::of(&view, cx.now, cx.locale).await)
}

pub(crate) async fn events(
    InCluster { cx, view }: InCluster,
    AppState(app): AppState<Arc<App>>,
) -> Result<Response, Failure> {
    let changes = live::changes(view.ingest.changes());
    let clock = Arc::clone(&app.clock);
    live::stream(&app, changes, move || {
        let mut cx = cx.clone();
        cx.now = clock.now();
        let view = Arc::clone(&view);
        async move { cx.render(&Show::of(&view, cx.now, cx.locale).await.as_state()) }
    })
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use crate::testing::{broken_store_site, site};

    #[tokio::test]
    async fn the_page_shows_what_is_kept_rejected_and_dropped() {
        let body = site().get("/c/shop/ingest").await.body;
        for shown in ["1,204", "512 KiB", "an-odd-entry", "older than the retention"] {
            assert!(body.contains(shown), "{shown} is not in {body}");
        }
    }

    /// A store that does not answer is not an empty store.
    #[tokio::test]
    async fn a_silent_store_is_not_shown_as_empty() {
        let answer = broken_store_site().get("/c/shop/ingest").await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.body.contains("locked by another program"), "{}", answer.body);
        assert!(!answer.body.contains("Nothing was rejected"), "{}", answer.body);
    }

    #[tokio::test]
    async fn live_sends_the_block_that_the_page_holds() {
        let site = site();
        let events = site.first_event("/c/shop/ingest/events").await;
        assert!(events.contains("<div id=\"state\""), "{events}");
        assert!(!events.contains("<html"));
    }
}
