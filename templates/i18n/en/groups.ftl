groups-title = Groups
groups-parts = Parts of this group
groups-new = New group
groups-filter = Filter by group or topic
groups-standings = How groups do
groups-group = Group
groups-state = State
groups-clients = Clients
groups-topics = Topics
groups-out = Consumed
groups-lag = Lag
groups-oldest = Oldest unread
groups-dead = Dead letters
groups-stuck = stuck
groups-offline = nobody online
groups-growing = falling behind
groups-unknown = not fully known
groups-reading = reading
groups-done = read everything
groups-no-offset = no offset committed
groups-left-over = left over
groups-push = push
groups-pull = pull
groups-pop = POP
groups-other-type = { $name }
groups-broadcasting = broadcasting
groups-clustering = clustering
groups-unread-why = Groups appear as soon as a name server and a broker answer. The overview says what is in the way.
groups-none-match = No group matches “{ $filter }”
groups-none-match-way = Names of groups and of the topics that they read are searched. RocketMQ’s own groups are hidden unless asked for.
groups-none = There are no groups of this kind
groups-none-way = A group appears when somebody makes it, or when a client subscribes where brokers allow that.
groups-delete = Delete
groups-edit = Change
groups-reset = Reset offsets
groups-progress = Progress
groups-progress-on = Progress on { $topic }
groups-committed = Committed
groups-last-consumed = Last consumed
groups-owner = Read by
groups-no-owner = nobody reads it
groups-two-owners = read twice
groups-browse-from = Show the first message that is not consumed
groups-lag-is = { $n } behind
groups-dead-are = { $n ->
    [one] One message lies in its dead-letter topic
   *[other] { $n } messages lie in its dead-letter topic
}
groups-no-offset-why = It is new, or broadcasts: then each client keeps its own place.
groups-oldest-is = the oldest unread message is { $age } old
groups-unasked = { $n } clients were not asked what they read
groups-mismatch = Its clients subscribe to { $topic } in different ways: messages get lost
groups-mismatch-title = Different subscriptions to { $topic }
groups-mismatch-why = the broker keeps one way for all: what the others want is not delivered
groups-not-subscribed = not subscribed
groups-is-paused = It is switched off at a broker and gets nothing there; { $lag } messages wait
groups-is-left-over = No broker knows this group; its offsets are left over
groups-is-empty = Nobody is online, and nothing waits
groups-is-offline = Nobody is online, and { $lag ->
    [one] one message waits
   *[other] { $lag } messages wait
}
groups-is-stuck = It does not move, and { $lag ->
    [one] one message waits
   *[other] { $lag } messages wait
}
groups-is-growing = It falls behind: { $lag } messages wait
groups-is-without-offset = { $n ->
    [one] One client is online and has committed no offset
   *[other] { $n } clients are online and have committed no offset
}
groups-is-done = { $n ->
    [one] One client is online; everything is read
   *[other] { $n } clients are online; everything is read
}
groups-is-reading = { $n ->
    [one] One client reads
   *[other] { $n } clients read
}; { $lag } messages wait
groups-nobody = Nobody is online
groups-nobody-why = Brokers were asked. Clients of gRPC are known to proxies alone.
groups-client = Client
groups-version = Version
groups-subscriptions = Subscriptions
groups-subscriptions-note = as the brokers keep them
groups-consume = Consuming
groups-broadcast = Broadcasting
groups-orderly = Ordered
groups-retry-max = Retries
groups-retry-queues = Retry queues
groups-on = on
groups-off = off
groups-no-config = No broker knows this group
groups-no-config-why = Its offsets are still there. Deleting the group removes them.
groups-reads-nothing = It reads no queue
groups-reads-nothing-why = There are more clients than queues, or it has just come.
groups-stacks = Threads
groups-settings = What it says of itself
groups-edit-title = Change group { $group }
groups-edit-differs = The brokers have different configurations. What is saved here becomes the same on all that are chosen.
groups-name-hint = Letters, digits, _ - % and |, at most 120.
groups-may = What it may do
groups-consume-hint = get messages; without this it is paused
groups-broadcast-hint = broadcast: every client gets every message
groups-orderly-hint = POP and gRPC clients get each queue in order
groups-retry-max-hint = Deliveries after the first, until a message becomes a dead letter. −1: clients decide.
groups-retry-queues-hint = Queues of its retry topic on each broker.
groups-brokers-hint = Every broker whose topics it reads must know the group.
groups-create = Create group
groups-save = Save
groups-created = Group { $group } was made on { $n ->
    [one] one broker
   *[other] { $n } brokers
}
groups-created-some = Group { $group } was made on { $n } of { $all } brokers. { $failed }
groups-changed = Group { $group } was changed on { $n ->
    [one] one broker
   *[other] { $n } brokers
}
groups-changed-some = Group { $group } was changed on { $n } of { $all } brokers. { $failed }
groups-deleted = Group { $group } was deleted, in { $n ->
    [one] one place
   *[other] { $n } places
}
groups-deleted-some = Group { $group } was deleted in { $n } of { $all } places. { $failed }
groups-delete-title = Delete group { $group }?
groups-delete-means = The group and its offsets go away, and with them where it was on every topic.
groups-delete-no-way-back = There is no way back. Clients that go on may make it anew, and begin where their settings say.
groups-online = Online
groups-online-are = { $n ->
    [one] one client is online
   *[other] { $n } clients are online
}
groups-offsets-on = Offsets on
groups-retry-topic = Its retry topic on
groups-delete-dead = Its dead letters go, too
groups-delete-do = Delete this group
groups-reset-title = Reset offsets of { $group }
groups-reset-topic-hint = A topic that the group reads.
groups-reset-to = Go on from
groups-reset-to-hint = Nothing is changed before you have seen the preview.
groups-reset-time = A time
groups-reset-earliest = The earliest message
groups-reset-latest = The end: skip what waits
groups-reset-offset = An offset
groups-reset-queue = Queue
groups-reset-queue-hint = broker/number for one queue; empty for all.
groups-reset-offset-hint = For one queue.
groups-reset-preview = Preview
groups-reset-would = What would happen on { $topic }
groups-reset-nothing-yet = nothing is changed yet
groups-reset-queues = Queues
groups-now = Now
groups-was = Before
groups-target = New offset
groups-effect = Effect
groups-reset-begins = begins here
groups-reset-again = { $n ->
    [one] one is read again
   *[other] { $n } are read again
}
groups-reset-skips = { $n ->
    [one] one is skipped
   *[other] { $n } are skipped
}
groups-reset-moves = moves; no message is read again or skipped
groups-reset-same = stays
groups-reset-moved = The group has moved since the preview. Below is what would happen now: look again, then set it.
groups-reset-offline = Nobody is online: the next client goes on from the new offsets.
groups-reset-online = { $n ->
    [one] One client is online and goes
   *[other] { $n } clients are online and go
} on from the new offsets at their next pull.
groups-reset-moving = Set them also if the group moves meanwhile
groups-reset-do = Set these offsets
groups-reset-done = { $n ->
    [one] The offset of one queue is set
   *[other] The offsets of { $n } queues are set
}
groups-reset-failed = { $n ->
    [one] One queue could not be set
   *[other] { $n } queues could not be set
}
groups-reset-set = set
groups-back = To the group
groups-error-exists = There is a group of this name on { $brokers }.
groups-error-number = A whole number from { $min } to { $max }.
groups-error-broker-without = Broker { $broker } does not have this group.
groups-error-queue-needed = An offset is for one queue: name it.
groups-error-to = Choose where to go on.
groups-error-topic = No broker is known to have this topic.
groups-error-system = Group { $group } belongs to RocketMQ itself
