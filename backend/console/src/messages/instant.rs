//! A typed time becomes an instant, and says how it was read.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use millrace_core::time::Millis;
use serde::Serialize;

/// How a text was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// With its own offset.
    Iso,
    /// In the viewer's zone.
    Local,
    /// In the viewer's zone, whose clocks showed this time twice: the first was taken.
    LocalTwice,
    /// `-15m`, `-2h`, `-1d`, `now`.
    Relative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Instant {
    pub at: Millis,
    pub read_as: ReadAs,
    /// What was typed is finer than a millisecond: the rest was cut off.
    pub cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstantError {
    #[error("neither a date and time nor a number of seconds, milliseconds, microseconds or nanoseconds since 1970")]
    NotATime,
    #[error("not between the years 1970 and 9999")]
    OutOfRange,
    #[error("the clocks of the time zone skipped this time")]
    Skipped,
}

impl InstantError {
    pub fn code(self) -> &'static str {
        match self {
            Self::NotATime => "time-unreadable",
            Self::OutOfRange => "time-out-of-range",
            Self::Skipped => "time-skipped",
        }
    }
}

/// 9999-12-31T23:59:59.999Z
const LAST: i64 = 253_402_300_799_999;

impl Instant {
    /// Reads ISO 8601 with or without an offset, a number since 1970 whose unit its length tells, or a time ago.
    pub fn parse(text: &str, zone: &TimeZone, now: Millis) -> Result<Self, InstantError> {
        let text = text.trim();
        let instant = if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            number(text)?
        } else if let Some(relative) = relative(text, now) {
            relative?
        } else {
            iso(text, zone)?
        };
        if (0..=LAST).contains(&instant.at.0) { Ok(instant) } else { Err(InstantError::OutOfRange) }
    }
}

fn number(text: &str) -> Result<Instant, InstantError> {
    let value: i128 = text.parse().map_err(|_| InstantError::OutOfRange)?;
    let (millis, read_as, cut) = match text.trim_start_matches('0').len() {
        // A year, a month and a day without dashes, or some count: no time is meant.
        0..=8 => return Err(InstantError::NotATime),
        9..=11 => (value * 1000, ReadAs::Seconds, false),
        12..=14 => (value, ReadAs::Milliseconds, false),
        15..=17 => (value / 1000, ReadAs::Microseconds, value % 1000 != 0),
        18..=20 => (value / 1_000_000, ReadAs::Nanoseconds, value % 1_000_000 != 0),
        _ => return Err(InstantError::OutOfRange),
    };
    let at = i64::try_from(millis).map_err(|_| InstantError::OutOfRange)?;
    Ok(Instant { at: Millis(at), read_as, cut })
}

fn relative(text: &str, now: Millis) -> Option<Result<Instant, InstantError>> {
    let back = if text.eq_ignore_ascii_case("now") {
        0
    } else {
        let ago = text.strip_prefix('-')?;
        let unit = match ago.chars().last()? {
            's' => 1000,
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            _ => return None,
        };
        let count: i64 = ago.get(..ago.len() - 1)?.trim().parse().ok()?;
        match count.checked_mul(unit) {
            Some(back) if count >= 0 => back,
            _ => return Some(Err(InstantError::OutOfRange)),
        }
    };
    Some(Ok(Instant { at: now.plus(-back), read_as: ReadAs::Relative, cut: false }))
}

fn iso(text: &str, zone: &TimeZone) -> Result<Instant, InstantError> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(of_timestamp(at, ReadAs::Iso));
    }
    let civil = text
        .parse::<DateTime>()
        .or_else(|_| text.parse::<jiff::civil::Date>().map(|date| date.at(0, 0, 0, 0)))
        .map_err(|_| InstantError::NotATime)?;
    let ambiguous = zone.to_ambiguous_timestamp(civil);
    let read_as = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => ReadAs::Local,
        AmbiguousOffset::Fold { .. } => ReadAs::LocalTwice,
        AmbiguousOffset::Gap { .. } => return Err(InstantError::Skipped),
    };
    let at = ambiguous.earlier().map_err(|_| InstantError::OutOfRange)?;
    Ok(of_timestamp(at, read_as))
}

fn of_timestamp(at: Timestamp, read_as: ReadAs) -> Instant {
    let since: SignedDuration = at.as_duration();
    let cut = since.subsec_nanos() % 1_000_000 != 0;
    Instant { at: Millis(at.as_millisecond()), read_as, cut }
}

#[cfg(test)]
mod tests {
    use super::{Instant, InstantError, ReadAs};
    use jiff::tz::TimeZone;
    use millrace_core::time::Millis;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn read(text: &str, zone: &str) -> Result<(i64, ReadAs), InstantError> {
        let zone = TimeZone::get(zone).expect("a zone of the bundled data");
        Instant::parse(text, &zone, NOW).map(|instant| (instant.at.0, instant.read_as))
    }

    #[test]
    fn one_instant_in_every_writing() {
        let at = 1_764_568_800_123;
        for (text, read_as) in [
            ("1764568800123", ReadAs::Milliseconds),
            ("1764568800123000", ReadAs::Microseconds),
            ("1764568800123000000", ReadAs::Nanoseconds),
            ("2025-12-01T06:00:00.123Z", ReadAs::Iso),
            ("2025-12-01T14:00:00.123+08:00", ReadAs::Iso),
            ("2025-12-01 14:00:00.123", ReadAs::Local),
            ("2025-12-01T14:00:00.123", ReadAs::Local),
        ] {
            assert_eq!(read(text, "Asia/Shanghai"), Ok((at, read_as)), "{text}");
        }
        assert_eq!(read(" 1764568800 ", "UTC"), Ok((1_764_568_800_000, ReadAs::Seconds)));
        assert_eq!(read("2025-12-01T14:00", "Asia/Shanghai"), Ok((1_764_568_800_000, ReadAs::Local)));
        assert_eq!(read("-15m", "UTC"), Ok((NOW.0 - 900_000, ReadAs::Relative)));
    }

    #[test]
    fn finer_than_a_millisecond_is_cut_and_said() {
        let cut = |text| Instant::parse(text, &TimeZone::UTC, NOW).map(|instant| instant.cut);
        assert_eq!(cut("1764568800123456"), Ok(true));
        assert_eq!(cut("1764568800123000"), Ok(false));
    }

    #[test]
    fn clocks_that_change() {
        // On 2026-03-08 New York's clocks went from 02:00 to 03:00, on 2026-11-01 from 02:00 back to 01:00.
        assert_eq!(read("2026-03-08T02:30", "America/New_York"), Err(InstantError::Skipped));
        let (first, read_as) = read("2026-11-01T01:30", "America/New_York").expect("it was shown twice");
        assert_eq!(read_as, ReadAs::LocalTwice);
        assert_eq!(read("2026-11-01T01:30-04:00", "UTC").map(|(at, _)| at), Ok(first));
    }

    #[test]
    fn a_clear_refusal() {
        for text in ["", "yesterday", "42", "20251201", "2025-13-01", "-", "-5y", "12:00"] {
            assert_eq!(read(text, "UTC"), Err(InstantError::NotATime), "{text}");
        }
        assert_eq!(read("99999999999999999999999", "UTC"), Err(InstantError::OutOfRange));
        assert_eq!(read("1960-01-01T00:00:00Z", "UTC"), Err(InstantError::OutOfRange));
    }
}
