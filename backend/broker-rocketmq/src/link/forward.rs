//! Storing a message once more, as it is: the request that producers send, without a producer's ids and traces.

use millrace_broker::{BrokerError, MessageToForward, Result, SendReceipt, StoreStatus};
use millrace_core::name::QueueRef;

use super::{Link, now};
use crate::remoting::{Request, RequestCode, ResponseCode};
use crate::settings::CONSOLE_GROUP;

/// Properties travel as `name 1 value 2` (`MessageDecoder`).
const NAME_END: char = '\u{1}';
const VALUE_END: char = '\u{2}';

impl Link {
    pub(crate) async fn store_again(&self, broker: &str, message: MessageToForward) -> Result<SendReceipt> {
        // `SendMessageRequestHeaderV2`: one letter a field. The broker picks a queue where none is named, and makes no
        // topic after a pattern that is not there.
        let request = Request::new(RequestCode::SendMessageV2)
            .once()
            .field("a", CONSOLE_GROUP)
            .field("b", &message.topic)
            .field("c", &message.topic)
            .field("d", 1)
            .field("e", -1)
            .field("f", 0)
            .field("g", now().0)
            .field("h", message.flag)
            .field("i", properties_text(&message)?)
            .field("j", 0)
            .field("k", false)
            .field("m", false)
            .field("n", broker)
            .body(message.body);
        let reply = self.ask(broker, &request).await?;
        let status = match reply.code {
            ResponseCode::SUCCESS => StoreStatus::Ok,
            ResponseCode::FLUSH_DISK_TIMEOUT => StoreStatus::FlushDiskTimeout,
            ResponseCode::FLUSH_SLAVE_TIMEOUT => StoreStatus::FlushSlaveTimeout,
            ResponseCode::SLAVE_NOT_AVAILABLE => StoreStatus::SlaveNotAvailable,
            _ => return Err(reply.refusal(|| format!("topic {}", message.topic))),
        };
        let queue = reply.number("queueId")?;
        let queue = i32::try_from(queue).map_err(|_| reply.misunderstood(format!("queue {queue}")))?;
        let offset_id = reply.fields.get("msgId").cloned();
        let own_id = message.properties.into_iter().find(|(name, _)| name == "UNIQ_KEY").map(|(_, id)| id);
        let Some(message_id) = own_id.or_else(|| offset_id.clone()) else {
            return Err(reply.misunderstood("no message id in its answer"));
        };
        Ok(SendReceipt {
            status,
            message_id,
            offset_id,
            offset: reply.number("queueOffset")?,
            queue: QueueRef { topic: message.topic, broker: broker.to_owned(), queue },
        })
    }
}

fn properties_text(message: &MessageToForward) -> Result<String> {
    let mut text = String::new();
    for (name, value) in &message.properties {
        if name.contains([NAME_END, VALUE_END]) || value.contains([NAME_END, VALUE_END]) {
            return Err(BrokerError::Invalid(format!("the property {name} has a character that separates properties")));
        }
        text.push_str(name);
        text.push(NAME_END);
        text.push_str(value);
        text.push(VALUE_END);
    }
    Ok(text)
}
