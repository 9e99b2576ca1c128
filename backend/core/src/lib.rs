//! The domain of Millrace, pure: no async runtime, no database, no HTTP, no clock and no environment.
//!
//! Bytes become [`trace::TraceRecord`]s, trace records become a [`flow`], a flow becomes findings and a picture.
//! Everything here is a function of its arguments.

pub mod coverage;
pub mod flow;
pub mod id;
pub mod inert;
pub mod name;
pub mod time;
pub mod trace;
