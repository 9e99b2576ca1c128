//! Names that fit their boxes.

use serde::Serialize;

/// A name as it is drawn and as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Cut in the middle where it is too long: the ends of names tell them apart.
    pub short: String,
    pub full: String,
}

impl Label {
    /// `columns`: how many narrow characters there is room for.
    pub fn fit(name: &str, columns: usize) -> Self {
        let full = name.to_owned();
        if width(name) <= columns {
            return Self { short: full.clone(), full };
        }
        let room = columns.saturating_sub(1);
        let head = take(name.chars(), room.div_ceil(2));
        let tail: String = take(name.chars().rev(), room / 2).chars().rev().collect();
        Self { short: format!("{head}…{tail}"), full }
    }
}

fn take(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut left = columns;
    characters
        .take_while(|c| {
            let fits = columns_of(*c) <= left;
            left = left.saturating_sub(columns_of(*c));
            fits
        })
        .collect()
}

/// In narrow characters.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// East Asian characters are twice as wide as Latin ones.
fn columns_of(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::Label;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(Label::fit("orders", 10).short, "orders");
        let label = Label::fit("%DLQ%warehouse-price-enricher-eu", 16);
        assert_eq!(label.short, "%DLQ%war…cher-eu");
        assert_eq!(label.full, "%DLQ%warehouse-price-enricher-eu");
        assert_eq!(Label::fit("订单价格补充服务消费组", 11).short, "订单…费组");
    }
}
