-- What people did, and what retention dropped. A cluster's traces lie in files of their own beside this one.

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
