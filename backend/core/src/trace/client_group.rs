//! The group that owns a client, from the name of the producer group that sends its traces.

const PREFIX: &str = "_INNER_TRACE_PRODUCER-";

/// The group inside `_INNER_TRACE_PRODUCER-<group>-<PRODUCE|CONSUME>-<n>`; older clients write no `-<n>`, the oldest no
/// group.
pub(super) fn owner_group(producer_group: &str) -> Option<&str> {
    let rest = producer_group.strip_prefix(PREFIX)?;
    let group = match rest.rsplit_once('-') {
        Some((front, n)) if !n.is_empty() && n.bytes().all(|digit| digit.is_ascii_digit()) => front,
        _ => rest,
    };
    let group = group.strip_suffix("-PRODUCE").or_else(|| group.strip_suffix("-CONSUME"))?;
    (!group.is_empty()).then_some(group)
}

#[cfg(test)]
mod tests {
    use super::owner_group;

    #[test]
    fn the_group_stands_inside_the_trace_producers_name() {
        for (name, group) in [
            ("_INNER_TRACE_PRODUCER-billing-CONSUME-1", Some("billing")),
            ("_INNER_TRACE_PRODUCER-billing-PRODUCE-12", Some("billing")),
            ("_INNER_TRACE_PRODUCER-shop-orders-7-CONSUME-0", Some("shop-orders-7")),
            ("_INNER_TRACE_PRODUCER-shop-orders-CONSUME", Some("shop-orders")),
            ("_INNER_TRACE_PRODUCER-PRODUCE-PRODUCE-1", Some("PRODUCE")),
            ("_INNER_TRACE_PRODUCER", None),
            ("_INNER_TRACE_PRODUCER-", None),
            ("_INNER_TRACE_PRODUCER--PRODUCE-1", None),
            ("_INNER_TRACE_PRODUCER-billing", None),
            ("billing", None),
            ("", None),
        ] {
            assert_eq!(owner_group(name), group, "{name}");
        }
    }
}
