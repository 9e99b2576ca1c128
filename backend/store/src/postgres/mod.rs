//! PostgreSQL: one database, any number of programs on it.

mod history;
mod meta;
mod resend;
mod tables;

pub(crate) use meta::Database;
pub(crate) use tables::Tables;
