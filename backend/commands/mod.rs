//! One module a subcommand. Only these and `main.rs` name an adapter.

pub mod bench;
#[cfg(feature = "embedded")]
pub mod demo;
pub mod doctor;
pub mod health;
pub mod http;
pub mod measure;
pub mod record;
pub mod serve;
pub mod trace;
