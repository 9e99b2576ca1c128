//! The pages in Debian's Chromium, on a real RocketMQ on which the shop of `tests/cluster` ran.
#![expect(clippy::indexing_slicing, reason = "tests")]

mod chromium;
mod looks;
#[path = "../support/mod.rs"]
mod support;
mod walks;
