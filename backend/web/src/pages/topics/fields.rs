//! Forms: reading what was sent, and the words for what is wrong with a field.

use millrace_console::{FieldError, FieldErrors};

use crate::i18n::{Locale, Msg};

/// The fields of a form in their order, names that repeat too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `application/x-www-form-urlencoded`.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let decoded = |part: &str| {
            let blanks = part.replace('+', " ");
            percent_encoding::percent_decode_str(&blanks).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        Self(pairs.collect())
    }

    pub(crate) fn one(&self, name: &str) -> String {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()).unwrap_or_default()
    }

    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value.clone()).collect()
    }

    /// A text of several lines. Browsers send line ends as CR LF; people mean LF.
    pub(crate) fn lines(&self, name: &str) -> String {
        self.one(name).replace("\r\n", "\n")
    }
}

/// All that is wrong with a field, as one text; `None` where nothing is.
pub(crate) fn wrong(errors: &FieldErrors, field: &str, locale: Locale) -> Option<String> {
    let texts: Vec<String> = errors.of(field).map(|error| say(error).text(locale)).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// A field's error in words.
pub(crate) fn say(error: &FieldError) -> Msg {
    let msg = match error.code {
        "name-empty" => Msg::new("topics-error-name-empty"),
        "name-too-long" => Msg::new("topics-error-name-too-long"),
        "name-character" => Msg::new("topics-error-name-character"),
        "name-reserved" => Msg::new("topics-error-name-reserved"),
        "topic-exists" => Msg::new("topics-error-exists"),
        "queues-range" => Msg::new("topics-error-queues"),
        "perm-unknown" => Msg::new("topics-error-perm"),
        "message-type-unknown" => Msg::new("topics-error-type"),
        "brokers-none" => Msg::new("topics-error-brokers-none"),
        "broker-unknown" => Msg::new("topics-error-broker-unknown"),
        "broker-without-topic" => Msg::new("topics-error-broker-without"),
        "group-exists" => Msg::new("groups-error-exists"),
        "number-range" => Msg::new("groups-error-number"),
        "broker-without-group" => Msg::new("groups-error-broker-without"),
        "queue-needed" => Msg::new("groups-error-queue-needed"),
        "reset-to-unknown" => Msg::new("groups-error-to"),
        "topic-unknown" => Msg::new("groups-error-topic"),
        "confirm-mismatch" => Msg::new("topics-error-confirm"),
        "control-character" => Msg::new("topics-error-control"),
        "tag-character" => Msg::new("topics-error-tag"),
        "property-without-equals" => Msg::new("topics-error-property-equals"),
        "property-shape" => Msg::new("topics-error-property-shape"),
        "property-empty" => Msg::new("topics-error-property-empty"),
        "property-reserved" => Msg::new("topics-error-property-reserved"),
        "property-twice" => Msg::new("topics-error-property-twice"),
        "properties-too-large" => Msg::new("topics-error-properties-large"),
        "body-empty" => Msg::new("topics-error-body-empty"),
        "body-too-large" => Msg::new("topics-error-body-large"),
        "topic-not-writable" => Msg::new("topics-error-not-writable"),
        "key-empty" => Msg::new("messages-error-key-empty"),
        "id-empty" => Msg::new("messages-error-id-empty"),
        "topic-needed-for-id" => Msg::new("messages-error-topic-needed"),
        "range-reversed" => Msg::new("messages-error-reversed"),
        "time-unreadable" => Msg::new("messages-error-time"),
        "time-out-of-range" => Msg::new("messages-error-time-range"),
        "time-skipped" => Msg::new("messages-error-time-skipped"),
        "number-unreadable" => Msg::new("messages-error-number"),
        "queue-missing" => Msg::new("messages-error-queue"),
        "cursor-damaged" => Msg::new("messages-error-cursor"),
        "by-unknown" => Msg::new("messages-error-by"),
        "attempt-odd" => Msg::new("dead-error-attempt"),
        "resend-target" => Msg::new("dead-error-target"),
        "resend-pop" => Msg::new("dead-error-pop"),
        "place-odd" => Msg::new("dead-error-place"),
        "places-none" => Msg::new("dead-error-none"),
        "places-many" => Msg::new("dead-error-many"),
        "rate-odd" => Msg::new("dead-error-rate"),
        _ => Msg::new("topics-error-other"),
    };
    error.args.iter().fold(msg, |msg, (name, value)| msg.with(name, value))
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn forms_are_read_as_browsers_write_them() {
        let fields = Fields::read(b"name=a+b%26&brokers=x&brokers=y%2B&body=1%0D%0A2&flag&=odd");
        assert_eq!(fields.one("name"), "a b&");
        assert_eq!(fields.all("brokers"), ["x", "y+"]);
        assert_eq!(fields.lines("body"), "1\n2");
        assert_eq!((fields.one("flag"), fields.one("none")), (String::new(), String::new()));
    }
}
