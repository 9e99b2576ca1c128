//! Trace ingest and record look-up.
