//! What black-box tests stand on: the binary itself and its HTTP side. The servers that it talks to were started before,
//! by `tests/run`.
#![expect(dead_code, reason = "each test program uses its part")]

pub(crate) mod api;
pub(crate) mod millrace;
