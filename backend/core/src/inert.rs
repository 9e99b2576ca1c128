//! Text from outside that cannot act on who reads it: control characters and marks that turn the writing direction
//! are shown by their names.

use std::borrow::Cow;
use std::fmt::Write;

/// Keeps line breaks and tabs; everything else that is not ink is written as `\u{…}`.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal or a browser does something with `c` besides showing it.
pub fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{61c}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn nothing_acts_and_ink_stays() {
        assert_eq!(inert("a\u{1b}[31mred"), "a\\u{1b}[31mred");
        assert_eq!(inert("abc\u{202e}cba"), "abc\\u{202e}cba");
        assert_eq!(inert("订单\n\t<img onerror>"), "订单\n\t<img onerror>");
        assert_eq!(inert("a\r\nb"), "a\\u{d}\nb");
    }
}
