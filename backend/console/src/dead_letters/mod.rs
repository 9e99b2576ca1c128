//! Dead letters: which groups gave messages up, which messages those are, and sending them again.

mod letter;
mod list;
mod resend;

pub use letter::{DeadLetter, DeadLetters, Origin};
pub use list::{DeadLetterGroup, DeadLetterGroups};
pub use resend::{MAX_AT_ONCE, Place, ResendForm, ResendOutcome, ResendTo, ResentLetters};

/// The property that says which press of a button sent a message again, and from where.
const MARK: &str = "millrace_resent";
