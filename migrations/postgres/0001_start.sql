-- What people did, what retention dropped, and the segments of every cluster's traces. A segment's chunks and index lie
-- in three tables of its own (trace_chunk_N, trace_postings_N, trace_block_N), so that dropping it is dropping tables.

CREATE TABLE audit (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    cluster TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL,
    outcomes TEXT NOT NULL
);
CREATE INDEX audit_newest ON audit (cluster, at, id);

CREATE TABLE trace_dropped (
    cluster TEXT NOT NULL,
    segment BIGINT NOT NULL,
    at BIGINT NOT NULL,
    why TEXT NOT NULL,
    first_stored BIGINT,
    last_stored BIGINT,
    messages BIGINT NOT NULL,
    records BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sealed BOOLEAN NOT NULL,
    damaged TEXT,
    PRIMARY KEY (cluster, segment)
);

-- One row that is written to see whether the database can be written.
CREATE TABLE probe (
    id BIGINT PRIMARY KEY,
    written BIGINT NOT NULL
);

-- state: 0 open, 1 full and searched through trace_postings_N, 2 sealed and searched through trace_block_N.
CREATE TABLE trace_segment (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
CREATE INDEX trace_segment_cluster ON trace_segment (cluster, id);

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
