//! Stored messages: the bytes of a pull or a look-up become [`millrace_broker::Message`]s.

mod decode;
mod inflate;

pub(crate) use decode::decode_messages;
