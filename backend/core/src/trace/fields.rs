//! One field of an entry, read as what it should be.

use crate::time::Millis;

use super::decode::RejectReason;

/// The fields of one entry, `0` its kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'f, 't>(pub(super) &'f [&'t str]);

impl<'t> Fields<'_, 't> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// Errors unless there are `least` fields.
    pub(super) fn at_least(self, least: usize) -> Result<(), RejectReason> {
        if self.len() < least { Err(RejectReason::TooFewFields) } else { Ok(()) }
    }

    /// As written; empty beyond the last.
    pub(super) fn at(self, index: usize) -> &'t str {
        self.0.get(index).copied().unwrap_or_default()
    }

    /// `None` for an empty field and for Java's `null`.
    fn present(self, index: usize) -> Option<&'t str> {
        present(self.at(index))
    }

    /// Empty where the client wrote none.
    pub(super) fn text(self, index: usize) -> String {
        self.present(index).unwrap_or_default().to_owned()
    }

    pub(super) fn optional(self, index: usize) -> Option<String> {
        self.present(index).map(str::to_owned)
    }

    pub(super) fn id(self, index: usize) -> Result<String, RejectReason> {
        self.optional(index).ok_or(RejectReason::MissingId)
    }

    /// Ids joined by commas, as a batch send writes them.
    pub(super) fn ids(self, index: usize) -> Vec<String> {
        self.at(index).split(',').filter_map(present).map(str::to_owned).collect()
    }

    /// The same, up to the first that is missing, so that the places of the rest say nothing wrong.
    pub(super) fn aligned_ids(self, index: usize) -> Vec<String> {
        self.at(index).split(',').map_while(present).map(str::to_owned).collect()
    }

    pub(super) fn number(self, index: usize) -> Result<i64, RejectReason> {
        self.at(index).parse().map_err(|_| RejectReason::BadNumber)
    }

    pub(super) fn optional_number(self, index: usize) -> Result<Option<i64>, RejectReason> {
        self.present(index).map(|_| self.number(index)).transpose()
    }

    pub(super) fn time(self, index: usize) -> Result<Millis, RejectReason> {
        self.number(index).map(Millis)
    }

    pub(super) fn boolean(self, index: usize) -> Result<bool, RejectReason> {
        match self.at(index) {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(RejectReason::BadBoolean),
        }
    }

    /// Fields that no known client writes. An empty last one is a separator too many.
    pub(super) fn beyond(self, known: usize) -> Vec<String> {
        let rest = self.0.get(known..).unwrap_or_default();
        let rest = rest.strip_suffix(&[""]).unwrap_or(rest);
        rest.iter().map(|field| (*field).to_owned()).collect()
    }
}

fn present(text: &str) -> Option<&str> {
    (!text.is_empty() && text != "null").then_some(text)
}
