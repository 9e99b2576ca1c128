//! Numbers, sizes, durations and instants as people read them. One invariant: nothing is rounded to zero or invented;
//! what cannot be shown as an instant is shown as the number that it is.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use millrace_core::time::Millis;

use crate::i18n::{Locale, Msg};

/// `1204` as `1,204`: both languages group thousands with a comma.
pub(crate) fn grouped(number: i64) -> String {
    group(&number.unsigned_abs().to_string(), number < 0)
}

fn group(digits: &str, negative: bool) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if negative {
        text.push('−');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Two digits that matter below 10, one below 100, whole above: `0.34`, `3.4`, `41`, `1,204`.
pub(crate) fn decimal(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() {
        return "–".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if size < 0.01 {
        return "<0.01".to_owned();
    }
    if size < 1.0 {
        return trimmed(&format!("{number:.2}"));
    }
    if size < 10.0 {
        return trimmed(&format!("{number:.1}"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and no rate comes near")]
    grouped(number.round() as i64)
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Bytes in powers of 1024, with the unit written.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let mut size = count as f64;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    while size >= 1024.0
        && let Some(next) = units.next()
    {
        size /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", decimal(size))
}

/// The two largest units of a duration: `12 ms`, `1.2 s`, `41 s`, `5 min 3 s`, `2 h 5 min`, `3 d 4 h`.
pub(crate) fn duration(ms: i64, locale: Locale) -> String {
    let sign = if ms < 0 { "−" } else { "" };
    let ms = ms.unsigned_abs();
    let seconds = ms / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let tenths = || Msg::new("unit-seconds").with("n", trimmed(&format!("{seconds}.{}", ms % 1000 / 100)));
    let of_seconds = |n: u64| Msg::new("unit-seconds").with("n", n);
    let of_minutes = |n: u64| Msg::new("unit-minutes").with("n", n);
    let of_hours = |n: u64| Msg::new("unit-hours").with("n", n);
    let unless_zero = |n: u64, msg: Msg| (n > 0).then_some(msg);
    let (first, second) = match ms {
        0..1_000 => (Msg::new("unit-milliseconds").with("n", ms), None),
        1_000..10_000 => (tenths(), None),
        10_000..60_000 => (of_seconds(seconds), None),
        60_000..3_600_000 => (of_minutes(minutes), unless_zero(seconds % 60, of_seconds(seconds % 60))),
        3_600_000..86_400_000 => (of_hours(hours), unless_zero(minutes % 60, of_minutes(minutes % 60))),
        _ => (Msg::new("unit-days").with("n", days), unless_zero(hours % 24, of_hours(hours % 24))),
    };
    let mut text = format!("{sign}{}", first.text(locale));
    if let Some(second) = second {
        text.push(' ');
        text.push_str(&second.text(locale));
    }
    text
}

/// The viewer's time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// IANA name.
    name: String,
    zone: TimeZone,
}

impl Default for Zone {
    fn default() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }
}

impl Zone {
    /// `None` for a name that the zone data does not know.
    pub fn parse(name: &str) -> Option<Self> {
        if matches!(name, "UTC" | "Etc/UTC" | "GMT") {
            return Some(Self::default());
        }
        let zone = TimeZone::get(name).ok()?;
        Some(Self { name: zone.iana_name()?.to_owned(), zone })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// For reading what the viewer types.
    pub(crate) fn time_zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The offset at `at`, as `UTC+8` or `UTC−3:30`.
    pub fn offset(&self, at: Millis) -> String {
        let Ok(stamp) = Timestamp::from_millisecond(at.0) else { return "UTC".to_owned() };
        let seconds = self.zone.to_offset(stamp).seconds();
        let (hours, minutes) = (seconds.unsigned_abs() / 3600, seconds.unsigned_abs() / 60 % 60);
        let sign = if seconds < 0 { '−' } else { '+' };
        match (hours, minutes) {
            (0, 0) => "UTC".to_owned(),
            (hours, 0) => format!("UTC{sign}{hours}"),
            (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
        }
    }

    /// `2026-12-01 13:50:10.004`.
    pub fn date_time(&self, at: Millis) -> String {
        self.shown(at, "%Y-%m-%d %H:%M:%S%.3f")
    }

    /// `13:50:10.004`.
    pub fn clock(&self, at: Millis) -> String {
        self.shown(at, "%H:%M:%S%.3f")
    }

    /// `2026-12-01 13:50`, as it can be typed again.
    pub(crate) fn minute(&self, at: Millis) -> String {
        self.shown(at, "%Y-%m-%d %H:%M")
    }

    /// As much as tells steps of so many milliseconds apart: `13:50`, `12-01 13:00`, `12-01`.
    pub(crate) fn short(&self, at: Millis, step: i64) -> String {
        self.shown(
            at,
            match step {
                ..3_600_000 => "%H:%M",
                3_600_000..86_400_000 => "%m-%d %H:%M",
                _ => "%m-%d",
            },
        )
    }

    /// RFC 3339, in UTC, for machines.
    pub fn machine(at: Millis) -> Option<String> {
        Timestamp::from_millisecond(at.0).ok().map(|stamp| stamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
    }

    fn shown(&self, at: Millis, pattern: &str) -> String {
        match Timestamp::from_millisecond(at.0) {
            Ok(stamp) => stamp.to_zoned_datetime(self.zone.clone()).strftime(pattern).to_string(),
            Err(_) => at.0.to_string(),
        }
    }
}

/// How long ago `at` was, in words.
pub(crate) fn ago(at: Millis, now: Millis, locale: Locale) -> String {
    let past = now.since(at);
    let msg = match past {
        i64::MIN..-1_999 => Msg::new("unit-in").with("duration", duration(past.saturating_neg(), locale)),
        -1_999..2_000 => Msg::new("unit-just-now"),
        _ => Msg::new("unit-ago").with("duration", duration(past - past % 1_000, locale)),
    };
    msg.text(locale)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use millrace_core::time::Millis;

    use super::{Zone, ago, bytes, decimal, duration, grouped};
    use crate::i18n::Locale;

    #[test]
    fn numbers_keep_every_digit() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_204), "1,204");
        assert_eq!(grouped(-12_345_678), "−12,345,678");
        assert_eq!(grouped(i64::MIN), "−9,223,372,036,854,775,808");
        assert_eq!(decimal(0.004), "<0.01");
        assert_eq!(
            (decimal(0.34), decimal(3.4), decimal(41.2), decimal(3.0)),
            ("0.34".into(), "3.4".into(), "41".into(), "3".into())
        );
        assert_eq!(
            (bytes(0), bytes(1023), bytes(1536), bytes(5 << 40)),
            ("0 B".into(), "1,023 B".into(), "1.5 KiB".into(), "5 TiB".into())
        );
    }

    #[test]
    fn durations_name_two_units() {
        let english = |ms| duration(ms, Locale::En);
        assert_eq!(english(12), "12 ms");
        assert_eq!(english(1_234), "1.2 s");
        assert_eq!(english(41_900), "41 s");
        assert_eq!(english(303_000), "5 min 3 s");
        assert_eq!(english(300_000), "5 min");
        assert_eq!(english(7_500_000), "2 h 5 min");
        assert_eq!(english(-12), "−12 ms");
        assert_eq!(duration(303_000, Locale::ZhCn), "5 分 3 秒");
    }

    #[test]
    fn instants_are_shown_in_the_viewer_s_zone() {
        let at = Millis(1_796_104_210_004);
        assert_eq!(Zone::default().date_time(at), "2026-12-01 05:50:10.004");
        let shanghai = Zone::parse("Asia/Shanghai").unwrap();
        assert_eq!(shanghai.date_time(at), "2026-12-01 13:50:10.004");
        assert_eq!(shanghai.offset(at), "UTC+8");
        assert_eq!(Zone::parse("America/St_Johns").unwrap().offset(at), "UTC−3:30");
        assert_eq!(Zone::machine(at).unwrap(), "2026-12-01T05:50:10.004Z");
        assert_eq!(Zone::parse("Nowhere/At_All"), None);
        assert_eq!(Zone::default().date_time(Millis(i64::MAX)), i64::MAX.to_string());
    }

    #[test]
    fn ages_are_told_in_words() {
        let now = Millis(1_000_000);
        assert_eq!(ago(Millis(999_500), now, Locale::En), "just now");
        assert_eq!(ago(Millis(959_000), now, Locale::En), "41 s ago");
        assert_eq!(ago(Millis(959_000), now, Locale::ZhCn), "41 秒前");
        assert_eq!(ago(Millis(1_005_000), now, Locale::En), "in 5 s");
    }
}
