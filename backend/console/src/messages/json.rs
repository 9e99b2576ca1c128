//! JSON laid out for reading without touching a token: numbers keep every digit, strings every escape, objects the order
//! of their names and names that occur twice.

/// `text` with line breaks and two blanks a level; `None` where it is not JSON.
pub fn lay_out(text: &str) -> Option<String> {
    let _: serde::de::IgnoredAny = serde_json::from_str(text).ok()?;
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let token = token(rest, c);
        rest = rest.get(token.len()..)?;
        match c {
            '{' | '[' => {
                out.push(c);
                let closing = if c == '{' { '}' } else { ']' };
                let after = rest.trim_start_matches(is_blank);
                if after.starts_with(closing) {
                    out.push(closing);
                    rest = after.get(1..)?;
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if is_blank(c) => {}
            _ => out.push_str(token),
        }
    }
    Some(out)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The token that begins `text`: a whole string, a whole number or word, or one character.
fn token(text: &str, first: char) -> &str {
    let end = match first {
        '"' => string_end(text),
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        _ if is_blank(first) => 1,
        _ => text.find(|c: char| is_blank(c) || matches!(c, ',' | ']' | '}' | ':')).unwrap_or(text.len()),
    };
    text.get(..end).unwrap_or(text)
}

/// One past the closing quote of the string that begins `text`.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::lay_out;

    #[test]
    fn every_digit_stays() {
        let laid = lay_out(r#"{"id":9007199254740993,"big":18446744073709551615,"d":1.10,"e":1E+400}"#);
        let expected =
            "{\n  \"id\": 9007199254740993,\n  \"big\": 18446744073709551615,\n  \"d\": 1.10,\n  \"e\": 1E+400\n}";
        assert_eq!(laid.as_deref(), Some(expected));
    }

    #[test]
    fn strings_empties_and_repeated_names_stay() {
        let laid = lay_out(r#" { "a" : [ ] , "a" : { } , "s" : "x, \"{y}\": \\" , "t":[1,[2]] } "#);
        let expected = "{\n  \"a\": [],\n  \"a\": {},\n  \"s\": \"x, \\\"{y}\\\": \\\\\",\n  \"t\": [\n    1,\n    [\n      2\n    ]\n  ]\n}";
        assert_eq!(laid.as_deref(), Some(expected));
    }

    #[test]
    fn what_is_not_json_is_not_laid_out() {
        for text in ["", "{", "hello", "{\"a\":1}x", "[1,]", "NaN"] {
            assert_eq!(lay_out(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn laying_out_changes_blanks_alone(value in proptest::collection::vec(".{0,12}", 0..6)) {
            let text = serde_json::to_string(&serde_json::json!({ "list": value, "nested": [value.clone(), []] })).expect("json");
            let laid = lay_out(&text).expect("it is JSON");
            let back: serde_json::Value = serde_json::from_str(&laid).expect("still JSON");
            proptest::prop_assert_eq!(serde_json::to_string(&back).expect("json"), serde_json::to_string(&serde_json::from_str::<serde_json::Value>(&text).expect("json")).expect("json"));
        }
    }
}
