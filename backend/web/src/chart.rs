//! A figure over time, drawn: a line with its scale and its times. A step that was not recorded is a gap.

use askama::Template;
use millrace_core::time::Millis;

use crate::format::{self, Zone};
use crate::i18n::{Locale, Msg};
use crate::links::Link;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Count,
    PerSecond,
    /// Milliseconds.
    Duration,
    /// 0 to 1.
    Share,
}

impl Unit {
    pub(crate) fn shown(self, figure: f64, locale: Locale) -> String {
        #[expect(clippy::cast_possible_truncation, reason = "rounded; what an i64 does not hold is cut to its ends")]
        let whole = figure.round() as i64;
        match self {
            Self::Count => format::grouped(whole),
            Self::PerSecond => Msg::new("unit-per-second").with("n", format::decimal(figure)).text(locale),
            Self::Duration => format::duration(whole, locale),
            Self::Share => format!("{} %", format::decimal(figure * 100.0)),
        }
    }

    /// A scale's end that is easy to read, at `most` or above.
    fn top(self, most: f64) -> f64 {
        const SECOND: f64 = 1_000.0;
        const HOUR: f64 = 3_600.0 * SECOND;
        const DURATIONS: [f64; 12] = [
            SECOND,
            10.0 * SECOND,
            60.0 * SECOND,
            600.0 * SECOND,
            1_800.0 * SECOND,
            HOUR,
            2.0 * HOUR,
            6.0 * HOUR,
            12.0 * HOUR,
            24.0 * HOUR,
            48.0 * HOUR,
            168.0 * HOUR,
        ];
        match self {
            Self::Share => 1.0,
            Self::Duration => DURATIONS.into_iter().find(|top| *top >= most).unwrap_or(most),
            Self::Count => round_up(most).max(2.0),
            Self::PerSecond => round_up(most).max(0.1),
        }
    }
}

/// The next of 1, 2, 5, 10, 20, 50…
fn round_up(most: f64) -> f64 {
    if most <= 0.0 || !most.is_finite() {
        return 0.0;
    }
    let power = 10.0_f64.powf(most.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|step| step * power).find(|top| *top >= most).unwrap_or(10.0 * power)
}

/// What a chart is drawn from.
pub(crate) struct Figures<'a> {
    pub(crate) title: Msg,
    pub(crate) unit: Unit,
    pub(crate) from: Millis,
    /// Milliseconds.
    pub(crate) step: i64,
    pub(crate) values: &'a [Option<f64>],
}

/// Drawn in a box that the page stretches: 100 high, a unit a step wide.
#[derive(Debug, Template)]
#[template(path = "components/chart.html")]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The latest, and the most with its time; empty where nothing was recorded.
    said: String,
    top: String,
    middle: String,
    zero: String,
    times: Vec<String>,
    width: usize,
    lines: Vec<String>,
    spots: Vec<Spot>,
}

/// One step: what is shown over it, and where it leads.
#[derive(Debug)]
struct Spot {
    at: usize,
    title: String,
    link: Link,
}

impl Chart {
    /// `link` leads to what was at that moment.
    pub(crate) fn of(figures: &Figures<'_>, zone: &Zone, locale: Locale, link: impl Fn(Millis) -> Link) -> Self {
        let unit = figures.unit;
        let known = || figures.values.iter().enumerate().filter_map(|(place, figure)| Some((place, (*figure)?)));
        let most = known().max_by(|a, b| a.1.total_cmp(&b.1));
        let top = unit.top(most.map_or(0.0, |(_, most)| most));
        let at = |place: usize| figures.from.plus(i64::try_from(place).unwrap_or(0).saturating_mul(figures.step));
        let short = |at: Millis| zone.short(at, figures.step);
        let said = match (known().next_back(), most) {
            (Some((_, last)), Some((place, most))) => Msg::new("history-said")
                .with("last", unit.shown(last, locale))
                .with("most", unit.shown(most, locale))
                .with("at", short(at(place)))
                .text(locale),
            _ => Msg::new("history-none").text(locale),
        };
        let spots = known()
            .map(|(place, figure)| Spot {
                at: place,
                title: format!("{} · {}", short(at(place)), unit.shown(figure, locale)),
                link: link(at(place)),
            })
            .collect();
        let steps = figures.values.len();
        Self {
            title: figures.title.text(locale),
            said,
            top: unit.shown(top, locale),
            middle: match unit {
                Unit::Count if top < 10.0 => format::decimal(top / 2.0),
                _ => unit.shown(top / 2.0, locale),
            },
            zero: unit.shown(0.0, locale),
            times: (0..=4).map(|part| short(at(steps * part / 4))).collect(),
            width: steps.max(1),
            lines: lines(figures.values, top),
            spots,
        }
    }
}

/// Points of unbroken lines. A point between two gaps is a short line, or nobody would see it.
fn lines(figures: &[Option<f64>], top: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line: Vec<(usize, f64)> = Vec::new();
    let mut finish = |line: &mut Vec<(usize, f64)>| {
        let mut drawn: Vec<String> = line.iter().map(|(x, y)| format!("{x}.5,{y:.1}")).collect();
        if let [(x, y)] = line[..] {
            drawn = vec![format!("{x}.1,{y:.1}"), format!("{x}.9,{y:.1}")];
        }
        if !drawn.is_empty() {
            lines.push(drawn.join(" "));
        }
        line.clear();
    };
    for (place, figure) in figures.iter().enumerate() {
        match figure {
            Some(figure) => line.push((place, 100.0 - 100.0 * (figure / top).clamp(0.0, 1.0))),
            None => finish(&mut line),
        }
    }
    finish(&mut line);
    lines
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use askama::Template;
    use millrace_core::time::Millis;

    use super::{Chart, Figures, Unit, round_up};
    use crate::format::Zone;
    use crate::i18n::{Locale, Msg};
    use crate::links;

    fn chart(figures: &[Option<f64>], unit: Unit) -> String {
        let figures =
            Figures { title: Msg::new("history-lag"), unit, from: Millis(36_000_000), step: 600_000, values: figures };
        let chart = Chart::of(&figures, &Zone::default(), Locale::En, |_| links::clusters());
        chart.render().unwrap()
    }

    #[test]
    fn a_gap_is_a_gap_and_a_lone_point_is_seen() {
        let drawn = chart(&[Some(0.0), Some(150.0), None, Some(100.0), None, None, None, None], Unit::Count);
        assert!(drawn.contains(r#"points="0.5,100.0 1.5,25.0""#), "{drawn}");
        assert!(drawn.contains(r#"points="3.1,50.0 3.9,50.0""#), "{drawn}");
        assert_eq!(drawn.matches("<polyline").count(), 2);
        assert!(drawn.contains("10:10 · 150"), "{drawn}");
        assert!(drawn.contains("<span>10:00</span>") && drawn.contains("<span>11:20</span>"), "{drawn}");
        let empty = chart(&[None, None], Unit::Duration);
        assert!(empty.contains("Nothing was recorded") && !empty.contains("<polyline"), "{empty}");
    }

    #[test]
    fn a_scale_ends_at_a_number_that_is_easy_to_read() {
        for (most, top) in [(0.0, 0.0), (0.3, 0.5), (1.0, 1.0), (7.0, 10.0), (150.0, 200.0), (5_001.0, 10_000.0)] {
            assert!((round_up(most) - top).abs() < 1e-9, "{most}: {}", round_up(most));
        }
        assert!((Unit::Count.top(0.0) - 2.0).abs() < 1e-9);
        assert!((Unit::Duration.top(61_000.0) - 600_000.0).abs() < 1e-9);
    }
}
