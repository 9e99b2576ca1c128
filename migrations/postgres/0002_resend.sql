-- Stored messages that were sent again. One without a message id was begun and did not end.

CREATE TABLE resend (
    cluster TEXT NOT NULL,
    attempt TEXT NOT NULL,
    topic TEXT NOT NULL,
    broker TEXT NOT NULL,
    queue BIGINT NOT NULL,
    place BIGINT NOT NULL,
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    message_id TEXT,
    PRIMARY KEY (cluster, topic, broker, queue, place, attempt)
);
