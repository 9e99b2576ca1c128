//! The RocketMQ adapter, and the embedded broker.
