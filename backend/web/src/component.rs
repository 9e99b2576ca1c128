//! States and small drawings that several pages share. One invariant: a state is shown by a shape and a word, never by
//! its colour alone.

use askama::Template;
use serde::{Deserialize, Serialize};

use crate::i18n::Msg;
use crate::links::Link;

/// How something is. Its name is the CSS class and, with `i-` before it, the icon in `components/icons.html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ok,
    /// Nothing is wrong and nothing happens.
    Idle,
    Info,
    /// It could not be found out.
    Unknown,
    Warn,
    Bad,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Idle => "idle",
            Self::Info => "info",
            Self::Unknown => "unknown",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A page's first line: what is the case, what proves it, what to do next.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) state: State,
    pub(crate) headline: Msg,
    pub(crate) details: Vec<Msg>,
}

/// A line of figures without axes. Figures that are not known leave a gap.
#[derive(Debug, Clone, Template)]
#[template(path = "components/sparkline.html")]
pub(crate) struct Sparkline {
    lines: Vec<String>,
    width: usize,
}

impl Sparkline {
    const HEIGHT: f64 = 18.0;
    const STEP: usize = 4;

    pub(crate) fn of(figures: &[Option<f64>]) -> Self {
        let top = figures.iter().flatten().copied().fold(0.0_f64, f64::max);
        let mut lines = Vec::new();
        let mut line = Vec::new();
        for (at, figure) in figures.iter().enumerate() {
            match figure {
                Some(figure) => {
                    let share = if top > 0.0 { figure / top } else { 0.0 };
                    line.push(format!("{},{:.1}", at * Self::STEP, 1.0 + Self::HEIGHT * (1.0 - share)));
                }
                None => Self::finish(&mut lines, &mut line),
            }
        }
        Self::finish(&mut lines, &mut line);
        Self { lines, width: figures.len().saturating_sub(1).max(1) * Self::STEP }
    }

    fn finish(lines: &mut Vec<String>, line: &mut Vec<String>) {
        if line.len() > 1 {
            lines.push(line.join(" "));
        }
        line.clear();
    }
}

/// A share of a whole as a bar, with the figure beside it wherever it is used.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "components/meter.html")]
pub(crate) struct Meter {
    /// 0 to 100.
    percent: u8,
    state: State,
}

impl Meter {
    /// `share` from 0 to 1; what lies outside is cut.
    pub(crate) fn of(share: f64, state: State) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to 0 to 100")]
        let percent = (share.clamp(0.0, 1.0) * 100.0).round() as u8;
        Self { percent, state }
    }

    pub(crate) fn percent(self) -> u8 {
        self.percent
    }
}

/// A column of a list that sorts.
pub(crate) struct Column {
    pub(crate) word: Msg,
    pub(crate) link: Link,
    /// −1 descending, 1 ascending, 0 not by this column.
    pub(crate) sorted: i8,
    pub(crate) class: &'static str,
}

impl Column {
    /// `sorted_by`: whether descending, where the list is sorted by this column. `link` is given the order of the next
    /// click.
    pub(crate) fn of(
        word: Msg,
        sorted_by: Option<bool>,
        largest_first: bool,
        class: &'static str,
        link: impl Fn(bool) -> Link,
    ) -> Self {
        let sorted = match sorted_by {
            None => 0,
            Some(false) => 1,
            Some(true) => -1,
        };
        let link = link(sorted_by.map_or(largest_first, |descending| !descending));
        Self { word, link, sorted, class }
    }
}

/// The name by which an enumeration's value goes over the wire, for what has no words of its own.
pub(crate) fn code(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use askama::Template;

    use super::{Meter, Sparkline, State};

    #[test]
    fn a_gap_in_the_figures_is_a_gap_in_the_line() {
        let svg = Sparkline::of(&[Some(0.0), Some(10.0), None, Some(5.0), Some(5.0)]).render().unwrap();
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        assert!(svg.contains("points=\"0,19.0 4,1.0\""), "{svg}");
        assert!(Sparkline::of(&[]).render().unwrap().contains("<svg"));
    }

    #[test]
    fn a_meter_is_cut_to_its_range() {
        assert_eq!(Meter::of(f64::NAN, State::Ok).percent(), 0);
        assert_eq!((Meter::of(-1.0, State::Ok).percent(), Meter::of(7.0, State::Ok).percent()), (0, 100));
        assert!(!Meter::of(0.5, State::Ok).render().unwrap().contains("style="));
    }
}
