//! Whose turn it is, when there are more to ask than one round can: those that waited longest.

use std::cmp::Reverse;
use std::collections::HashMap;

use millrace_core::time::Millis;

#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    had: HashMap<String, Millis>,
}

impl Turns {
    /// At most `limit` of `all`, those first that never had a turn. A weight makes waiting count for more.
    pub(crate) fn next<'a>(
        &self,
        all: impl Iterator<Item = (&'a String, i64)>,
        now: Millis,
        limit: usize,
    ) -> Vec<String> {
        let mut due: Vec<(Reverse<i64>, &String)> = all
            .map(|(name, weight)| {
                let had = self.had.get(name);
                (Reverse(had.map_or(i64::MAX, |had| now.since(*had).max(1).saturating_mul(weight))), name)
            })
            .collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, name)| name.clone()).collect()
    }

    pub(crate) fn had(&mut self, name: &str, now: Millis) {
        self.had.insert(name.to_owned(), now);
    }

    pub(crate) fn retain(&mut self, there: impl Fn(&String) -> bool) {
        self.had.retain(|name, _| there(name));
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use millrace_core::time::Millis;

    #[test]
    fn everyone_has_a_turn_before_anyone_has_two() {
        let names: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let mut turns = Turns::default();
        let mut order = Vec::new();
        for round in 0..6 {
            for name in turns.next(names.iter().map(|name| (name, 1)), Millis(round * 10), 2) {
                turns.had(&name, Millis(round * 10));
                order.push(name);
            }
        }
        for six in order.chunks(6) {
            let mut six = six.to_vec();
            six.sort();
            assert_eq!(six, names);
        }
        turns.retain(|name| name != "a");
        assert_eq!(turns.next(names.iter().map(|name| (name, 1)), Millis(99), 1), ["a"]);
    }
}
