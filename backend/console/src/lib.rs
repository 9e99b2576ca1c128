//! What people do with a cluster: see it, manage topics and groups, send and find messages.
//!
//! Pages, the JSON API and the command line call the same functions, which know the ports alone. *Unknown is not
//! zero*: every number that could not be read says why, every answer says what it covered.

mod console;
pub mod dead_letters;
mod error;
mod form;
pub mod groups;
pub mod history;
mod listing;
pub mod messages;
pub mod overview;
pub mod snapshot;
mod tally;
pub mod topics;

pub use console::{Console, Outcome, Outcomes};
pub use error::{ConsoleError, Result};
pub use form::{FieldError, FieldErrors};
pub use tally::Tally;
