#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::frame::{Incoming, Kind, decode, encode_request, encode_response};
use super::{CallError, Connection};
use crate::remoting::{Request, RequestCode};

const DEADLINE: Duration = Duration::from_secs(10);

/// Both ends of a connection over loopback.
async fn pair() -> (Arc<Connection>, Peer, TaskTracker) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let tasks = TaskTracker::new();
    let (opened, accepted) =
        tokio::join!(Connection::open(&address, DEADLINE, &tasks, CancellationToken::new()), listener.accept());
    let peer = Peer { stream: accepted.unwrap().0, buffer: BytesMut::new() };
    (Arc::new(opened.unwrap()), peer, tasks)
}

struct Peer {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Peer {
    async fn next(&mut self) -> Incoming {
        loop {
            if let Some(frame) = decode(&mut self.buffer).unwrap() {
                return frame;
            }
            assert_ne!(self.stream.read_buf(&mut self.buffer).await.unwrap(), 0, "the client closed");
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }
}

fn request(queue: u32) -> Request {
    Request::new(RequestCode::MaxOffset).field("queueId", queue)
}

fn call(
    connection: &Arc<Connection>,
    queue: u32,
    deadline: Duration,
) -> tokio::task::JoinHandle<Result<Incoming, CallError>> {
    let connection = Arc::clone(connection);
    tokio::spawn(async move { connection.call(&request(queue), None, deadline).await })
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let (connection, mut peer, _tasks) = pair().await;
    let calls: Vec<_> = (0..50).map(|queue| call(&connection, queue, DEADLINE)).collect();
    let mut seen = Vec::new();
    for _ in 0..50 {
        seen.push(peer.next().await);
    }
    for frame in seen.iter().rev() {
        let queue = frame.fields.get("queueId").unwrap();
        peer.write(&encode_response(0, frame.opaque, queue)).await;
    }
    for (queue, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap().remark, Some(queue.to_string()));
    }
    assert!(connection.waiting.lock().calls.is_empty());
}

#[tokio::test]
async fn a_closed_connection_wakes_every_waiter_with_the_reason() {
    let (connection, mut peer, tasks) = pair().await;
    let calls: Vec<_> = (0..3).map(|queue| call(&connection, queue, DEADLINE)).collect();
    for _ in 0..3 {
        peer.next().await;
    }
    drop(peer);
    for call in calls {
        assert!(matches!(call.await.unwrap(), Err(CallError::Closed(why)) if why.contains("closed")));
    }
    assert!(connection.closed());
    assert!(matches!(connection.call(&request(0), None, DEADLINE).await, Err(CallError::Closed(_))));
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn a_late_answer_and_a_dropped_call_leave_nothing_behind() {
    let (connection, mut peer, _tasks) = pair().await;
    assert_eq!(connection.call(&request(1), None, Duration::from_millis(20)).await, Err(CallError::TimedOut));
    let late = peer.next().await;
    let dropped = call(&connection, 2, DEADLINE);
    let abandoned = peer.next().await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    assert!(connection.waiting.lock().calls.is_empty());
    peer.write(&encode_response(0, late.opaque, "late")).await;
    peer.write(&encode_response(0, abandoned.opaque, "abandoned")).await;
    let next = call(&connection, 3, DEADLINE);
    let asked = peer.next().await;
    peer.write(&encode_response(0, asked.opaque, "in time")).await;
    assert_eq!(next.await.unwrap().unwrap().remark.as_deref(), Some("in time"));
}

#[tokio::test]
async fn a_peer_that_never_answers_is_given_up() {
    let (connection, _peer, _tasks) = pair().await;
    for _ in 0..2 {
        assert_eq!(connection.call(&request(1), None, Duration::from_millis(20)).await, Err(CallError::TimedOut));
    }
    assert!(connection.closed());
}

#[tokio::test]
async fn a_brokers_request_is_refused_and_its_notice_ignored() {
    let (connection, mut peer, _tasks) = pair().await;
    peer.write(&encode_request(307, 99, &std::collections::BTreeMap::new(), b"")).await;
    let refusal = peer.next().await;
    assert_eq!((refusal.opaque, refusal.code, refusal.kind), (99, 3, Kind::Response));
    let header = br#"{"code":40,"flag":2,"opaque":7}"#;
    let mut notice = Vec::from(u32::try_from(4 + header.len()).unwrap().to_be_bytes());
    notice.extend(u32::try_from(header.len()).unwrap().to_be_bytes());
    notice.extend(header);
    peer.write(&notice).await;
    let next = call(&connection, 1, DEADLINE);
    let asked = peer.next().await;
    assert_eq!(asked.kind, Kind::Request);
    peer.write(&encode_response(0, asked.opaque, "")).await;
    assert!(next.await.unwrap().is_ok());
}

#[tokio::test]
async fn nonsense_ends_the_connection() {
    let (connection, mut peer, _tasks) = pair().await;
    let waiting = call(&connection, 1, DEADLINE);
    peer.next().await;
    peer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert!(matches!(waiting.await.unwrap(), Err(CallError::Closed(why)) if why.contains("bytes")));
}
