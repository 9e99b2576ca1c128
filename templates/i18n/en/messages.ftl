messages-title = Messages
messages-of = Messages of { $topic }
messages-ways = Ways to look for messages
messages-by-newest = Newest
messages-by-time = By time
messages-by-offset = By offset
messages-by-key = By key
messages-by-id = By id
messages-from = From
messages-to = To
messages-time-hint = Date and time, epoch s, ms, µs or ns, or -15m
messages-to-hint = Included. Empty: now
messages-optional = May stay empty
messages-order = Order
messages-newest-first = newest first
messages-oldest-first = oldest first
messages-forward = forward from there
messages-backward = back from there
messages-queue = Queue
messages-queue-short = queue { $queue }
messages-offset = Offset
messages-offset-hint = A whole number
messages-key = Record key
messages-key-hint = One key, exactly
messages-id = Message id
messages-id-or-none = Message id (empty: browse)
messages-id-hint = A client’s, gRPC or offset id
messages-topic = Topic
messages-topic-hint = An offset id needs none
messages-look = Look up
messages-shown = { $n ->
    [one] One message
   *[other] { $n } messages
} of about { $total }
messages-found-key = { $n ->
    [0] No message
    [one] One message
   *[other] { $n } messages
} with key “{ $key }”
messages-found-id = { $n ->
    [0] No message
    [one] One message
   *[other] { $n } messages
} with this id
messages-taken-uniq = Taken for a client’s unique id.
messages-taken-grpc = Taken for a gRPC client’s id.
messages-taken-offset = Taken for an offset id of { $broker }.
messages-taken-despite = It looks like an offset id, but { $address } is no broker of this cluster: looked for as a unique id.
messages-taken-other = No known shape of an id: looked for as a unique id all the same.
messages-sent-again = Several with one id: the client sent it again.
messages-capped = { $brokers } answered { $n }, as many as a broker ever does: there may be older ones on the next page.
messages-capped-moment = All of these are of one moment, so that a narrower time does not help. Browse by time instead.
messages-foreign = { $n } hits had another key and are left out: a broker’s index goes by a hash.
messages-limit-time = Stopped after ten seconds and { $n } messages looked at. The next page goes on there.
messages-limit-pulls = Stopped after as many pulls as one page may make, { $n } messages looked at. The next page goes on there.
messages-limit-bytes = Stopped after as many bytes as one page may read, { $n } messages looked at. The next page goes on there.
messages-queues-covered = { $answered ->
    [one] One queue
   *[other] { $answered } queues
} read
messages-read-seconds = read as seconds:
messages-read-milliseconds = read as milliseconds:
messages-read-microseconds = read as microseconds:
messages-read-nanoseconds = read as nanoseconds:
messages-read-iso = read as written:
messages-read-local = read in your zone:
messages-read-twice = the clocks showed this twice, the first is:
messages-read-relative = counted from now:
messages-none = No message was found
messages-none-why = Everything that was asked for was looked at. Older messages may have expired.
messages-none-id-why = It may have expired, or lie in another topic.
messages-none-in-part = Nothing was found so far
messages-none-in-part-why = Not everything could be looked at: what is missing is named above.
messages-first-page = First page
messages-stored = Stored
messages-born = Born
messages-place = Where
messages-keys = Keys
messages-tag = Tag
messages-size = Size
messages-body = Body
messages-hex = hex
messages-redelivered = delivery { $n }
messages-at = Offset { $offset }
messages-neighbours = Neighbours in the queue
messages-earlier = Earlier
messages-later = Later
messages-what = What it is
messages-where = When and where
messages-record = its record
messages-no-key = none: this message cannot be found by key
messages-uniq-id = Unique id
messages-offset-id = Offset id
messages-redelivery = Redelivered
messages-on = on
messages-took = On the way
messages-took-note = from birth to store, by two clocks
messages-commit-log = Commit log offset
messages-store-size = Stored size
messages-flags = system flag { $flag }
messages-shown-bytes = the first { $n } are shown
messages-body-empty = empty
messages-body-json = JSON, laid out; every digit as it was sent
messages-body-text = text, UTF-8
messages-body-damaged = not valid in this character set: some characters are lost
messages-body-binary = not UTF-8: shown in hex
messages-body-hex = hex
messages-not-inflated = The body is compressed and could not be inflated; it is shown as stored. { $why }
messages-as = Read the body as
messages-as-auto = UTF-8
messages-as-gbk = GBK
messages-as-hex = Hex
messages-more = Show more
messages-download = Download
messages-properties = Properties
messages-no-properties = No properties
messages-name = Name
messages-value = Value
messages-error-key-empty = Type a key.
messages-error-id-empty = Type an id.
messages-error-topic-needed = This id does not say where it lies: name its topic.
messages-error-reversed = The end is before the start.
messages-error-time = Not a time: write a date and time, seconds, milliseconds, microseconds or nanoseconds since 1970, or -15m.
messages-error-time-range = Not between 1970 and 9999.
messages-error-time-skipped = The clocks of your zone skipped this time.
messages-error-number = A whole number, 0 or more.
messages-error-queue = Choose a queue.
messages-error-cursor = The link to this page is damaged. Begin at the first page.
messages-error-by = Only newest and time are known here.
