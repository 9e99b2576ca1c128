//! One connection an address, opened when it is first needed and again after it ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use millrace_broker::{BrokerError, Result};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument as _, Span, info_span};

use super::connection::{CallError, Connection};
use super::{Reply, Request};
use crate::settings::{Credentials, Timeouts};

/// Filled by the first caller, awaited by the others: one dial at a time an address.
type Slot = Arc<OnceCell<Arc<Connection>>>;

#[derive(Debug)]
pub(crate) struct Pool {
    slots: Mutex<HashMap<String, Slot>>,
    tasks: TaskTracker,
    closing: CancellationToken,
    account: Option<Credentials>,
    timeouts: Timeouts,
}

impl Pool {
    pub(crate) fn new(account: Option<Credentials>, timeouts: Timeouts) -> Self {
        Self {
            slots: Mutex::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            account,
            timeouts,
        }
    }

    /// The answer to `request`, whatever its code, within the configured time.
    pub(crate) async fn call(&self, address: &str, request: &Request) -> Result<Reply> {
        self.call_within(address, request, self.timeouts.call).await
    }

    /// As [`Pool::call`], and a span where it is a part of one: what runs by itself would be noise.
    pub(crate) async fn call_within(&self, address: &str, request: &Request, deadline: Duration) -> Result<Reply> {
        if Span::current().is_none() {
            return self.exchange(address, request, deadline).await;
        }
        let span = info_span!(
            "rocketmq.call",
            otel.name = ?request.code,
            otel.kind = "client",
            server.address = address,
            rpc.system = "rocketmq",
        );
        self.exchange(address, request, deadline).instrument(span).await
    }

    /// A connection that was idle may have ended unnoticed: a call that finds it so is made once more on a new one, if it
    /// may be.
    async fn exchange(&self, address: &str, request: &Request, deadline: Duration) -> Result<Reply> {
        let mut again = request.repeatable;
        loop {
            let slot = self.slot(address);
            let fresh = !slot.initialized();
            let connection = self.connection(address, &slot).await?;
            match connection.call(request, self.account.as_ref(), deadline).await {
                Ok(answer) => {
                    return Ok(Reply {
                        address: address.to_owned(),
                        code: answer.code,
                        remark: answer.remark.unwrap_or_default(),
                        fields: answer.fields,
                        body: answer.body,
                    });
                }
                Err(CallError::TimedOut) => return Err(timed_out(address, deadline)),
                Err(CallError::Closed(_)) if again && !fresh => again = false,
                Err(CallError::Closed(why)) => return Err(unreachable(address, why)),
            }
        }
    }

    /// Whether a connection to `address` opens or is open.
    pub(crate) async fn reach(&self, address: &str) -> Result<()> {
        let slot = self.slot(address);
        self.connection(address, &slot).await.map(drop)
    }

    /// Ends every connection and waits for their tasks.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// The address's slot; one whose connection has ended is replaced.
    fn slot(&self, address: &str) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.get(address) {
            Some(slot) if slot.get().is_none_or(|connection| !connection.closed()) => Arc::clone(slot),
            _ => {
                let slot = Slot::default();
                slots.insert(address.to_owned(), Arc::clone(&slot));
                slot
            }
        }
    }

    async fn connection(&self, address: &str, slot: &Slot) -> Result<Arc<Connection>> {
        if self.closing.is_cancelled() {
            return Err(unreachable(address, "the cluster's connections are closed".to_owned()));
        }
        let open = || async {
            let closing = self.closing.child_token();
            Connection::open(address, self.timeouts.connect, &self.tasks, closing).await.map(Arc::new)
        };
        match slot.get_or_try_init(open).await {
            Ok(connection) => Ok(Arc::clone(connection)),
            Err(CallError::TimedOut) => Err(timed_out(address, self.timeouts.connect)),
            Err(CallError::Closed(why)) => Err(unreachable(address, why)),
        }
    }
}

fn unreachable(address: &str, why: String) -> BrokerError {
    BrokerError::Unreachable { address: address.to_owned(), why }
}

fn timed_out(address: &str, deadline: Duration) -> BrokerError {
    BrokerError::TimedOut {
        address: address.to_owned(),
        millis: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::Duration;

    use bytes::BytesMut;
    use millrace_broker::BrokerError;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::super::frame::{decode, encode_response};
    use super::Pool;
    use crate::remoting::{Request, RequestCode};
    use crate::settings::Timeouts;

    fn pool() -> Pool {
        Pool::new(
            None,
            Timeouts { connect: Duration::from_secs(2), call: Duration::from_secs(10), ..Timeouts::default() },
        )
    }

    /// Answers one request on each connection, then closes it.
    async fn answer_one_each(listener: TcpListener) {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = BytesMut::new();
            let request = loop {
                if let Some(frame) = decode(&mut buffer).unwrap() {
                    break frame;
                }
                if stream.read_buf(&mut buffer).await.unwrap() == 0 {
                    return;
                }
            };
            stream.write_all(&encode_response(0, request.opaque, "here")).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_connection_that_ended_is_opened_again() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tokio::spawn(answer_one_each(listener));
        let pool = pool();
        for _ in 0..5 {
            let reply = pool.call(&address, &Request::new(RequestCode::BrokerConfig)).await.unwrap();
            assert_eq!((reply.code, reply.remark.as_str()), (0, "here"));
        }
        pool.close().await;
        let closed = pool.call(&address, &Request::new(RequestCode::BrokerConfig)).await;
        assert!(matches!(closed, Err(BrokerError::Unreachable { .. })));
        server.abort();
    }

    #[tokio::test]
    async fn an_address_where_nobody_listens_is_unreachable() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        assert!(
            matches!(pool().reach(&address).await, Err(BrokerError::Unreachable { address: a, .. }) if a == address)
        );
    }
}
