//! An answer, and what its code means for the caller.

use std::collections::HashMap;

use bytes::Bytes;
use millrace_broker::{BrokerError, Result};

use super::ResponseCode;
use crate::json::Json;

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) address: String,
    pub(crate) code: i32,
    pub(crate) remark: String,
    pub(crate) fields: HashMap<String, String>,
    pub(crate) body: Bytes,
}

impl Reply {
    /// The reply if it says success, else what it says; `what` was asked for, as in "topic orders".
    pub(crate) fn success(self, what: impl FnOnce() -> String) -> Result<Self> {
        if self.code == ResponseCode::SUCCESS { Ok(self) } else { Err(self.refusal(what)) }
    }

    /// What a code other than success means.
    pub(crate) fn refusal(self, what: impl FnOnce() -> String) -> BrokerError {
        let Self { address, code, remark, .. } = self;
        match code {
            ResponseCode::NO_PERMISSION => BrokerError::NotPermitted { address, remark },
            ResponseCode::SYSTEM_ERROR if speaks_of_access(&remark) => BrokerError::NotPermitted { address, remark },
            ResponseCode::TOPIC_NOT_EXIST
            | ResponseCode::QUERY_NOT_FOUND
            | ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST
            | ResponseCode::CONSUMER_NOT_ONLINE
            | ResponseCode::NO_MESSAGE => BrokerError::NotFound(what()),
            _ => BrokerError::Answered { address, code, remark },
        }
    }

    /// A header field as a number.
    pub(crate) fn number(&self, name: &str) -> Result<i64> {
        let text = self.fields.get(name);
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| self.misunderstood(format!("no number {name} in its answer")))
    }

    /// The body as JSON in the broker's dialect.
    pub(crate) fn json(&self) -> Result<Json> {
        Json::parse(&self.body).map_err(|error| self.misunderstood(error.to_string()))
    }

    pub(crate) fn misunderstood(&self, why: impl Into<String>) -> BrokerError {
        BrokerError::Protocol { address: self.address.clone(), why: why.into() }
    }
}

/// ACL before 5.3 throws its refusals as system errors that begin with the exception's name.
fn speaks_of_access(remark: &str) -> bool {
    ["AclException", "AuthenticationException", "AuthorizationException"].iter().any(|name| remark.contains(name))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use bytes::Bytes;
    use millrace_broker::BrokerError;

    use super::Reply;

    fn refusal(code: i32, remark: &str) -> BrokerError {
        let reply = Reply {
            address: "192.0.2.1:10911".to_owned(),
            code,
            remark: remark.to_owned(),
            fields: HashMap::new(),
            body: Bytes::new(),
        };
        reply.refusal(|| "topic orders".to_owned())
    }

    #[test]
    fn codes_become_what_a_person_needs_to_know() {
        assert_eq!(refusal(17, "").to_string(), "topic orders is not there");
        assert!(matches!(refusal(208, ""), BrokerError::NotFound(_)));
        assert!(matches!(refusal(16, "no right"), BrokerError::NotPermitted { .. }));
        let acl = "org.apache.rocketmq.acl.common.AclException: No acl config for reader";
        assert!(matches!(refusal(1, acl), BrokerError::NotPermitted { remark, .. } if remark == acl));
        assert_eq!(refusal(1, "disk full").to_string(), "192.0.2.1:10911 answered with code 1: disk full");
    }
}
