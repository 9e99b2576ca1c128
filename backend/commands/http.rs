//! The smallest HTTP client that asks a Millrace on this machine: one GET, HTTP/1.0, answer to the end.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// `path` is percent-encoded already.
pub(crate) async fn get(address: SocketAddr, path: &str, within: Duration) -> Result<Answer> {
    tokio::time::timeout(within, ask(address, path))
        .await
        .with_context(|| format!("{address} did not answer within {} s", within.as_secs()))?
}

async fn ask(address: SocketAddr, path: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect(address).await.with_context(|| format!("{address} is unreachable"))?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes()).await.context("the request was not sent")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.context("the answer was not read")?;
    parse(&String::from_utf8_lossy(&answer))
}

fn parse(answer: &str) -> Result<Answer> {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        bail!("the answer is not HTTP");
    };
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("the answer has no status")?;
    Ok(Answer { status, body: body.to_owned() })
}

/// A text as one segment or value of a URL.
pub(crate) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    #[test]
    fn an_answer_is_taken_apart() {
        let answer = super::parse("HTTP/1.1 404 Not Found\r\na: b\r\n\r\n{\"x\": 1}").unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (404, "{\"x\": 1}"));
        assert!(super::parse("nonsense").is_err());
    }

    #[test]
    fn a_key_is_one_segment() {
        assert_eq!(super::encode("a b/订%"), "a%20b%2F%E8%AE%A2%25");
    }
}
