//! Where an offset id leads. One invariant: only brokers of the topology are asked, an address out of an id is never
//! dialled.

use std::net::SocketAddr;

use futures::future::join_all;
use millrace_core::id::OffsetId;

use crate::{Broker, BrokerError, BrokerRead, Message};

/// What the brokers say about an offset id.
#[derive(Debug, Default)]
pub struct Located {
    /// The broker with the id's address; where none has it, the one that has the message.
    pub broker: Option<String>,
    pub message: Option<Message>,
    /// Brokers that answered, that they do not have it as well.
    pub answered: usize,
    pub failed: Vec<(String, BrokerError)>,
}

/// The broker with the id's address is asked. Where none has it, all are: one that moved, or that registered by its
/// name, still has the message at this offset, and is believed if that has this very id.
pub async fn locate(read: &dyn BrokerRead, brokers: &[Broker], id: &OffsetId) -> Located {
    let own = brokers.iter().find(|broker| broker.replicas.iter().any(|replica| is_address(&replica.address, id)));
    let asked: Vec<&Broker> = own.map_or_else(|| brokers.iter().collect(), |own| vec![own]);
    let answers = join_all(asked.iter().map(|broker| read.message_at(&broker.name, id.offset))).await;
    let mut located = Located { broker: own.map(|own| own.name.clone()), ..Located::default() };
    let wanted = id.to_string();
    for (broker, answer) in asked.into_iter().zip(answers) {
        match answer {
            Ok(message) => {
                located.answered += 1;
                if own.is_some() || message.offset_id.eq_ignore_ascii_case(&wanted) {
                    located.broker = Some(broker.name.clone());
                    located.message = Some(message);
                }
            }
            Err(BrokerError::NotFound(_)) => located.answered += 1,
            Err(error) => located.failed.push((broker.name.clone(), error)),
        }
    }
    located
}

fn is_address(text: &str, id: &OffsetId) -> bool {
    let port = u16::try_from(id.port).ok();
    text.parse::<SocketAddr>().is_ok_and(|address| address.ip() == id.address && Some(address.port()) == port)
}
