//! The KEYS of a message, taken apart as the broker's index does.

use std::collections::HashSet;

/// What C++ clients write for "no key" in SubBefore and SubAfter.
pub(super) const CPP_NO_KEY: &str = "dKey";

/// Distinct keys in the order written; none for an empty field and for Java's `null`. A key that *is* the text `null`
/// cannot be told from no key.
pub(super) fn keys(text: &str) -> Vec<String> {
    if text.is_empty() || text == "null" {
        return Vec::new();
    }
    if !text.contains(' ') {
        return vec![text.to_owned()];
    }
    let mut seen = HashSet::new();
    text.split(' ').filter(|key| !key.is_empty() && seen.insert(*key)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::keys;

    #[test]
    fn keys_are_split_at_blanks_and_distinct() {
        assert_eq!(keys("A  B A"), ["A", "B"]);
        assert_eq!(keys(" order-17 ~p=M1 "), ["order-17", "~p=M1"]);
        assert_eq!(keys("订单-17 订单-17"), ["订单-17"]);
        assert_eq!(keys("null A"), ["null", "A"]);
        assert_eq!(keys("dKey"), ["dKey"]);
    }

    #[test]
    fn no_key_is_no_key() {
        for none in ["", "null", " ", "   "] {
            assert!(keys(none).is_empty(), "{none:?}");
        }
    }
}
