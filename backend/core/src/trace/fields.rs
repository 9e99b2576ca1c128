//! One field of an entry, read as what it should be.

use crate::time::Millis;

use super::decode::RejectReason;

/// The fields of one entry, `0` its kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'f, 't>(pub &'f [&'t str]);

impl<'t> Fields<'_, 't> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Errors unless there are `least` fields.
    pub(super) fn at_least(&self, least: usize) -> Result<(), RejectReason> {
        if self.len() < least { Err(RejectReason::TooFewFields) } else { Ok(()) }
    }

    fn at(&self, index: usize) -> &'t str {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// As written; `null` is no text.
    pub(super) fn text(&self, index: usize) -> String {
        self.optional(index).unwrap_or_default()
    }

    /// `None` for an empty field and for Java's `null`.
    pub(super) fn optional(&self, index: usize) -> Option<String> {
        present(self.at(index)).map(str::to_owned)
    }

    pub(super) fn id(&self, index: usize) -> Result<String, RejectReason> {
        self.optional(index).ok_or(RejectReason::MissingId)
    }

    /// Ids joined by commas, as a batch send writes them.
    pub(super) fn ids(&self, index: usize) -> Vec<String> {
        self.at(index).split(',').filter_map(present).map(str::to_owned).collect()
    }

    /// Distinct keys in the order written. `no_key` is a text that some clients write for "no key".
    pub(super) fn keys(&self, index: usize, no_key: Option<&str>) -> Vec<String> {
        let text = self.at(index);
        if present(text).is_none() || Some(text) == no_key {
            return Vec::new();
        }
        let mut keys: Vec<String> = Vec::new();
        for key in text.split_ascii_whitespace() {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
        keys
    }

    pub(super) fn number(&self, index: usize) -> Result<i64, RejectReason> {
        self.at(index).trim().parse().map_err(|_| RejectReason::BadNumber)
    }

    pub(super) fn time(&self, index: usize) -> Result<Millis, RejectReason> {
        self.number(index).map(Millis)
    }

    pub(super) fn boolean(&self, index: usize) -> Result<bool, RejectReason> {
        match self.at(index) {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(RejectReason::BadBoolean),
        }
    }

    /// Fields that no known client writes.
    pub(super) fn beyond(&self, known: usize) -> Vec<String> {
        self.0.iter().skip(known).filter(|field| !field.is_empty()).map(|field| (*field).to_owned()).collect()
    }
}

fn present(text: &str) -> Option<&str> {
    (!text.is_empty() && text != "null").then_some(text)
}
