//! One module a subcommand. Only these and `main.rs` name an adapter.

pub(crate) mod api;
pub(crate) mod bench;
#[cfg(feature = "embedded")]
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod http;
pub(crate) mod measure;
pub(crate) mod record;
pub(crate) mod serve;
pub(crate) mod trace;
