//! The client's errors, told as the port tells them. The client keeps the broker's code and drops its remark, so the
//! usual meaning of the code takes the remark's place.

use std::error::Error as _;

use millrace_broker::BrokerError;
use rocketmq_client_rust::ClientError;

use crate::remoting::ResponseCode;

/// `what` was wanted, as in "topic orders".
pub(super) fn explain(error: &ClientError, what: &str) -> BrokerError {
    let address = error.broker_addr().unwrap_or("the broker").to_owned();
    match error.broker_response_code() {
        Some(ResponseCode::TOPIC_NOT_EXIST) => BrokerError::NotFound(what.to_owned()),
        Some(ResponseCode::NO_PERMISSION) => {
            BrokerError::NotPermitted { address, remark: format!("no permission to write {what}") }
        }
        Some(code) => BrokerError::Answered { address, code, remark: meaning(code).to_owned() },
        None => BrokerError::Answered { address: "the RocketMQ client".to_owned(), code: -1, remark: chain(error) },
    }
}

/// What the codes of a send mean (`ResponseCode` of Apache RocketMQ).
fn meaning(code: i32) -> &'static str {
    match code {
        1 => "the broker had an error of its own; its log says which",
        2 => "the broker is too busy to take the message now",
        10 | 11 | 12 | 14 => "the broker cannot store now: it is starting, stopping, a slave, or its disk is full",
        13 => "the broker refused the message: the body is too large, or properties or the topic's name too long",
        215 => "the broker limits the flow",
        _ => "the client keeps no remark",
    }
}

/// The error with its sources, each once.
fn chain(error: &ClientError) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        source = error.source();
    }
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use millrace_broker::BrokerError;
    use rocketmq_client_rust::ClientError;

    use super::explain;

    #[test]
    fn a_code_is_told_with_its_meaning() {
        let full = ClientError::broker_operation_failed("SEND_MESSAGE", 14, "gone");
        assert!(
            matches!(explain(&full, "topic orders"), BrokerError::Answered { code: 14, remark, .. } if remark.contains("disk"))
        );
        let absent = ClientError::broker_operation_failed("SEND_MESSAGE", 17, "gone");
        assert_eq!(explain(&absent, "topic orders").to_string(), "topic orders is not there");
        let refused = ClientError::broker_operation_failed("SEND_MESSAGE", 16, "gone");
        assert!(matches!(explain(&refused, "topic orders"), BrokerError::NotPermitted { .. }));
    }
}
