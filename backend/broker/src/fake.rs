//! An in-memory cluster for tests.
