-- A segment file is whole in itself: trace messages, their index, and the positions they were read up to.
-- The cluster columns make one set of statements serve both engines; in a file they have one value.
CREATE TABLE trace_segment (
    id BIGINT NOT NULL PRIMARY KEY,
    cluster TEXT NOT NULL,
    opened BIGINT NOT NULL,
    state BIGINT NOT NULL DEFAULT 0,
    chunks BIGINT NOT NULL DEFAULT 0,
    messages BIGINT NOT NULL DEFAULT 0,
    records BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    first_stored BIGINT,
    last_stored BIGINT
);
CREATE TABLE trace_position (
    cluster TEXT NOT NULL,
    topic TEXT NOT NULL,
    broker TEXT NOT NULL,
    queue BIGINT NOT NULL,
    next BIGINT NOT NULL,
    stored BIGINT,
    PRIMARY KEY (cluster, topic, broker, queue)
);
CREATE TABLE trace_reject (
    cluster TEXT NOT NULL,
    reason TEXT NOT NULL,
    count BIGINT NOT NULL,
    sample TEXT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (cluster, reason)
);
CREATE TABLE trace_chunk (chunk INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE trace_postings (chunk INTEGER PRIMARY KEY, entries BLOB NOT NULL);
CREATE TABLE trace_block (block INTEGER PRIMARY KEY, first BIGINT NOT NULL, entries BLOB NOT NULL);
CREATE INDEX trace_block_first ON trace_block (first);
