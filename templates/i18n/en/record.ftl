record-title = Records
record-question = Where is this record?
record-placeholder = A record key, a message id or an offset message id
record-look-up = Look up
record-takes = Takes a record key (one of a message’s KEYS), a message id of any client, or an offset message id, and says which it took it for.
record-too-long = The text is longer than any key
record-nothing-asked = No key or id is given
record-recent = Just traced
record-recent-note = keys of the newest publications
record-store-silent = The trace store did not answer
record-key = Key
record-topic = Topic
record-when = When
record-group = Group
record-groups = Groups
record-result = Result
record-waited = Waited
record-worked = Worked
record-try = Try
record-evidence = Evidence
record-client = Client
record-sender = Producer
record-messages = Messages
record-first-message = First message
record-views = Views of this record
record-flow = Flow
record-raw = Raw traces
record-raw-note = as they lie in the trace topic
record-only = Only the record that begins with message
record-all = all records with this key
record-n-messages = { $n ->
    [one] 1 message
   *[other] { $n } messages
}
record-n-groups = { $n ->
    [one] 1 group
   *[other] { $n } groups
}
record-unnamed-group = unknown group
record-unnamed-topic = unknown topic

record-is-key = record key
record-is-uniq = message id of { $address }, process { $pid }
record-is-offset = offset message id: { $address } at { $offset }
record-is-grpc = gRPC client’s message id of { $mac }, process { $pid }

record-says-not-found = Nothing was found for { $text }
record-says-complete = { $at ->
    [none] { $groups ->
        [one] The group that was to get it has it.
       *[other] All { $groups } groups that were to get it have it.
    }
   *[other] { $groups ->
        [one] The group that was to get it has it, since { $at }.
       *[other] All { $groups } groups that were to get it have it, the last since { $at }.
    }
}
record-says-traced-ok = { $at ->
    [none] { $groups ->
        [one] The delivery that was traced ended well.
       *[other] All traced deliveries ended well: { $groups } groups have it.
    }
   *[other] { $groups ->
        [one] The delivery that was traced ended well at { $at }.
       *[other] All traced deliveries ended well: { $groups } groups have it, the last since { $at }.
    }
}
record-says-published = { $at ->
    [none] Lies in { $topic }; nobody is known to consume it.
   *[other] Lies in { $topic } since { $at }; nobody is known to consume it.
}
record-says-dead = Stopped at { $group }: failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
}, in the dead-letter topic since { $at }.
record-says-dead-untraced = Stopped at { $group }: in the dead-letter topic since { $at }.
record-says-used-up = Stopped at { $group }: failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
} and used up its retries.
record-says-failed = Stopped at { $group }: failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
}, and the retry that was due did not come.
record-says-retrying = { $group } failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
} and will try again.
record-says-retrying-due = { $group } failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
} and tries again at { $at }.
record-says-retrying-overdue = { $group } failed { $tries ->
    [one] once
    [2] twice
   *[other] { $tries } times
}; the next try was due at { $at }.
record-says-missing = { $group } did not get it, although it was due by { $at }.
record-says-dropped = Dropped at { $group }: it took the record and passed nothing on.
record-says-working = { $at ->
    [none] { $group } is working on it.
   *[other] { $group } is working on it since { $at }.
}
record-says-waiting = Waiting for { $group }.
record-says-rolled-back = { $at ->
    [none] The transaction to { $topic } was rolled back; nobody gets it.
   *[other] The transaction to { $topic } was rolled back at { $at }; nobody gets it.
}
record-says-transaction-open = The transaction to { $topic } is not committed yet; nobody gets it before.
record-says-recalled = { $at ->
    [none] The delayed message to { $topic } was recalled; nobody gets it.
   *[other] The delayed message to { $topic } was recalled at { $at }; nobody gets it.
}
record-says-unknown = What became of it at { $group } is not known.
record-says-many = { $n } records use { $text } as their key
record-next-many = Choose one below: each has a flow of its own.
record-next-published = A consumer that does not trace and has no offset on the topic would not be seen.
record-next-dead = Next: read the dead letter and the log of that client at that time, mend the operator, then send the record again.
record-next-failed = Next: see whether the group is online, and what its log says at that time.
record-next-retrying = RocketMQ delivers it again by itself. The time is by the default schedule; a client may ask for another.
record-next-missing = Everything was read and the group traces other messages. Next: compare its subscription and offsets.
record-next-dropped = Messages of this group lead to another topic otherwise. Next: look at its log for this key.
record-next-transaction = The broker asks the producer again until it commits or rolls back.
record-took = From the first send to the last end: { $took }
record-one-not-told = Whether { $group } has it is not known
record-some-not-told = Whether { $group } and { $n ->
    [one] one more group
   *[other] { $n } more groups
} have it is not known
record-reached = { $reached } of { $of } { $of ->
    [one] group has
   *[other] groups have
} the record
record-last-outcome = Last try: { $outcome } on { $host } at { $at }
record-ahead = { $n ->
    [one] 1 message is ahead of it in the queue
   *[other] { $n } messages are ahead of it in the queue
}
record-truncated = More trace records use this text than were looked at; the newest are shown.
record-behind-unknown = How far ingest is, is not known: the newest hops may be missing.

record-waiting = waiting
record-consuming = working
record-consumed = consumed
record-passed = passed
record-retrying = tries again ({ $tries })
record-failed = failed ({ $tries })
record-dead = dead letter
record-dead-after = dead after { $tries ->
    [one] 1 try
   *[other] { $tries } tries
}
record-missing = missing
record-not-known = unknown
record-not-expected = not expected
record-not-consumed = not consumed
record-sent = sent
record-sent-unsafe = stored, not yet safe
record-sent-at = sent { $at }
record-send-not-traced = send not traced
record-end-not-traced = end not traced
record-nth-try = try { $n }
record-next-try = next at { $at }
record-topic-unsure = the topic is not certain
record-since = since { $at }
record-batch = batch of { $n }
record-recalled = recalled
record-recalled-at = recalled at { $at }
record-kind = Type
record-kind-transaction = transaction
record-kind-delay = delayed
record-kind-order = ordered
record-tx-half = half message
record-tx-committed = committed
record-tx-rolled-back = rolled back
record-tx-undecided = undecided
record-tx-checked = asked by the broker

record-why-not-traced = Nothing was traced, and no offset tells
record-why-ingest-behind = Ingest has not read that far yet
record-why-end-not-traced = The end of the delivery was not traced
record-why-group-not-traced = The trace names no group
record-why-group-offline = No client of the group is online
record-why-broadcasting = Broadcasting clients keep their offsets themselves
record-why-pop = POP clients acknowledge one by one; the offset tells only that it was handed out
record-why-filtered = Its tag is not in the subscription
record-why-rolled-back = The transaction was rolled back
record-why-transaction-open = The transaction is not committed
record-why-recalled = The message was recalled
record-why-delayed = Delayed; when it is due is not in the traces
record-why-publication-not-traced = Its send was not traced

record-by-trace = traced
record-by-topic = found in topic
record-by-child = seen downstream
record-by-offset = by offset
record-absent = absent
record-from = from { $group }: { $confidence } ({ $score }), { $rule }
record-exact = exact
record-certain = certain
record-high = very likely
record-medium = likely
record-low = a guess
record-rule-token = its keys name the parent
record-rule-object = the same message sent on
record-rule-process-key = same process, time and key
record-rule-process = same process and time
record-rule-names = same key, and the groups’ names belong together
record-rule-later = same key, later
record-outcome-success = success
record-outcome-timeout = past the timeout
record-outcome-exception = exception
record-outcome-null = returned null
record-outcome-failed = failed
record-outcome-other = code { $code }

record-findings = Findings
record-finds-missing = Not delivered, due by { $at }
record-finds-failed = Failed { $tries ->
    [one] once
   *[other] { $tries } times
}; no further try came
record-finds-retrying = Failed { $tries ->
    [one] once
   *[other] { $tries } times
}; will be tried again
record-finds-retrying-due = Failed { $tries ->
    [one] once
   *[other] { $tries } times
}; next try due at { $at }
record-finds-dead-since = In the dead-letter topic since { $at }
record-finds-dead = Failed { $tries ->
    [one] once
   *[other] { $tries } times
}: its retries are used up
record-finds-late = Took { $took }; no more than { $limit } were allowed
record-finds-again = Delivered again after a success: { $times ->
    [one] once
   *[other] { $times } times
}. As it should be where each client of the group gets every message.
record-finds-sent-again = The same was sent { $times } times
record-finds-order = A later message of the same key was begun first
record-finds-timeout = Ran past the consume timeout
record-finds-timeout-after = Ran past the consume timeout: { $worked }
record-finds-stuck = At work for { $age }, far past the consume timeout
record-passed-nothing-on = passed nothing on
record-finds-dropped = Took the record and passed nothing on
record-finds-orphan = Consumed, but its send was not traced
record-finds-slow-clock = The clock of { $host } is { $offset } behind the broker’s; its times are corrected
record-finds-fast-clock = The clock of { $host } is { $offset } ahead of the broker’s; its times are corrected
record-finds-negative = Begins { $by } before it was sent, all corrections made
record-finds-stored = One send lies in the topic { $times } times

record-span = { $begin } – { $end } · { $zone }
record-drawing = Flow of { $text }; the table below has the same facts
record-waterfall = Waterfall
record-waterfall-of = Waterfall of { $text }; the table below has the same facts
record-legend-done = passed
record-legend-failed = failed
record-legend-open = not yet, or not known
record-legend-open-or-guess = not yet, not known, or one of several candidates
record-legend-wait = waiting
record-legend-work = working
record-left-out = { $n ->
    [one] 1 more message is not drawn
   *[other] { $n } more messages are not drawn
}
record-rows-left-out = { $n ->
    [one] 1 more row is not shown
   *[other] { $n } more rows are not shown
}
record-row-sent = { $name } sends
record-row-try = { $name } · try { $n }
record-row-dead = { $name } · dead letter
record-row-after = { $name }, try { $n }, { $after } after the one before
record-cut = { $skipped } without work are cut out
record-hops = Hops
record-hops-note = every send, delivery and dead letter, and how it is known

record-strands = { $n ->
    [one] 1 record uses this key
   *[other] { $n } records use this key
}
record-strands-note = newest first

record-searched-since = Searched { $n ->
    [one] 1 segment
   *[other] { $n } segments
} of traces since { $since }
record-searched-nothing = No traces are kept yet
record-ingest-behind = ingest reads { $queues ->
    [one] 1 queue
   *[other] { $queues } queues
}, { $behind } behind
record-ingest-unknown = ingest reads { $queues ->
    [one] 1 queue
   *[other] { $queues } queues
} here, how far behind is not known
record-brokers-asked = brokers answered { $answered } of { $asked } questions
record-topics-searched = { $n ->
    [one] 1 topic
   *[other] { $n } topics
} searched by key and id
record-topics-left-out = { $n } topics were not
record-reasons = Likely reasons
record-reasons-note = the likeliest first
record-to-ingest = Ingest
record-no-trace-topic = Message trace is off: no broker has a trace topic
record-trace-refused = { $brokers } does not let the trace topic be read: { $why }
record-trace-refused-way = Give the account the right to read it (SUB), and the topic permission 6.
record-no-trace-topic-way = Set traceTopicEnable=true on a broker, or name your trace topic in the configuration, and switch trace on in the clients.
record-ingest-stopped = Ingest is stopped
record-ingest-degraded = Ingest goes on only in part: { $why }
record-ingest-stopped-way = Its traces may be in the trace topic and not read yet.
record-ingest-late = Ingest is { $behind } behind
record-ingest-late-way = Its traces may not have been read yet; this page follows by itself.
record-not-kept = Traces are kept since { $since }
record-not-kept-way = If it is older, its traces are gone.
record-nothing-ingested = No trace was read yet
record-nothing-ingested-way = Once clients trace and ingest runs, their records can be looked up.
record-store-damaged = { $n ->
    [one] A part of the stored traces could not be read
   *[other] { $n } parts of the stored traces could not be read
}
record-store-damaged-way = The record may be in there; the list above names them.
record-topics-missed = { $n ->
    [one] One search of a topic failed
   *[other] { $n } searches of topics failed
}
record-topics-missed-way = The record may be there; the list above says why.
record-key-nowhere = No message of { $topics ->
    [one] 1 topic
   *[other] { $topics } topics
} has this key
record-key-nowhere-way = It may be spelt otherwise (capitals count), or its producer sets no KEYS. Then look it up by message id.
record-id-nowhere = No message of { $topics ->
    [one] 1 topic
   *[other] { $topics } topics
} has this id
record-id-nowhere-way = It may be of another cluster, or expired at the broker.
record-no-traces = No trace records
record-no-traces-why = What is shown was learnt from the brokers: its producer and consumers do not trace.
record-entry = Entry
record-about = Topic or group
record-message-id = Message id
record-offset-id = Offset message id
record-place = Broker queue/offset:entry
record-stored = Stored
record-keys = Keys
record-no-keys = none
record-parents = Parents
record-tags = Tag
record-body-length = Body
record-lies-at = Lies at
record-batch-of = Batch
