//! Messages: browsing a topic, one message, and finding one by id. One invariant: what a message holds is shown as
//! text and never as markup, and its body can be had byte for byte.

pub(crate) mod browse;
pub(crate) mod find;
pub(crate) mod row;
pub(crate) mod show;
#[cfg(test)]
mod tests;
