//! Where is this record? The search page and the record page: the sentence first, then the drawing, the waterfall, and
//! the same facts as a table. One invariant: nothing here decides anything about a flow; it puts core's codes into words.

mod coverage;
mod drawing;
mod hops;
mod raw;
mod recent;
mod strands;
mod timeline;
mod verdict;
mod words;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State as AppState};
use axum::response::Response;
use millrace_core::coverage::{Known, Missed};
use millrace_core::flow::Finding;
use millrace_core::time::Millis;
use millrace_tracker::record::{Question, RecordAnswer};
use serde::Deserialize;

use crate::component::{State, Verdict};
use crate::format;
use crate::i18n::Msg;
use crate::links::{self, Link};
use crate::render::filters;
use crate::{App, ClusterView, Cx, Failure, InCluster, live};

/// Longer texts are no keys that anybody typed.
const LONGEST: usize = 2_048;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    q: String,
    /// Only the record of this message.
    #[serde(default)]
    root: String,
    #[serde(default)]
    view: View,
    /// Of the list of records with one key, from 1.
    #[serde(default)]
    page: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum View {
    #[default]
    Flow,
    Messages,
    Raw,
}

impl Asked {
    fn question(&self) -> Option<Question> {
        let mut question = Question::of(&self.q);
        question.root = Some(self.root.trim().to_owned()).filter(|root| !root.is_empty());
        (!question.text.is_empty()).then_some(question)
    }

    fn link(&self, cluster: &str, view: View) -> Link {
        let view = match view {
            View::Flow => "",
            View::Messages => "messages",
            View::Raw => "raw",
        };
        links::record(cluster, self.q.trim()).with("root", self.root.trim()).with("view", view)
    }
}

/// Puts codes into the reader's words.
pub(crate) struct Reader<'a> {
    cx: &'a Cx,
}

impl Reader<'_> {
    pub(crate) fn say(&self, msg: &Msg) -> String {
        msg.text(self.cx.locale)
    }

    pub(crate) fn duration(&self, ms: i64) -> String {
        format::duration(ms, self.cx.locale)
    }

    /// The time of day; with the date when it is not of the last twelve hours or the next.
    pub(crate) fn clock(&self, at: Millis) -> String {
        if self.now().since(at).abs() < 12 * 3_600_000 { self.cx.zone.clock(at) } else { self.cx.zone.date_time(at) }
    }

    /// Date and time to the second.
    pub(crate) fn moment(&self, at: Millis) -> String {
        let text = self.cx.zone.date_time(at);
        text.split_once('.').map(|(seconds, _)| seconds.to_owned()).unwrap_or(text)
    }

    pub(crate) fn now(&self) -> Millis {
        self.cx.now
    }
}

#[derive(Template)]
#[template(path = "record/search.html")]
struct Search {
    cluster: String,
    recent: Known<Vec<recent::RecentKey>>,
}

#[derive(Template)]
#[template(path = "record/show.html", blocks = ["answer"])]
struct Show {
    cluster: String,
    asked: Asked,
    taken_for: Msg,
    verdict: Verdict,
    searched: Vec<Msg>,
    missed: Vec<Missed>,
    reasons: Vec<coverage::Reason>,
    messages: usize,
    groups: usize,
    span: Option<Msg>,
    findings: Vec<FindingLine>,
    strands: Option<strands::Strands>,
    body: Body,
}

enum Body {
    /// Nothing was found, or too many records use the key to be drawn together.
    None,
    Flow {
        drawing: drawing::Drawing,
        timeline: timeline::Timeline,
        lines: Vec<hops::Line>,
    },
    Messages(Vec<millrace_core::flow::MessageNode>),
    Raw(raw::Raw),
}

struct FindingLine {
    state: State,
    about: Option<String>,
    text: Msg,
}

impl Show {
    fn of(view: &ClusterView, cx: &Cx, asked: Asked, answer: &RecordAnswer) -> Self {
        let reader = Reader { cx };
        let flow = &answer.flow;
        let strands = strands::strands(flow, asked.page.unwrap_or(1).saturating_sub(1));
        let drawn = answer.found() && strands.as_ref().is_none_or(|strands| strands.drawn);
        let body = match asked.view {
            _ if !drawn => Body::None,
            View::Flow => Body::Flow {
                drawing: drawing::draw(flow, &reader, |topic| drawing::topic_link(&view.name, topic)),
                timeline: timeline::draw(flow, &reader),
                lines: hops::lines(flow, &reader),
            },
            View::Messages => Body::Messages(flow.messages.clone()),
            View::Raw => Body::Raw(raw::rows(flow, &answer.records)),
        };
        let verdict = match &strands {
            Some(strands) if !strands.drawn => Verdict {
                state: State::Info,
                headline: Msg::new("record-says-many").with("n", strands.total).with("text", &answer.question),
                details: vec![Msg::new("record-next-many")],
            },
            _ => verdict::verdict(answer, &reader),
        };
        Self {
            cluster: view.name.clone(),
            taken_for: words::taken_for(&answer.taken_for),
            verdict,
            searched: coverage::searched(answer, &reader),
            missed: coverage::missed(answer),
            reasons: coverage::reasons(answer, &view.name, &reader),
            messages: flow.messages.len(),
            groups: flow.groups().len(),
            span: flow.span.map(|span| {
                Msg::new("record-span")
                    .with("begin", reader.clock(span.begin))
                    .with("end", reader.clock(span.end))
                    .with("zone", cx.zone.offset(span.begin))
            }),
            findings: flow.findings.iter().map(|finding| finding_line(finding, &reader)).collect(),
            strands,
            asked,
            body,
        }
    }

    /// The address of another view of the same record.
    fn view_link(&self, view: View) -> Link {
        self.asked.link(&self.cluster, view)
    }

    fn is(&self, view: View) -> bool {
        self.asked.view == view
    }

    fn events(&self) -> Link {
        let page = self.asked.page.map(|page| page.to_string()).unwrap_or_default();
        let view = match self.asked.view {
            View::Flow => "",
            View::Messages => "messages",
            View::Raw => "raw",
        };
        links::record_events(&self.cluster, self.asked.q.trim())
            .with("root", self.asked.root.trim())
            .with("view", view)
            .with("page", page)
    }

    fn page_link(&self, page: usize) -> Link {
        self.view_link(self.asked.view).with("page", page.to_string())
    }

    fn previous(&self) -> Option<Link> {
        let strands = self.strands.as_ref()?;
        (strands.page > 0).then(|| self.page_link(strands.page))
    }

    fn next(&self) -> Option<Link> {
        let strands = self.strands.as_ref()?;
        (strands.page + 1 < strands.pages()).then(|| self.page_link(strands.page + 2))
    }

    fn topic_link(&self, topic: &str) -> Option<Link> {
        drawing::topic_link(&self.cluster, topic)
    }
}

fn finding_line(finding: &Finding, reader: &Reader<'_>) -> FindingLine {
    FindingLine {
        state: words::severity(finding.severity),
        about: finding.about.clone(),
        text: words::finding(&finding.kind, reader),
    }
}

async fn answer(view: &ClusterView, asked: &Asked) -> Result<Option<RecordAnswer>, Failure> {
    if asked.q.len() > LONGEST {
        return Err(Failure::Invalid(Msg::new("record-too-long")));
    }
    match asked.question() {
        Some(question) => Ok(Some(view.records.look_up(&question).await?)),
        None => Ok(None),
    }
}

pub(crate) async fn show(InCluster { cx, view }: InCluster, Query(asked): Query<Asked>) -> Result<Response, Failure> {
    match answer(&view, &asked).await? {
        Some(answer) => {
            let show = Show::of(&view, &cx, asked, &answer);
            match cx.hx.target() {
                Some("answer") => cx.html(&show.as_answer()),
                _ => cx.html(&show),
            }
        }
        None => cx.html(&Search { cluster: view.name.clone(), recent: recent::keys(&*view.traces).await.into() }),
    }
}

pub(crate) async fn events(
    InCluster { cx, view }: InCluster,
    Query(asked): Query<Asked>,
    AppState(app): AppState<Arc<App>>,
) -> Result<Response, Failure> {
    if asked.question().is_none() {
        return Err(Failure::Invalid(Msg::new("record-nothing-asked")));
    }
    let changes = live::changes(view.ingest.changes());
    let clock = Arc::clone(&app.clock);
    live::stream(&app, changes, move || {
        let mut cx = cx.clone();
        cx.now = clock.now();
        let (view, asked) = (Arc::clone(&view), asked.clone());
        async move {
            match answer(&view, &asked).await? {
                Some(answer) => cx.render(&Show::of(&view, &cx, asked, &answer).as_answer()),
                None => Err(Failure::Invalid(Msg::new("record-nothing-asked"))),
            }
        }
    })
}

#[cfg(test)]
mod tests;
