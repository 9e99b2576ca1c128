//! One connection: a reader and a writer task, and the calls that wait for answers by their opaque number.
//!
//! Invariant: when the connection ends, every waiting call ends with the reason, and no later call can join.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::frame::{Incoming, Kind, decode, encode_response};
use super::{Request, ResponseCode};
use crate::settings::Credentials;

/// Frames that wait for the writer; a caller beyond that waits within its own deadline.
const OUTGOING: usize = 1024;
/// So many calls in a row without any answer, and the connection counts as dead.
const SILENT_CALLS: u32 = 2;

/// Why a call got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The connection ended, before or after the request was written.
    Closed(String),
    TimedOut,
}

#[derive(Debug)]
pub(super) struct Connection {
    outgoing: mpsc::Sender<Bytes>,
    waiting: Arc<Waiting>,
    opaque: AtomicI32,
    unanswered: AtomicU32,
    closing: CancellationToken,
}

impl Connection {
    /// Dials within `deadline`; the tasks run on `tasks` until the connection ends or `closing` is cancelled.
    pub(super) async fn open(
        address: &str,
        deadline: Duration,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> Result<Self, CallError> {
        let dialled = tokio::time::timeout(deadline, TcpStream::connect(address)).await;
        let stream = dialled.map_err(|_| CallError::TimedOut)?.map_err(|error| CallError::Closed(error.to_string()))?;
        stream.set_nodelay(true).map_err(|error| CallError::Closed(error.to_string()))?;
        let (reader, writer) = stream.into_split();
        let waiting = Arc::new(Waiting::default());
        let (outgoing, frames) = mpsc::channel(OUTGOING);
        let answers = outgoing.downgrade();
        tasks.spawn({
            let (waiting, closing) = (Arc::clone(&waiting), closing.clone());
            async move {
                let why = tokio::select! {
                    why = read(reader, &waiting, &answers) => why,
                    why = write(writer, frames) => why,
                    () = closing.cancelled() => "the connection was closed".to_owned(),
                };
                closing.cancel();
                waiting.end(why);
            }
        });
        Ok(Self { outgoing, waiting, opaque: AtomicI32::new(1), unanswered: AtomicU32::new(0), closing })
    }

    pub(super) fn closed(&self) -> bool {
        self.closing.is_cancelled()
    }

    pub(super) async fn call(
        &self,
        request: &Request,
        account: Option<&Credentials>,
        deadline: Duration,
    ) -> Result<Incoming, CallError> {
        let opaque = self.opaque.fetch_add(1, Ordering::Relaxed);
        let frame = request.encode(opaque, account);
        let (ticket, answer) = self.waiting.join(opaque).map_err(CallError::Closed)?;
        let exchange = async {
            // A closed channel or a dropped sender means that the connection has ended; the reason is with `waiting`.
            self.outgoing.send(frame).await.map_err(|_| self.waiting.reason())?;
            answer.await.map_err(|_| self.waiting.reason())
        };
        let outcome = tokio::time::timeout(deadline, exchange).await;
        drop(ticket);
        match outcome {
            Ok(Ok(answer)) => {
                self.unanswered.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(why)) => Err(CallError::Closed(why)),
            Err(_) => {
                if self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= SILENT_CALLS {
                    self.closing.cancel();
                }
                Err(CallError::TimedOut)
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// Reads frames until the stream ends or makes no sense; answers why.
async fn read(mut stream: OwnedReadHalf, waiting: &Waiting, answers: &mpsc::WeakSender<Bytes>) -> String {
    let mut buffer = BytesMut::with_capacity(64 * 1024);
    loop {
        match decode(&mut buffer) {
            Ok(Some(frame)) => match frame.kind {
                Kind::Response => waiting.answer(frame),
                Kind::Request => {
                    let refusal =
                        encode_response(ResponseCode::NOT_SUPPORTED, frame.opaque, "not offered by this client");
                    if let Some(answers) = answers.upgrade() {
                        // A full channel means a broker that asks faster than it reads; it does without the refusal.
                        let _ = answers.try_send(refusal);
                    }
                }
                // Members and offsets are asked for in time; a broker's notice adds nothing.
                Kind::Notice => {}
            },
            Ok(None) => match stream.read_buf(&mut buffer).await {
                Ok(0) => return "the broker closed the connection".to_owned(),
                Ok(_) => {}
                Err(error) => return error.to_string(),
            },
            Err(error) => return format!("it sent {error}"),
        }
        if buffer.capacity() - buffer.len() < 16 * 1024 {
            buffer.reserve(64 * 1024);
        }
    }
}

/// Writes whole frames, one after another, so that a dropped caller never leaves half of one.
async fn write(mut stream: OwnedWriteHalf, mut frames: mpsc::Receiver<Bytes>) -> String {
    while let Some(frame) = frames.recv().await {
        if let Err(error) = stream.write_all(&frame).await {
            return error.to_string();
        }
    }
    "the connection is no longer used".to_owned()
}

/// Calls that wait, by opaque number.
#[derive(Debug, Default)]
struct Waiting {
    state: Mutex<WaitingState>,
}

#[derive(Debug, Default)]
struct WaitingState {
    calls: HashMap<i32, oneshot::Sender<Incoming>>,
    ended: Option<String>,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, WaitingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(self: &Arc<Self>, opaque: i32) -> Result<(Ticket, oneshot::Receiver<Incoming>), String> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            return Err(why.clone());
        }
        state.calls.insert(opaque, sender);
        Ok((Ticket { waiting: Arc::clone(self), opaque }, receiver))
    }

    /// An answer that nobody waits for any more is dropped.
    fn answer(&self, frame: Incoming) {
        let call = self.lock().calls.remove(&frame.opaque);
        if let Some(call) = call {
            let _ = call.send(frame);
        }
    }

    fn end(&self, why: String) {
        let mut state = self.lock();
        state.ended = Some(why);
        state.calls.clear();
    }

    fn reason(&self) -> String {
        self.lock().ended.clone().unwrap_or_else(|| "the connection was closed".to_owned())
    }
}

/// A call's place among the waiting; leaves when dropped.
struct Ticket {
    waiting: Arc<Waiting>,
    opaque: i32,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.waiting.lock().calls.remove(&self.opaque);
    }
}

#[cfg(test)]
mod tests;
