//! Looking a record up.
