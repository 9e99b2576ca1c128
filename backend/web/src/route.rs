//! A row of the table of routes. One invariant: a route is mounted only through [`Route::mount`], which wraps the
//! handler in its permission, its limits and its kind.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use tower_http::timeout::TimeoutLayer;

use crate::App;

/// What a caller must be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Anybody: static files, health, the reader's own settings.
    Public,
    ClusterRead,
    IngestRead,
    RecordRead,
    TopicRead,
    TopicWrite,
    GroupRead,
    GroupWrite,
    MessageRead,
    MessageSend,
}

impl Permission {
    /// Whether the permission changes something on a cluster.
    pub fn writes(self) -> bool {
        matches!(self, Self::TopicWrite | Self::GroupWrite | Self::MessageSend)
    }

    /// The largest request body that the route takes, in bytes. A message may be as large as a broker accepts.
    fn body_limit(self) -> usize {
        match self {
            Self::MessageSend => 5 * 1024 * 1024,
            _ => 256 * 1024,
        }
    }
}

/// What the answer is, which decides how a failure looks and how long the handler may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Page,
    /// JSON; failures are problem documents.
    Api,
    /// Server-sent events: no time limit.
    Events,
    /// Static files and health.
    Plain,
}

/// The permission and the kind of the route that matched, for handlers and middleware.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub permission: Permission,
    pub kind: Kind,
}

/// Longer than every deadline of a broker call, so that a page tells which broker was slow.
const PAGE_DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) permission: Permission,
    pub(crate) kind: Kind,
    handler: MethodRouter<Arc<App>>,
}

impl Route {
    pub(crate) fn new<H, T>(method: Method, path: &'static str, permission: Permission, kind: Kind, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        let filter = match method {
            Method::POST => MethodFilter::POST,
            Method::DELETE => MethodFilter::DELETE,
            Method::PUT => MethodFilter::PUT,
            _ => MethodFilter::GET,
        };
        Self { method, path, permission, kind, handler: on(filter, handler) }
    }

    pub(crate) fn mount(self) -> MethodRouter<Arc<App>> {
        let access = Access { permission: self.permission, kind: self.kind };
        let limit = DefaultBodyLimit::max(self.permission.body_limit());
        let handler = self.handler.layer::<_, Infallible>(limit).layer::<_, Infallible>(Extension(access));
        match self.kind {
            Kind::Events => handler,
            _ => handler.layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, PAGE_DEADLINE)),
        }
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {:?} {:?}", self.method, self.path, self.permission, self.kind)
    }
}
