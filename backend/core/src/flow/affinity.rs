//! Whether the names of a consumer group and of a producer group say that they belong to one operator.

/// Parts of a group's name that say what it does, not whose it is.
const ROLES: [&str; 17] = [
    "consumer", "consume", "producer", "produce", "group", "cid", "pid", "gid", "sub", "pub", "in", "out", "sender",
    "receiver", "c", "p", "g",
];

/// Shorter names than this say too little.
const LEAST: usize = 3;

/// `orders-enricher-consumer` and `orders_enricher_out` belong together; `orders` and `payments` do not.
pub(super) fn belong_together(consumer: &str, producer: &str) -> bool {
    let (consumer, producer) = (essence(consumer), essence(producer));
    !consumer.is_empty() && consumer.iter().map(String::len).sum::<usize>() >= LEAST && consumer == producer
}

fn essence(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|part| !part.is_empty() && !ROLES.contains(&part.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::belong_together;

    #[test]
    fn an_operator_names_its_groups_alike() {
        assert!(belong_together("demo_op1", "demo_op1_out"));
        assert!(belong_together("orders-enricher-consumer", "GID_orders_enricher"));
        assert!(belong_together("billing", "billing"));
        assert!(!belong_together("demo_op1", "demo_op2_out"));
        assert!(!belong_together("demo", "demo_source"));
        assert!(!belong_together("g", "p"));
    }
}
