//! What people do with topics: the snapshot, create, delete, send, browse.
