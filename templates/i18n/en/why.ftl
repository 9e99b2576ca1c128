# Why something is not known
why-not-read-yet = not read yet
why-one-reading = one reading so far
why-went-back = the offsets went back
why-never-committed = the group has committed no offset here
why-not-listed = no name server lists it any more
why-not-told = the broker does not say
why-no-such-address = no broker of this cluster has this address
why-no-name-server = no name server answered ({ $detail })
why-unreachable = { $address } is unreachable: { $detail }
why-timed-out = { $address } did not answer within { $millis } ms
why-no-such-broker = no broker { $broker } in this cluster
why-not-there = { $what } is not there
why-not-permitted = { $address } refused: { $remark }
why-answered = { $address } answered with code { $code }: { $remark }
why-not-readable = topic { $topic } may not be read there
why-left-out = { $asked } of { $all } were asked, the rest is left out
why-said = { $text }
