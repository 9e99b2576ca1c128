//! The waterfall with its words.

use millrace_core::flow::picture::waterfall::{Bar, Cut, RowKind, RowOf, Tick, Waterfall};
use millrace_core::flow::{Flow, waterfall};

use super::Reader;
use crate::i18n::Msg;

/// Where the axis begins: the names stand left of it.
const LEFT: i32 = 218;
const TOP: i32 = 24;
const ROW: i32 = 26;
const BAR: i32 = 12;
/// Room right of the axis for a bar's time.
const RIGHT: i32 = 56;

pub(crate) struct Timeline {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) rows: Vec<TimelineRow>,
    pub(crate) ticks: Vec<(i32, String)>,
    pub(crate) cuts: Vec<TimelineCut>,
    pub(crate) bottom: i32,
    pub(crate) left_out: usize,
}

pub(crate) struct TimelineRow {
    pub(crate) name: String,
    pub(crate) full: String,
    pub(crate) y: i32,
    pub(crate) wait: Option<Bar>,
    pub(crate) work: Option<Bar>,
    pub(crate) class: &'static str,
    pub(crate) time: String,
    pub(crate) time_x: i32,
    pub(crate) dead: bool,
}

impl TimelineRow {
    pub(crate) fn text_y(&self) -> i32 {
        self.y + BAR - 2
    }
}

pub(crate) struct TimelineCut {
    pub(crate) x: i32,
    pub(crate) width: i32,
    pub(crate) middle: i32,
    pub(crate) skipped: String,
}

pub(crate) fn draw(flow: &Flow, reader: &Reader<'_>) -> Timeline {
    let Waterfall { rows, ticks, cuts, width, left_out } = waterfall(flow, reader.now());
    let height = TOP + ROW * i32::try_from(rows.len()).unwrap_or(i32::MAX / ROW / 2) + 8;
    let rows = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let y = TOP + 6 + ROW * i32::try_from(place).unwrap_or(0);
            let shift = |bar: Bar| Bar { x: bar.x + LEFT, ..bar };
            let work = row.work.map(shift);
            let group = row
                .title
                .as_ref()
                .map_or_else(|| reader.say(&Msg::new("record-unnamed-group")), |title| title.full.clone());
            let short = row.title.as_ref().map_or_else(|| group.clone(), |title| title.short.clone());
            let mut time = row.worked_ms.map(|ms| reader.duration(ms)).unwrap_or_default();
            if row.kind == RowKind::Open {
                time = format!("{time} …");
            }
            TimelineRow {
                name: name(&short, row.number, row.of, reader),
                full: match row.after_ms {
                    Some(after) => reader.say(
                        &Msg::new("record-row-after")
                            .with("name", &group)
                            .with("n", row.number)
                            .with("after", reader.duration(after)),
                    ),
                    None => group,
                },
                y,
                wait: row.wait.map(shift),
                work,
                class: match row.kind {
                    RowKind::Sent | RowKind::Ok => "k",
                    RowKind::Failed | RowKind::Dead => "kb",
                    RowKind::Open => "k open",
                },
                time_x: work.map_or(LEFT, |bar| bar.x + bar.width) + 6,
                time,
                dead: row.kind == RowKind::Dead,
            }
        })
        .collect();
    Timeline {
        width: LEFT + width + RIGHT,
        height,
        rows,
        ticks: ticks.iter().map(|tick| (tick.x + LEFT, label(tick, reader))).collect(),
        cuts: cuts.iter().map(|cut| of_cut(cut, reader)).collect(),
        bottom: height - 4,
        left_out,
    }
}

fn name(short: &str, number: i64, of: RowOf, reader: &Reader<'_>) -> String {
    match of {
        RowOf::Sent { .. } => reader.say(&Msg::new("record-row-sent").with("name", short)),
        RowOf::Attempt { .. } if number > 1 => {
            reader.say(&Msg::new("record-row-try").with("name", short).with("n", number))
        }
        RowOf::Attempt { .. } => short.to_owned(),
        RowOf::Dead { .. } => reader.say(&Msg::new("record-row-dead").with("name", short)),
    }
}

/// Beyond a cut the time since the cut tells more than the time since the begin.
fn label(tick: &Tick, reader: &Reader<'_>) -> String {
    match tick.since_cut_ms {
        Some(since) if since < tick.at_ms => format!("+{}", reader.duration(since)),
        _ => reader.duration(tick.at_ms),
    }
}

fn of_cut(cut: &Cut, reader: &Reader<'_>) -> TimelineCut {
    TimelineCut {
        x: cut.x + LEFT,
        width: cut.width,
        middle: cut.x + LEFT + cut.width / 2,
        skipped: reader.say(&Msg::new("record-cut").with("skipped", reader.duration(cut.skipped_ms))),
    }
}
