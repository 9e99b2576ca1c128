//! Chromium, driven through WebDriver.
//!
//! Invariant: after each page the browser's own log is read; whatever it complains of (a blocked script or style, an
//! error in a script, a file that is not there) fails the test that opened the page.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::millrace::variable;

/// A running ChromeDriver.
#[derive(Debug)]
pub(crate) struct Driver {
    child: Child,
    address: String,
}

impl Driver {
    pub(crate) fn start() -> Self {
        let mut child = Command::new("chromedriver")
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("successfully on port ")?;
            Some(rest.trim_end_matches('.').to_owned())
        });
        let port = port.expect("chromedriver tells its port");
        Self { child, address: format!("http://127.0.0.1:{port}") }
    }

    pub(crate) async fn open(&self, look: Look) -> Browser {
        let mut options = json!({
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-extensions", "--no-proxy-server",
                format!("--window-size={},{}", look.width.max(500), look.height()),
            ],
            "prefs": {
                "intl.accept_languages": look.language,
                "profile.managed_default_content_settings.javascript": if look.javascript { 1 } else { 2 },
            },
        });
        // A window cannot be as narrow as a telephone; an emulated device can.
        if look.width < 500 {
            let metrics = json!({"width": look.width, "height": look.height(), "pixelRatio": 1.0});
            options["mobileEmulation"] = json!({"deviceMetrics": metrics});
        }
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let http = Client::new();
        let wanted = json!({"capabilities": {"alwaysMatch": capabilities}});
        let session = command(&http, Method::POST, &format!("{}/session", self.address), Some(&wanted)).await;
        let session = session.expect("Chromium starts");
        let id = session["sessionId"].as_str().expect("a session");
        Browser { session: format!("{}/session/{id}", self.address), http, look }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) language: &'static str,
    /// `light` or `dark`.
    pub(crate) theme: &'static str,
    pub(crate) width: u32,
    pub(crate) javascript: bool,
}

impl Look {
    pub(crate) const PLAIN: Self = Self { language: "en", theme: "light", width: 1440, javascript: true };

    fn height(self) -> u32 {
        if self.width < 500 { 844 } else { 900 }
    }

    fn name(self) -> String {
        format!("{}-{}-{}{}", self.language, self.theme, self.width, if self.javascript { "" } else { "-no-js" })
    }
}

/// One command of the WebDriver protocol; its value, or its error's name.
async fn command(http: &Client, method: Method, url: &str, body: Option<&Value>) -> Result<Value, String> {
    let mut request = http.request(method, url);
    if let Some(body) = body {
        request = request.json(body);
    }
    let answer: Value = request.send().await.expect("chromedriver answers").json().await.expect("JSON");
    match answer["value"].get("error").and_then(Value::as_str) {
        Some(error) => Err(format!("{error}: {}", answer["value"]["message"].as_str().unwrap_or_default())),
        None => Ok(answer["value"].clone()),
    }
}

/// How an element is named in the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How long a part of a page may take to be there.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Browser {
    session: String,
    http: Client,
    pub(crate) look: Look,
}

impl Browser {
    async fn post(&self, path: &str, body: Value) -> Value {
        let done = command(&self.http, Method::POST, &format!("{}/{path}", self.session), Some(&body)).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    async fn get(&self, path: &str) -> Value {
        let done = command(&self.http, Method::GET, &format!("{}/{path}", self.session), None).await;
        done.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) async fn open(&self, url: &str) {
        self.post("url", json!({"url": url})).await;
    }

    pub(crate) async fn back(&self) {
        self.post("back", json!({})).await;
    }

    pub(crate) async fn forward(&self) {
        self.post("forward", json!({})).await;
    }

    /// Path and query of the address.
    pub(crate) async fn path(&self) -> String {
        let url = self.get("url").await;
        let url = url.as_str().expect("an address");
        let (_, rest) = url.split_once("://").expect("an absolute address");
        rest.find('/').map_or_else(|| "/".to_owned(), |at| rest[at..].to_owned())
    }

    /// Returns when the address satisfies `wanted`.
    pub(crate) async fn arrive(&self, wanted: impl Fn(&str) -> bool) -> String {
        let limit = Instant::now() + PATIENCE;
        loop {
            let path = self.path().await;
            if wanted(&path) {
                return path;
            }
            assert!(Instant::now() < limit, "it stayed at {path}");
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    pub(crate) async fn has(&self, selector: &str) -> bool {
        let found = self.post("elements", json!({"using": "css selector", "value": selector})).await;
        found.as_array().is_some_and(|found| !found.is_empty())
    }

    /// The first element that matches, as soon as there is one.
    pub(crate) async fn find(&self, selector: &str) -> String {
        let limit = Instant::now() + PATIENCE;
        loop {
            let found = self.post("elements", json!({"using": "css selector", "value": selector})).await;
            if let Some(id) = found[0][ELEMENT].as_str() {
                return id.to_owned();
            }
            assert!(Instant::now() < limit, "there is no {selector} on {}", self.path().await);
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    pub(crate) async fn text(&self, selector: &str) -> String {
        let element = self.find(selector).await;
        self.get(&format!("element/{element}/text")).await.as_str().expect("a text").to_owned()
    }

    pub(crate) async fn value(&self, selector: &str) -> String {
        let element = self.find(selector).await;
        self.get(&format!("element/{element}/property/value")).await.as_str().expect("a value").to_owned()
    }

    pub(crate) async fn fill(&self, selector: &str, value: &str) {
        let element = self.find(selector).await;
        self.post(&format!("element/{element}/clear"), json!({})).await;
        self.post(&format!("element/{element}/value"), json!({"text": value})).await;
    }

    pub(crate) async fn press(&self, selector: &str) {
        let element = self.find(selector).await;
        self.post(&format!("element/{element}/click"), json!({})).await;
    }

    pub(crate) async fn run(&self, script: &str) -> Value {
        self.post("execute/sync", json!({"script": script, "args": []})).await
    }

    /// A theme is a cookie, as the pages' own switch sets it.
    pub(crate) async fn choose_theme(&self, origin: &str) {
        self.open(&format!("{origin}/about")).await;
        self.post("cookie", json!({"cookie": {"name": "theme", "value": self.look.theme, "path": "/"}})).await;
    }

    /// Fails when the browser logged a warning or an error since the last call: violations of the content security
    /// policy, errors in scripts, files that did not load.
    pub(crate) async fn assert_quiet(&self, page: &str) {
        let bad = self.complaints().await;
        assert!(bad.is_empty(), "{page} ({}): {bad:#?}", self.look.name());
    }

    /// The browser logs of itself that a page was refused, and nothing else.
    pub(crate) async fn assert_refused(&self, what: &str, status: u16) {
        let expected = format!("the server responded with a status of {status}");
        let complaints = self.complaints().await;
        let of = |complaint: &Value| complaint["message"].as_str().is_some_and(|message| message.contains(&expected));
        assert!(!complaints.is_empty() && complaints.iter().all(of), "{what}: {complaints:#?}");
    }

    /// Warnings and errors that the browser logged since the last call.
    async fn complaints(&self) -> Vec<Value> {
        let log = self.post("se/log", json!({"type": "browser"})).await;
        let bad = |entry: &&Value| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING"));
        log.as_array().expect("a log").iter().filter(bad).cloned().collect()
    }

    /// Whatever is wrong with the page that is open: what the browser logged, what axe finds, what is too wide.
    pub(crate) async fn faults(&self, page: &str) -> Vec<String> {
        let fault = |of: &dyn std::fmt::Display| format!("{page} ({}): {of:#}", self.look.name());
        let mut faults: Vec<String> = self.violations().await.iter().map(|found| fault(found)).collect();
        faults.extend(self.too_wide().await.map(|wide| fault(&wide)));
        faults.extend(self.complaints().await.iter().map(|logged| fault(logged)));
        faults
    }

    /// What axe's rules for WCAG 2.2 A and AA and its best practices find.
    async fn violations(&self) -> Vec<Value> {
        let axe = std::fs::read_to_string(variable("MILLRACE_TEST_AXE")).expect("axe-core");
        self.run(&axe).await;
        let script = "const done = arguments[arguments.length - 1]; \
                      axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}) \
                      .then(found => done(found.violations.map(v => ({rule: v.id, help: v.help, \
                        at: v.nodes.slice(0, 5).map(n => n.target.join(' ') + ': ' + n.failureSummary)}))), \
                        error => done([{rule: 'axe failed', help: String(error)}]));";
        let violations = self.post("execute/async", json!({"script": script, "args": []})).await;
        violations.as_array().expect("violations").clone()
    }

    /// Nothing but tables and drawings, which scroll by themselves, may be wider than the window.
    async fn too_wide(&self) -> Option<String> {
        let script = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]";
        let widths = self.run(script).await;
        let (needed, there) = (widths[0].as_u64(), widths[1].as_u64());
        (needed > there).then(|| format!("scrolls sideways: {needed:?} > {there:?}"))
    }

    /// The whole page as a picture, in `target/screenshots`.
    pub(crate) async fn photograph(&self, page: &str) {
        let size = self.post("goog/cdp/execute", json!({"cmd": "Page.getLayoutMetrics", "params": {}})).await;
        let area = &size["cssContentSize"];
        let clip = json!({"x": 0, "y": 0, "width": area["width"], "height": area["height"], "scale": 1});
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let shot = self.post("goog/cdp/execute", json!({"cmd": "Page.captureScreenshot", "params": params})).await;
        let picture = BASE64.decode(shot["data"].as_str().expect("a picture")).expect("base64");
        let folder = screenshots();
        std::fs::create_dir_all(&folder).expect("a folder for screenshots");
        std::fs::write(folder.join(format!("{page}-{}.png", self.look.name())), picture).expect("a file");
    }

    pub(crate) async fn close(self) {
        let ended = command(&self.http, Method::DELETE, &self.session, None).await;
        ended.expect("the session ends");
    }
}

fn screenshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots")
}
