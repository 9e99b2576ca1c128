//! A broker's own figures and its configuration.

use std::collections::BTreeMap;

use millrace_broker::{BrokerRuntime, Result};
use millrace_core::time::Millis;

use super::{Link, now};
use crate::json::Json;
use crate::remoting::{Request, RequestCode};

impl Link {
    pub(super) async fn ask_runtime(&self, broker: &str) -> Result<BrokerRuntime> {
        let asked = now();
        let reply = self.ask(broker, &Request::new(RequestCode::BrokerRuntimeInfo)).await?;
        let answered = now();
        let reply = reply.success(|| format!("figures of {broker}"))?;
        let json = reply.json()?;
        let table = json.get("table").map(Json::entries).unwrap_or_default();
        let raw = table.iter().filter_map(|(name, value)| Some((name.text()?.to_owned(), text(value)?))).collect();
        Ok(read_runtime(raw, Millis(asked.0.midpoint(answered.0))))
    }

    pub(super) async fn ask_config(&self, broker: &str) -> Result<BTreeMap<String, String>> {
        let reply = self.ask(broker, &Request::new(RequestCode::BrokerConfig)).await?;
        let reply = reply.success(|| format!("configuration of {broker}"))?;
        Ok(read_config(&String::from_utf8_lossy(&reply.body)))
    }
}

fn text(value: &Json) -> Option<String> {
    match value {
        Json::Text(text) | Json::Number(text) => Some(text.clone()),
        Json::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// `at` is our time half-way through the call.
fn read_runtime(raw: BTreeMap<String, String>, at: Millis) -> BrokerRuntime {
    // "12.3 11.0 10.9": over the last ten seconds, minute and ten minutes.
    let first = |name: &str| raw.get(name)?.split_ascii_whitespace().next()?.parse().ok();
    let boot = raw.get("bootTimestamp").and_then(|text| text.parse().ok()).filter(|ms| *ms > 0).map(Millis);
    let up = raw.get("runtime").and_then(|text| uptime_ms(text));
    // The broker tells no time of day, but since when it runs and for how long, in whole seconds: the middle of that
    // second is off by half a second at most.
    let clock_offset_ms = boot.zip(up).map(|(boot, up)| boot.plus(up + 500).since(at));
    BrokerRuntime {
        version: raw.get("brokerVersionDesc").cloned(),
        put_per_second: first("putTps"),
        get_per_second: first("getTransferredTps").or_else(|| first("getTransferedTps")),
        boot,
        disk_used: first("commitLogDiskRatio").filter(|share: &f64| (0.0..=1.0).contains(share)),
        clock_offset_ms,
        raw,
    }
}

/// `[ 0 days, 1 hours, 2 minutes, 3 seconds. ]` in milliseconds.
fn uptime_ms(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut total = 0_i64;
    let mut seen = false;
    for pair in words.chunks_exact(2) {
        let [number, unit] = pair else { continue };
        let unit_ms = match *unit {
            "days" => 86_400_000,
            "hours" => 3_600_000,
            "minutes" => 60_000,
            "seconds" => 1_000,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(unit_ms)?)?;
        seen |= *unit == "seconds";
    }
    seen.then_some(total)
}

/// Lines of `key=value`.
fn read_config(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(['=', ':']));
    pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use millrace_core::time::Millis;

    use super::{read_config, read_runtime, uptime_ms};

    fn table(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_a_broker_does_not_tell_is_absent() {
        let runtime = read_runtime(BTreeMap::new(), Millis(0));
        assert_eq!((runtime.put_per_second, runtime.disk_used, runtime.clock_offset_ms), (None, None, None));
        let runtime = read_runtime(table(&[("commitLogDiskRatio", "-1"), ("putTps", "x")]), Millis(0));
        assert_eq!((runtime.put_per_second, runtime.disk_used), (None, None));
    }

    #[test]
    fn the_broker_clock_follows_from_its_start_and_its_uptime() {
        let told = table(&[
            ("bootTimestamp", "1700000000000"),
            ("runtime", "[ 0 days, 0 hours, 1 minutes, 40 seconds. ]"),
            ("putTps", "12.5 11.0 10.9"),
        ]);
        let runtime = read_runtime(told, Millis(1_700_000_095_000));
        assert_eq!(runtime.clock_offset_ms, Some(5_500));
        assert_eq!(runtime.put_per_second, Some(12.5));
        assert_eq!(uptime_ms("[ 2 days, 1 hours, 0 minutes, 3 seconds. ]"), Some(176_403_000));
        assert_eq!(uptime_ms("a while"), None);
    }

    #[test]
    fn configuration_lines_split_at_the_first_separator_of_either_broker() {
        let config = read_config("brokerName=broker-a\n#note\nnamesrvAddr=a:1;b:2\nexpression=a=b\n\n");
        assert_eq!(config.get("expression").map(String::as_str), Some("a=b"));
        assert_eq!(config.get("namesrvAddr").map(String::as_str), Some("a:1;b:2"));
        assert_eq!(config.len(), 3);
        let embedded = read_config("brokerName:embedded-a\nnamesrvAddr:127.0.0.1:9876\nempty:\n");
        assert_eq!(embedded.get("namesrvAddr").map(String::as_str), Some("127.0.0.1:9876"));
        assert_eq!(embedded.len(), 3);
    }
}
