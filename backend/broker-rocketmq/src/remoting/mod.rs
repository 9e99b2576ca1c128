//! A small client of RocketMQ's remoting protocol with JSON headers: many calls at once on one connection an address.
//!
//! Invariant: every call ends by its deadline, and one that its caller drops leaves nothing behind.

mod code;
mod connection;
mod frame;
mod pool;
mod reply;
mod request;

pub(crate) use code::{RequestCode, ResponseCode};
pub(crate) use pool::Pool;
pub(crate) use reply::Reply;
pub(crate) use request::Request;
