//! Consumer groups: the list, one group, and what can be done to one.

mod config;
mod delete;
mod detail;
mod list;
mod reset;

use std::time::Duration;

pub use config::{GroupForm, GroupSettings};
pub use delete::{DeleteGroupForm, GroupDeletion};
pub use detail::{Client, ClientSays, GroupDetail, GroupQueue, Mismatch};
pub use list::{GroupPage, GroupQuery, GroupSort, Standing, list};
pub use reset::{QueueReset, ResetForm, ResetPlan, ResetRefused, ResetTo, Resets};

/// For each call to a broker.
const DEADLINE: Duration = Duration::from_secs(5);
