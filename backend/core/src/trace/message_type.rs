//! The `msgType` ordinal of a Pub.

use super::record::PubType;

/// What one Pub's ordinal says by itself. Clients 5.0.0 and 5.1.0 count Normal, Order, half, commit, Delay; all others
/// count Normal, half, commit, Delay, Order. A commit is never published, so 2 is a 5.0.0 or 5.1.0 client's half message
/// and 3 is a delay; no classic client marks an ordered message, so 4 is a delay too. 1 stays open: the flow settles it
/// by what else the same process wrote.
pub(super) fn message_type(ordinal: i64) -> PubType {
    match ordinal {
        0 => PubType::Normal,
        1 => PubType::HalfOrOrder,
        2 => PubType::TransactionHalf,
        3 | 4 => PubType::Delay,
        other => PubType::Other(other),
    }
}
