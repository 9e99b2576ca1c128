//! The RocketMQ adapter, and the embedded broker.
//!
//! Reading, tailing and administration speak RocketMQ's remoting protocol through [`remoting`]; sending and the demo's
//! consumers go through the rocketmq crates' client, which nothing outside of [`client`] and `embedded` names.
//!
//! Invariant: only the configured name servers and the addresses in their answers are dialled.

#![recursion_limit = "512"]
#![expect(clippy::large_futures, reason = "the SDK's are; they are boxed at this crate's edge")]

pub mod client;
mod cluster;
#[cfg(feature = "embedded")]
pub mod embedded;
mod json;
mod link;
mod message;
mod remoting;
mod settings;

pub use cluster::RocketMq;
pub use settings::{ClusterSettings, Credentials, Timeouts};
