//! Sending and consuming with RocketMQ's message trace on, through the rocketmq crates' client.
//!
//! Invariant: no type of those crates is named outside of this module and `embedded`. Each call to the client makes
//! this crate slower to compile, so there are few, and each is here once.

mod consumer;
mod failure;
mod producer;
mod runtime;
mod sender;

pub use consumer::{Consumed, Listener, PushConsumer, Subscription};
pub use producer::TracedProducer;
pub use runtime::{ClientTarget, Clients};
pub use sender::Sender;
