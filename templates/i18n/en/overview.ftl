overview-title = Overview
overview-all-well = Nothing is wrong here
overview-not-read = Not read yet
overview-and-more = { $n ->
    [one] 1 more thing wants attention below.
   *[other] { $n } more things want attention below.
}
overview-attention = Wants attention
overview-look = Look
overview-more = { $n ->
    [one] 1 more of this kind
   *[other] { $n } more of this kind
}
overview-no-name-server = No name server has answered for { $lasting }
overview-name-server-down = Name server { $address } does not answer
overview-broker-silent = { $broker } has been silent for { $lasting }
overview-disk = The disk of { $broker } is { $used } full
overview-disk-way = From 75 % on the broker deletes old messages before their time. Free space, or lower fileReservedTime.
overview-disk-full-way = From 90 % on the broker refuses writes. Free space now, or lower fileReservedTime.
overview-clock = The clock of { $broker } is off by { $offset }
overview-clock-way = Hops of a record may appear in the wrong order. Set the time on that machine by NTP.
overview-insecure = { $broker } runs { $version }, which anybody who reaches it can take over
overview-insecure-way = CVE-2023-33246 and CVE-2023-37582 are mended in 4.9.7 and 5.1.2. Upgrade brokers and name servers.
overview-stuck = { $group } has not moved on { $topic } for { $lasting }; { $lag } messages wait
overview-stuck-way = Its clients are offline, blocked, or fail at the same message again and again.
overview-growing = { $group } falls behind on { $topic }: { $lag } messages wait, { $by } more in { $lasting }
overview-growing-way = More arrives than it consumes. Add consumers up to the number of queues, or look at what slows them.
overview-dead-letters-way = These messages failed on every attempt and wait for a person.
overview-put = In
overview-get = Out
overview-topics = Topics
overview-topics-note = that people made
overview-groups = Groups
overview-ingest-rate = Trace ingest
overview-ingest-note = records, over 10 s
overview-ingest-behind = Ingest behind
overview-brokers = Brokers
overview-no-brokers = No broker is known
overview-no-brokers-why = The name servers listed none, or none has answered yet.
overview-broker = Broker
overview-state = State
overview-address = Address
overview-version = Version
overview-disk-used = Disk
overview-up = Started
overview-replicas = { $n ->
    [one] 1 replica
   *[other] { $n } replicas
}
overview-answers = answers
overview-silent = silent
overview-not-asked = not asked yet
overview-name-servers = Name servers
overview-no-name-servers = No name server was asked yet
overview-no-broker = No broker is registered
overview-no-broker-way = The name servers answer and know of no broker. Start one with namesrvAddr set to them; it registers within seconds.
overview-no-master = { $broker } has no master
overview-no-master-way = Only replicas are left: nothing can be written there. Start the master, or promote a replica.
overview-insecure-name-server = { $broker } runs { $version }; name servers of that release can be taken over
overview-insecure-name-server-way = CVE-2023-37582 is mended in 4.9.7 and 5.1.2. Upgrade the name servers.
overview-beyond-end = { $group } stands { $by } beyond the end of { $topic }
overview-beyond-end-way = The topic was made anew or its offsets were copied: the group gets nothing until the end passes its offset.
overview-expired = { $n } messages of { $topic } expired before { $group } read them
overview-expired-way = The broker’s retention removed them. Consume faster, or keep messages longer.
overview-dead-letters = { $topic } holds { $n } dead letters
overview-no-trace-topic = There is no trace topic { $topic }
overview-no-trace-topic-way = No client’s message trace is kept. Set traceTopicEnable=true on the brokers.
overview-differs = { $topic } is not the same on all brokers
overview-differs-way = Queues or permissions differ; producers and consumers see another topic on each broker.
overview-at-least = ≥ { $n }/s
overview-put-note = messages into people’s topics
overview-without-master = no master
