//! Making a group and changing one: the form, the form again with what is wrong, or on to the group with what came of
//! it.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use millrace_console::groups::GroupForm;
use millrace_console::{ConsoleError, FieldErrors};

use crate::i18n::Msg;
use crate::links::{self, Link};
use crate::pages::topics::create::REFRESH;
use crate::pages::topics::fields::{Fields, wrong};
use crate::pages::topics::{WHO, failure, outcome_flash};
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster};

#[derive(Template)]
#[template(path = "groups/edit.html", blocks = ["form"])]
struct Edit {
    cluster: String,
    /// A new group's name can be typed.
    new: bool,
    form: GroupForm,
    /// Brokers that can be chosen, with whether they are.
    brokers: Vec<(String, bool)>,
    differs: bool,
    action: Link,
    back: Link,
    name_error: Option<String>,
    retry_max_error: Option<String>,
    retry_queues_error: Option<String>,
    brokers_error: Option<String>,
    wrong: usize,
}

impl Edit {
    fn of(view: &ClusterView, cx: &Cx, group: Option<&str>, form: GroupForm, errors: &FieldErrors) -> Self {
        let of = |field| wrong(errors, field, cx.locale);
        let snapshot = view.console.snapshot();
        let state = group.and_then(|group| snapshot.group(group));
        let names: Vec<String> = match state {
            Some(state) => state.brokers.iter().map(|place| place.broker.clone()).collect(),
            None => snapshot.brokers.iter().map(|state| state.broker.name.clone()).collect(),
        };
        let chosen = |name: String| {
            let chosen = form.brokers.contains(&name);
            (name, chosen)
        };
        Self {
            cluster: view.name.clone(),
            new: group.is_none(),
            brokers: names.into_iter().map(chosen).collect(),
            differs: state.is_some_and(|state| state.differs),
            action: group
                .map_or_else(|| links::groups(&view.name), |group| links::group_part(&view.name, group, "edit")),
            back: group.map_or_else(|| links::groups(&view.name), |group| links::group(&view.name, group)),
            name_error: of("name"),
            retry_max_error: of("retry_max"),
            retry_queues_error: of("retry_queues"),
            brokers_error: of("brokers"),
            wrong: errors.0.len(),
            form,
        }
    }
}

fn read(bytes: &[u8]) -> GroupForm {
    let fields = Fields::read(bytes);
    GroupForm {
        name: fields.one("name"),
        consume: fields.one("consume"),
        broadcast: fields.one("broadcast"),
        orderly: fields.one("orderly"),
        retry_max: fields.one("retry_max"),
        retry_queues: fields.one("retry_queues"),
        brokers: fields.all("brokers"),
    }
}

fn again(
    view: &ClusterView,
    cx: &Cx,
    group: Option<&str>,
    form: GroupForm,
    errors: &FieldErrors,
) -> Result<Response, Failure> {
    let page = Edit::of(view, cx, group, form, errors);
    match cx.hx.target() {
        Some("form") => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page.as_form()),
        _ => cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &page),
    }
}

pub(crate) async fn new(InCluster { cx, view }: InCluster) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    let form = GroupForm::suggested(&view.console.snapshot());
    cx.html(&Edit::of(&view, &cx, None, form, &FieldErrors::default()))
}

pub(crate) async fn create(InCluster { cx, view }: InCluster, RawForm(bytes): RawForm) -> Result<Response, Failure> {
    let form = read(&bytes);
    match view.console.create_group(WHO, &form).await {
        Ok(outcomes) => {
            let name = form.name.trim();
            let all = Msg::new("groups-created").with("group", name);
            let some = Msg::new("groups-created-some").with("group", name);
            let to = if outcomes.succeeded() > 0 {
                view.console.snapshots().refresh(REFRESH).await;
                links::group(&view.name, name)
            } else {
                links::groups(&view.name)
            };
            Ok(cx.see_other(&to, Some(outcome_flash(&outcomes, all, some))))
        }
        Err(ConsoleError::Invalid(errors)) => again(&view, &cx, None, form, &errors),
        Err(error) => Err(failure(&view, error)),
    }
}

pub(crate) async fn edit(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    let snapshot = view.console.snapshot();
    let Some(state) = snapshot.group(&group) else {
        return Err(failure(&view, ConsoleError::NotFound(format!("group {group}"))));
    };
    cx.html(&Edit::of(&view, &cx, Some(&group), GroupForm::of(state), &FieldErrors::default()))
}

pub(crate) async fn change(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let form = GroupForm { name: group.clone(), ..read(&bytes) };
    match view.console.change_group(WHO, &group, &form).await {
        Ok(outcomes) => {
            view.console.snapshots().refresh(REFRESH).await;
            let all = Msg::new("groups-changed").with("group", &group);
            let some = Msg::new("groups-changed-some").with("group", &group);
            let to = links::group_part(&view.name, &group, "config");
            Ok(cx.see_other(&to, Some(outcome_flash(&outcomes, all, some))))
        }
        Err(ConsoleError::Invalid(errors)) => again(&view, &cx, Some(&group), form, &errors),
        Err(error) => Err(failure(&view, error)),
    }
}
