//! The tracker: trace messages are read into the trace store ([`ingest`]), and a record is looked up across all of
//! them ([`record`]). It knows the ports only.

pub mod ingest;
pub mod record;
