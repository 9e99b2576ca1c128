//! The HTTP side of a server under test.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde_json::Value;

use super::millrace::CLUSTER;

#[derive(Debug, Clone)]
pub(crate) struct Api {
    base: String,
    client: Client,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
}

impl Api {
    pub(crate) fn at(address: &str) -> Self {
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_mins(1))
            .build()
            .expect("an HTTP client");
        Self { base: address.trim_end_matches('/').to_owned(), client }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// A path below the cluster's API.
    pub(crate) fn of_cluster(path: &str) -> String {
        format!("/api/v1/clusters/{CLUSTER}{path}")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(self.url(path))).await
    }

    pub(crate) async fn post_form(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let pairs: Vec<String> =
            form.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
        let request = self.client.post(self.url(path)).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(pairs.join("&"))).await
    }

    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.send(self.client.post(self.url(path)).json(body)).await
    }

    pub(crate) async fn put_json(&self, path: &str, body: &Value) -> Answer {
        self.send(self.client.put(self.url(path)).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.client.delete(self.url(path))).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.expect("the server answers");
        let location = response.headers().get("location").map(|at| at.to_str().expect("a location").to_owned());
        Answer { status: response.status(), location, body: response.text().await.expect("a whole body") }
    }

    /// A JSON answer with status 200.
    pub(crate) async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{path}: {error}: {}", answer.body))
    }

    /// The answer about a record.
    pub(crate) async fn record(&self, key: &str) -> Value {
        self.json(&Self::of_cluster(&format!("/records/{}", escape(key)))).await
    }

    /// Returns when `wanted` holds of the JSON at `path`; panics with the last answer after two minutes.
    pub(crate) async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let limit = Instant::now() + Duration::from_mins(2);
        loop {
            let answer = self.json(path).await;
            if wanted(&answer) {
                return answer;
            }
            assert!(Instant::now() < limit, "{path} never came to it: {answer:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns when everything in the trace topics has been read, and how much that was.
    pub(crate) async fn until_ingested(&self) -> Value {
        let whole = |answer: &Value| {
            let queues = answer["queues"].as_array().map_or(&[][..], Vec::as_slice);
            !queues.is_empty()
                && queues.iter().all(|queue| queue["lag"] == 0)
                && answer["coverage"]["missed"] == Value::Array(vec![])
        };
        self.until(&Self::of_cluster("/ingest"), whole).await
    }
}

/// A path's part, percent-encoded.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
