-- Figures of a cluster. A row holds a stretch of time (its length in milliseconds) of the series in one bucket.

CREATE TABLE history (
    cluster TEXT NOT NULL,
    stretch BIGINT NOT NULL,
    start BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (cluster, stretch, start, bucket)
);
