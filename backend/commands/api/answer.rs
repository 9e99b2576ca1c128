//! An answer as it is printed, and the exit code that tells what it amounts to.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::Value;

/// What an answer amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Found,
    /// There is no such thing, or the list is empty.
    Nothing,
    /// Some brokers did not answer, or an act did not work everywhere.
    Partial,
    /// Refused, or failed.
    Failed,
}

impl Amount {
    pub(super) fn of(status: u16, answer: &Value) -> Self {
        match status {
            404 => Self::Nothing,
            400.. => Self::Failed,
            _ if lacks(answer) => Self::Partial,
            _ if is_empty(answer) => Self::Nothing,
            _ => Self::Found,
        }
    }

    /// 2 is what wrong arguments give.
    pub(super) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Found => 0,
            Self::Nothing => 1,
            Self::Partial => 3,
            Self::Failed => 4,
        })
    }
}

/// Whether something could not be read, or an outcome is an error.
fn lacks(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(lacks),
        Value::Object(fields) => fields.iter().any(|(name, value)| match (name.as_str(), value) {
            ("missed" | "missing", Value::Array(missed)) => !missed.is_empty(),
            ("outcomes" | "each", Value::Array(outcomes)) => {
                outcomes.iter().any(|outcome| outcome.get("error").is_some_and(|error| !error.is_null()))
            }
            (_, value) => lacks(value),
        }),
        _ => false,
    }
}

/// Whether it is a list with nothing in it.
fn is_empty(value: &Value) -> bool {
    let Some(fields) = value.as_object() else { return false };
    let mut lists = fields.values().filter_map(Value::as_array).peekable();
    lists.peek().is_some() && lists.all(Vec::is_empty)
}

/// JSON laid out for reading; the same JSON, with nothing in it that acts on a terminal.
pub(super) fn printed(body: &str) -> String {
    let laid_out = millrace_console::messages::lay_out(body);
    let text = laid_out.as_deref().unwrap_or(body);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if millrace_core::inert::acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Amount, printed};

    #[test]
    fn the_code_tells_what_an_answer_amounts_to() {
        let whole = json!({"topics": [{"name": "a", "lag": {"value": 3, "missing": []}}], "coverage": {"missed": []}});
        let partial = json!({"topics": [{"name": "a", "lag": {"value": null, "missing": [{"what": "broker-b"}]}}]});
        assert_eq!(Amount::of(200, &whole), Amount::Found);
        assert_eq!(Amount::of(200, &partial), Amount::Partial);
        assert_eq!(Amount::of(200, &json!({"topics": [], "total": 0})), Amount::Nothing);
        assert_eq!(Amount::of(200, &json!({"outcomes": [{"at": "a", "error": null}]})), Amount::Found);
        assert_eq!(Amount::of(200, &json!({"outcomes": [{"at": "a", "error": "no"}]})), Amount::Partial);
        assert_eq!(Amount::of(404, &json!({"title": "no such topic"})), Amount::Nothing);
        assert_eq!(Amount::of(422, &json!({"fields": []})), Amount::Failed);
    }

    #[test]
    fn nothing_acts_on_the_terminal_and_no_digit_is_lost() {
        let body = "{\"size\":18446744073709551616,\"body\":\"a\u{202e}b\u{9b}\u{e0001}\"}";
        let text = printed(body);
        assert_eq!(text, "{\n  \"size\": 18446744073709551616,\n  \"body\": \"a\\u202eb\\u009b\\udb40\\udc01\"\n}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), serde_json::from_str(body).ok());
    }
}
