//! What a cluster looked like before: figures of its topics, groups and brokers, recorded a minute at a time.
//!
//! A minute that is over is a row; minutes of an hour that is over become rows of an hour, split by series, and hours of
//! a day rows of a day. A kill loses the minute under way and nothing else. A figure that was not known is a gap.

mod figures;
mod line;
mod moment;
mod pages;
mod recorder;
mod rollup;

pub use figures::{Kind, Point};
pub use line::{Line, Range};
pub use moment::Moment;
pub use recorder::{HistoryOptions, record};
