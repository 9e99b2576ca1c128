ui-unknown = unknown
ui-copy = Copy { $text }
ui-pager = Pages of this list
ui-previous = Previous
ui-next = Next
ui-live = live
ui-live-hint = This page follows what happens
ui-brokers-covered = { $answered } of { $asked } brokers answered
