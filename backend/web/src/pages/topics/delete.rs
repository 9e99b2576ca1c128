//! Deleting a topic: a page that says what goes away and asks for the name, then the act.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use millrace_console::topics::{DeleteForm, DeletionPlan};
use millrace_console::{ConsoleError, FieldErrors};

use super::amount::Amount;
use super::create::REFRESH;
use super::fields::{Fields, wrong};
use super::head::{Head, Part};
use super::{WHO, failure, outcome_flash};
use crate::i18n::Msg;
use crate::links;
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster, format};

#[derive(Template)]
#[template(path = "topics/delete.html")]
struct Delete {
    head: Head,
    plan: DeletionPlan,
    span: Option<Amount>,
    readers: Vec<(String, Amount)>,
    /// Brokers that have it, with whether they are chosen.
    brokers: Vec<(String, bool)>,
    typed: String,
    confirm_error: Option<String>,
    brokers_error: Option<String>,
}

impl Delete {
    fn of(view: &ClusterView, cx: &Cx, plan: DeletionPlan, form: &DeleteForm, errors: &FieldErrors) -> Self {
        let chosen = |broker: &String| form.brokers.is_empty() || form.brokers.contains(broker);
        Self {
            head: Head::of(view, &plan.topic, Part::Form),
            span: plan.span.as_ref().map(|span| Amount::of(span, cx.locale, format::grouped)),
            readers: plan
                .readers
                .iter()
                .map(|reader| (reader.group.clone(), Amount::of(&reader.lag, cx.locale, format::grouped)))
                .collect(),
            brokers: plan.brokers.iter().map(|broker| (broker.clone(), chosen(broker))).collect(),
            typed: form.confirm.clone(),
            confirm_error: wrong(errors, "confirm", cx.locale),
            brokers_error: wrong(errors, "brokers", cx.locale),
            plan,
        }
    }
}

async fn plan(view: &ClusterView, topic: &str) -> Result<DeletionPlan, Failure> {
    view.console.deletion_plan(topic).await.map_err(|error| failure(view, error))
}

pub(crate) async fn form(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    let plan = plan(&view, &topic).await?;
    cx.html(&Delete::of(&view, &cx, plan, &DeleteForm::default(), &FieldErrors::default()))
}

pub(crate) async fn delete(
    InCluster { cx, view }: InCluster,
    Path((_, topic)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = DeleteForm { confirm: fields.one("confirm"), brokers: fields.all("brokers") };
    match view.console.delete_topic(WHO, &topic, &form).await {
        Ok(outcomes) => {
            view.console.snapshots().refresh(REFRESH).await;
            let all = Msg::new("topics-deleted").with("topic", &topic);
            let some = Msg::new("topics-deleted-some").with("topic", &topic);
            let flash = outcome_flash(&outcomes, all, some);
            let still_there = view.console.snapshot().topic(&topic).is_some();
            let to = if still_there { links::topic(&view.name, &topic) } else { links::topics(&view.name) };
            Ok(cx.see_other(&to, Some(flash)))
        }
        Err(ConsoleError::Invalid(errors)) => {
            let plan = plan(&view, &topic).await?;
            let page = Delete::of(&view, &cx, plan, &form, &errors);
            cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page)
        }
        Err(error) => Err(failure(&view, error)),
    }
}
