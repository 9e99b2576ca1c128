//! The flow as a whole: what must come out of given records and facts.

mod cases;
mod causes;
mod laws;
mod recorded;
mod states;
