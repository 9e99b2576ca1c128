//! A number of a table's cell that may be known, partly known, old, or not known at all.

use millrace_console::Tally;
use millrace_core::coverage::{Missed, Why};

use crate::i18n::Locale;
use crate::why::why;

/// What a cell shows.
#[derive(Debug, Clone)]
pub(crate) struct Amount {
    /// With `≥` for a lower bound and `≈` for what may be a little off; empty when nothing is known.
    pub(crate) text: String,
    /// Parts are missing, so that the text is a lower bound or empty.
    pub(crate) unknown: bool,
    /// Some of it is the last good value of something that does not answer now.
    pub(crate) stale: bool,
    /// What is missing or old, and why.
    pub(crate) why: String,
}

impl Amount {
    pub(crate) fn of<T>(tally: &Tally<T>, locale: Locale, shown: impl Fn(T) -> String) -> Self
    where
        T: Copy + Default + PartialEq + std::ops::AddAssign,
    {
        let missing = tally.missing();
        let text = match tally.value() {
            Some(value) if tally.is_approximate() => format!("≈ {}", shown(value)),
            Some(value) => shown(value),
            // At least nothing says nothing.
            None if tally.is_unknown() || tally.at_least() == T::default() => String::new(),
            None => format!("≥ {}", shown(tally.at_least())),
        };
        let stale = tally.stale_parts();
        Self {
            text,
            unknown: !missing.is_empty(),
            stale: missing.is_empty() && !stale.is_empty(),
            why: reasons(if missing.is_empty() { stale } else { missing }, locale),
        }
    }
}

/// Each with its reason; of many, the first.
fn reasons(missed: &[Missed], locale: Locale) -> String {
    let say = |part: &Missed| format!("{}: {}", part.what, why(&part.why).text(locale));
    // Queues that were never read from say the same one by one.
    if let [first, _, ..] = missed
        && first.why == Why::NeverCommitted
        && missed.iter().all(|part| part.why == first.why)
    {
        return why(&first.why).text(locale);
    }
    let mut text: Vec<String> = missed.iter().take(3).map(say).collect();
    if missed.len() > 3 {
        text.push(format!("+{}", missed.len() - 3));
    }
    text.join("; ")
}
