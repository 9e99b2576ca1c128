//! What every page needs to know of the request: language, theme, zone, place. One invariant: it is made once a request,
//! before the route is chosen, so that failures of any kind look like pages too.

use std::convert::Infallible;
use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum_extra::extract::cookie::CookieJar;
use millrace_core::time::Millis;
use serde::{Deserialize, Serialize};

use crate::app::ClusterView;
use crate::component::State;
use crate::format::Zone;
use crate::i18n::{self, Locale, Msg};
use crate::links::{self, Link};
use crate::{App, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        [Self::System, Self::Light, Self::Dark].into_iter().find(|theme| theme.name() == name)
    }
}

/// What htmx says about its request.
#[derive(Debug, Clone, Default)]
pub struct Hx {
    /// The `id` of the element that the answer goes into; `None` for a whole page.
    target: Option<String>,
    asks: bool,
}

impl Hx {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let asks = text("hx-request") == Some("true") && text("hx-history-restore-request").is_none();
        // htmx 4 sends `tag#id`, with the id as in an address.
        let target = text("hx-target")
            .filter(|_| asks)
            .and_then(|target| target.split_once('#'))
            .map(|(_, id)| percent_encoding::percent_decode_str(id).decode_utf8_lossy().into_owned());
        Self { target, asks }
    }

    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    pub fn asks(&self) -> bool {
        self.asks
    }
}

/// A sentence for the next page: what came of a form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Flash {
    pub state: State,
    pub msg: Msg,
}

impl Flash {
    pub fn ok(msg: Msg) -> Self {
        Self { state: State::Ok, msg }
    }

    pub fn warn(msg: Msg) -> Self {
        Self { state: State::Warn, msg }
    }

    /// Keys come from a cookie, so only those that are texts are believed.
    fn of_cookie(text: &str) -> Option<Self> {
        let text = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
        serde_json::from_str::<Self>(&text).ok().filter(|flash| i18n::has(flash.msg.key()))
    }
}

/// The parts of the site, for the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Overview,
    Records,
    Topics,
    Groups,
    Messages,
    DeadLetters,
    History,
    Ingest,
    Elsewhere,
}

#[derive(Debug, Clone)]
pub struct Cx {
    pub locale: Locale,
    pub theme: Theme,
    pub zone: Zone,
    /// Whether the reader chose UTC over the browser's zone.
    pub zone_pinned: bool,
    pub now: Millis,
    /// Path and query of this page, for coming back to it.
    pub here: String,
    pub section: Section,
    /// The cluster of this page.
    pub cluster: Option<String>,
    /// All clusters, in order.
    pub clusters: Arc<[String]>,
    pub hx: Hx,
    pub flash: Option<Flash>,
}

const FLASH: &str = "flash";

impl Cx {
    pub(crate) fn of(app: &App, uri: &Uri, headers: &HeaderMap) -> Self {
        let jar = CookieJar::from_headers(headers);
        let cookie = |name: &str| jar.get(name).map(|cookie| cookie.value().to_owned());
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let pinned = cookie("zone").and_then(|name| Zone::parse(&decoded(&name)));
        let path = uri.path();
        let mut parts = path.trim_start_matches('/').split('/');
        let cluster = match (parts.next(), parts.next()) {
            (Some("c"), Some(name)) => percent_encoding::percent_decode_str(name).decode_utf8().ok(),
            _ => None,
        };
        let cluster = cluster.filter(|name| app.cluster(name).is_some()).map(std::borrow::Cow::into_owned);
        let section = match (&cluster, parts.next()) {
            (None, _) => Section::Elsewhere,
            (_, None | Some("" | "events")) => Section::Overview,
            (_, Some("records")) => Section::Records,
            (_, Some("topics")) => Section::Topics,
            (_, Some("groups")) => Section::Groups,
            (_, Some("messages")) => Section::Messages,
            (_, Some("dead-letters")) => Section::DeadLetters,
            (_, Some("history")) => Section::History,
            (_, Some("ingest")) => Section::Ingest,
            _ => Section::Elsewhere,
        };
        Self {
            locale: cookie("lang")
                .and_then(|tag| Locale::of_tag(&tag))
                .or_else(|| accepted.and_then(Locale::of_accept_language))
                .unwrap_or_default(),
            theme: cookie("theme").and_then(|name| Theme::of_name(&name)).unwrap_or(Theme::System),
            zone_pinned: pinned.is_some(),
            zone: pinned.or_else(|| cookie("tz").and_then(|name| Zone::parse(&decoded(&name)))).unwrap_or_default(),
            now: app.clock.now(),
            here: uri.path_and_query().map_or_else(|| "/".to_owned(), |path| path.as_str().to_owned()),
            section,
            cluster,
            clusters: app.clusters().iter().map(|cluster| cluster.name.clone()).collect(),
            hx: Hx::of(headers),
            flash: cookie(FLASH).and_then(|text| Flash::of_cookie(&text)),
        }
    }

    /// The zone's offset now, as `UTC+8`.
    pub fn offset(&self) -> String {
        self.zone.offset(self.now)
    }

    /// A text in the reader's language.
    pub fn t(&self, key: &'static str) -> String {
        Msg::new(key).text(self.locale)
    }

    /// A template, or a block of one, as it goes to the reader.
    pub fn render(&self, view: &impl Template) -> Result<String, Failure> {
        view.render_with_values(self).map_err(Failure::Template)
    }

    /// 200 with a page or a block.
    pub fn html(&self, view: &impl Template) -> Result<Response, Failure> {
        self.html_with(StatusCode::OK, view)
    }

    /// A page or a block with another status: 422 for a form that comes back.
    pub fn html_with(&self, status: StatusCode, view: &impl Template) -> Result<Response, Failure> {
        let mut response = (status, Html(self.render(view)?)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("HX-Request, HX-Target, Cookie, Accept-Language"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(self.locale.tag()));
        if self.flash.is_some()
            && !self.hx.asks
            && let Some(value) = cookie(FLASH, "", 0)
        {
            headers.append(header::SET_COOKIE, value);
        }
        Ok(response)
    }

    /// On to another page after a form, with a sentence for it.
    pub fn see_other(&self, to: &Link, flash: Option<Flash>) -> Response {
        let to = to.to_string();
        let mut response = if self.hx.asks {
            [("hx-redirect", to)].into_response()
        } else {
            (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
        };
        let flash = flash.and_then(|flash| serde_json::to_string(&flash).ok()).map(|json| links::encoded(&json));
        if let Some(flash) = flash
            && let Some(value) = cookie(FLASH, &flash, 60)
        {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
        response
    }
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Templates and filters find the reader as `cx`.
impl askama::Values for Cx {
    fn get_value<'a>(&'a self, key: &str) -> Option<&'a dyn std::any::Any> {
        (key == "cx").then_some(self)
    }
}

/// A `Set-Cookie` of ours, for `seconds`; 0 takes it away. `value` must be percent-encoded where it is not plain.
pub(crate) fn cookie(name: &str, value: &str, seconds: i64) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax; HttpOnly")).ok()
}

impl FromRequestParts<Arc<App>> for Cx {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self::of(app, &parts.uri, &parts.headers)))
    }
}

/// The request's cluster, known to exist, with what every page knows.
#[derive(Debug)]
pub struct InCluster {
    pub cx: Cx,
    pub view: Arc<ClusterView>,
}

impl FromRequestParts<Arc<App>> for InCluster {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let Ok(cx) = Cx::from_request_parts(parts, app).await;
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| Failure::NoSuchPage)?;
        let name = params.iter().find(|(name, _)| *name == "cluster").map(|(_, value)| value.to_owned());
        let name = name.ok_or(Failure::NoSuchPage)?;
        let view = app.cluster(&name).map(Arc::clone).ok_or(Failure::NoSuchCluster(name))?;
        Ok(Self { cx, view })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use axum::http::{HeaderMap, Uri};

    use super::{Cx, Flash};
    use crate::i18n::Msg;
    use crate::links;
    use crate::testing::{app, site};

    fn cx(path: &str, headers: &[(&'static str, &str)]) -> Cx {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        Cx::of(&app(), &path.parse::<Uri>().unwrap(), &map)
    }

    #[tokio::test]
    async fn htmx_names_the_part_that_it_wants() {
        let part = cx("/c/shop", &[("hx-request", "true"), ("hx-target", "section#%E8%A1%A8")]);
        assert_eq!(part.hx.target(), Some("表"));
        assert_eq!(cx("/c/shop", &[("hx-target", "div#x")]).hx.target(), None);
        let back = [("hx-request", "true"), ("hx-target", "div#x"), ("hx-history-restore-request", "true")];
        assert_eq!(cx("/c/shop", &back).hx.target(), None);
        assert_eq!(cx("/c/none/topics", &[]).cluster, None);
    }

    #[tokio::test]
    async fn what_came_of_a_form_is_said_once_and_only_in_our_words() {
        let form = cx("/about", &[]);
        let flash = Flash::ok(Msg::new("errors-not-there").with("what", "<b>;订单").with("cluster", "shop"));
        let response = form.see_other(&links::about(), Some(flash));
        assert_eq!(response.status(), 303);
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let page = site().get_with("/about", &[("cookie", cookie)]).await;
        assert!(page.body.contains("class=\"flash ok\"") && page.body.contains("&#60;b&#62;;订单"), "{}", page.body);
        assert!(page.header("set-cookie").unwrap().starts_with("flash=;"));
        let foreign = links::encoded(r#"{"state":"ok","msg":{"key":"Send your password"}}"#);
        let page = site().get_with("/about", &[("cookie", &format!("flash={foreign}"))]).await;
        assert!(!page.body.contains("password"));
    }

    #[tokio::test]
    async fn caches_tell_parts_from_pages() {
        let page = site().get("/about").await;
        assert!(page.header("vary").unwrap().contains("HX-Request"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
}
