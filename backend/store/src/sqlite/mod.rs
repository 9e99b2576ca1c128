//! SQLite: one file for the metadata, one file a trace segment, one program at a time.

mod catalogue;
mod file;
mod files;
mod history;
mod lock;
mod meta;
mod readers;
mod resend;

pub(crate) use files::Files;
pub(crate) use meta::Database;
