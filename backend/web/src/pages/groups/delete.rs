//! Deleting a group: a page that says what goes away and asks for the name, then the act.

use askama::Template;
use axum::extract::{Path, RawForm};
use axum::http::StatusCode;
use axum::response::Response;
use millrace_console::groups::{DeleteGroupForm, GroupDeletion};
use millrace_console::{ConsoleError, FieldErrors};

use super::head::{Head, Part};
use crate::i18n::Msg;
use crate::links;
use crate::pages::topics::amount::Amount;
use crate::pages::topics::create::REFRESH;
use crate::pages::topics::fields::{Fields, wrong};
use crate::pages::topics::{WHO, failure, outcome_flash};
use crate::render::filters;
use crate::{ClusterView, Cx, Failure, InCluster, format};
use millrace_core::coverage::Known;

#[derive(Template)]
#[template(path = "groups/delete.html")]
struct Delete {
    head: Head,
    plan: GroupDeletion,
    lag: Option<Amount>,
    dead: Option<Amount>,
    form: DeleteGroupForm,
    confirm_error: Option<String>,
}

impl Delete {
    fn of(view: &ClusterView, cx: &Cx, plan: GroupDeletion, form: DeleteGroupForm, errors: &FieldErrors) -> Self {
        Self {
            head: Head::of(view, &plan.group, Part::Form),
            lag: plan.lag.as_ref().map(|lag| Amount::of(lag, cx.locale, format::grouped)),
            dead: plan.dead_span.as_ref().map(|dead| Amount::of(dead, cx.locale, format::grouped)),
            confirm_error: wrong(errors, "confirm", cx.locale),
            form,
            plan,
        }
    }
}

async fn plan(view: &ClusterView, group: &str) -> Result<GroupDeletion, Failure> {
    view.console.group_deletion(group).await.map_err(|error| failure(view, error))
}

pub(crate) async fn form(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
) -> Result<Response, Failure> {
    if !view.console.writable() {
        return Err(Failure::ReadOnly(view.name.clone()));
    }
    let plan = plan(&view, &group).await?;
    cx.html(&Delete::of(&view, &cx, plan, DeleteGroupForm::default(), &FieldErrors::default()))
}

pub(crate) async fn delete(
    InCluster { cx, view }: InCluster,
    Path((_, group)): Path<(String, String)>,
    RawForm(bytes): RawForm,
) -> Result<Response, Failure> {
    let fields = Fields::read(&bytes);
    let form = DeleteGroupForm { confirm: fields.one("confirm"), dead_letters: fields.one("dead_letters") };
    match view.console.delete_group(WHO, &group, &form).await {
        Ok(outcomes) => {
            view.console.snapshots().refresh(REFRESH).await;
            let all = Msg::new("groups-deleted").with("group", &group);
            let some = Msg::new("groups-deleted-some").with("group", &group);
            let flash = outcome_flash(&outcomes, all, some);
            let still_there = view.console.snapshot().group(&group).is_some();
            let to = if still_there { links::group(&view.name, &group) } else { links::groups(&view.name) };
            Ok(cx.see_other(&to, Some(flash)))
        }
        Err(ConsoleError::Invalid(errors)) => {
            let plan = plan(&view, &group).await?;
            cx.html_with(StatusCode::UNPROCESSABLE_ENTITY, &Delete::of(&view, &cx, plan, form, &errors))
        }
        Err(error) => Err(failure(&view, error)),
    }
}
