//! Which member of a group reads which queue: RocketMQ's `AllocateMessageQueueAveragely`, so that Millrace's workers
//! agree with each other, and with any other client of the group, without talking.

use millrace_core::name::QueueRef;

/// The queues of one topic that `client` reads. All members must see the same `queues` and `members`.
pub(super) fn allocate(client: &str, members: &[String], queues: &[QueueRef]) -> Vec<QueueRef> {
    let mut members: Vec<&str> = members.iter().map(String::as_str).collect();
    members.sort_unstable();
    members.dedup();
    let mut queues = queues.to_vec();
    queues.sort();
    let Some(index) = members.iter().position(|member| *member == client) else {
        return Vec::new();
    };
    let (whole, rest) = (queues.len() / members.len(), queues.len() % members.len());
    let start = index * whole + index.min(rest);
    let length = whole + usize::from(index < rest);
    queues.into_iter().skip(start).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::allocate;
    use millrace_core::name::QueueRef;

    fn queues(count: i32) -> Vec<QueueRef> {
        (0..count).map(|queue| QueueRef { topic: "t".into(), broker: "broker-a".into(), queue }).collect()
    }

    #[test]
    fn every_queue_has_exactly_one_reader() {
        for members in 1..7 {
            let names: Vec<String> = (0..members).map(|n| format!("worker-{n}")).collect();
            for count in 0..20 {
                let mut all: Vec<QueueRef> =
                    names.iter().flat_map(|name| allocate(name, &names, &queues(count))).collect();
                all.sort();
                assert_eq!(all, queues(count), "{members} members, {count} queues");
            }
        }
    }

    #[test]
    fn shares_differ_by_one_at_most_and_the_first_members_have_more() {
        let names: Vec<String> = (0..3).map(|n| format!("worker-{n}")).collect();
        let sizes: Vec<usize> = names.iter().map(|name| allocate(name, &names, &queues(8)).len()).collect();
        assert_eq!(sizes, [3, 3, 2]);
    }

    #[test]
    fn who_is_no_member_reads_nothing() {
        assert_eq!(allocate("stranger", &["worker-0".to_owned()], &queues(4)), []);
    }
}
