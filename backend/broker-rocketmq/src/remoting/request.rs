//! A request: a code, header fields and a body; signed where the cluster has ACL on.

use std::collections::BTreeMap;

use base64::Engine as _;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};

use super::RequestCode;
use super::frame::encode_request;
use crate::settings::Credentials;

/// A request may be repeated without harm unless it says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) code: RequestCode,
    pub(super) repeatable: bool,
    fields: BTreeMap<&'static str, String>,
    body: Bytes,
}

impl Request {
    pub(crate) fn new(code: RequestCode) -> Self {
        Self { code, repeatable: true, fields: BTreeMap::new(), body: Bytes::new() }
    }

    /// Not made again after it may have arrived.
    pub(crate) fn once(mut self) -> Self {
        self.repeatable = false;
        self
    }

    /// Header fields travel as strings: the Rust broker takes nothing else.
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts alike")]
    pub(crate) fn field(mut self, name: &'static str, value: impl ToString) -> Self {
        self.fields.insert(name, value.to_string());
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(super) fn encode(&self, opaque: i32, account: Option<&Credentials>) -> Bytes {
        match account {
            None => encode_request(self.code.number(), opaque, &self.fields, &self.body),
            Some(account) => {
                let fields = sign(self.fields.clone(), &self.body, account);
                encode_request(self.code.number(), opaque, &fields, &self.body)
            }
        }
    }
}

/// As `AclClientRPCHook` signs: HMAC-SHA1 over the values of all header fields in the order of their names, the access
/// key among them, and the body.
fn sign(
    mut fields: BTreeMap<&'static str, String>,
    body: &[u8],
    account: &Credentials,
) -> BTreeMap<&'static str, String> {
    fields.insert("AccessKey", account.access_key.clone());
    let Ok(mut mac) = Hmac::<sha1::Sha1>::new_from_slice(account.secret_key.as_bytes()) else {
        // HMAC takes keys of every length.
        return fields;
    };
    for value in fields.values() {
        mac.update(value.as_bytes());
    }
    mac.update(body);
    let signature = base64::engine::general_purpose::STANDARD.encode(mac.finalize().into_bytes());
    fields.insert("Signature", signature);
    fields
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::sign;
    use crate::settings::Credentials;

    #[test]
    fn the_signature_covers_sorted_values_and_the_body() {
        let account = Credentials { access_key: "abc".to_owned(), secret_key: "key".to_owned() };
        let fields = BTreeMap::from([("topic", "fox".to_owned()), ("b", "quick brown ".to_owned())]);
        // Values in the order AccessKey, b, topic, then the body: HMAC-SHA1("key", "abcquick brown fox jumps").
        let signed = sign(fields, b" jumps", &account);
        assert_eq!(signed.get("AccessKey").map(String::as_str), Some("abc"));
        assert_eq!(signed.get("Signature").map(String::as_str), Some("KzCJDnsa6VgoD1/QlHz+wK3A/jo="));
    }
}
