//! The program as its users have it: the real binary beside a real RocketMQ, on which the shop of `tests/cluster` ran.
//! `tests/run cluster` starts what is needed and runs this once with SQLite and once with PostgreSQL.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod command_line;
mod dead_letters;
mod flow;
mod groups;
mod journeys;
mod orders;
mod serving;
#[path = "../support/mod.rs"]
mod support;
mod telemetry;
mod topics;
mod truth;
