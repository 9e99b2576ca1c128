//! A flow over time: one row for each send and each delivery, waiting apart from working.
//!
//! Long idle times are cut out of the axis, and every cut is shown with what it skips.

use serde::Serialize;

use super::label::Label;
use crate::flow::model::{Attempt, Flow, HopRef, MessageRef};
use crate::time::Millis;

/// Width of the time axis in pixels.
pub const AXIS: i32 = 640;
/// A cut's width; less when there are many.
const CUT: i32 = 30;
/// Idle times below this are never cut.
const LEAST_CUT_MS: i64 = 20;
/// A bar is at least this wide, so that a millisecond shows beside a minute.
const LEAST_BAR: i32 = 2;
/// Between two labels of the axis.
const TICK_GAP: i32 = 52;
/// Rows beyond this are counted, not drawn.
const MOST_ROWS: usize = 200;
/// Room for a row's title, in narrow characters.
const COLUMNS: usize = 26;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waterfall {
    pub rows: Vec<Row>,
    pub ticks: Vec<Tick>,
    pub cuts: Vec<Cut>,
    /// Width of the axis; bars lie in `0..width`.
    pub width: i32,
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    pub of: RowOf,
    /// The group; `None` where it is not known.
    pub title: Option<Label>,
    pub wait: Option<Bar>,
    /// `None`: only that it happened is known.
    pub work: Option<Bar>,
    pub kind: RowKind,
    pub worked_ms: Option<i64>,
    /// From the end of the try before to this one's begin.
    pub after_ms: Option<i64>,
    /// Number of the try, from 1; 0 for sends.
    pub number: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum RowOf {
    Sent { message: MessageRef },
    Attempt { hop: HopRef, attempt: usize },
    Dead { hop: HopRef },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    Sent,
    Ok,
    Failed,
    /// Without an end so far: the bar is open to the right.
    Open,
    Dead,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bar {
    pub x: i32,
    pub width: i32,
}

/// A labelled place of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tick {
    pub x: i32,
    /// Milliseconds since the flow began.
    pub at_ms: i64,
    /// Milliseconds since the cut before it, for places inside a stretch; `None` where a stretch begins.
    pub since_cut_ms: Option<i64>,
}

/// Idle time that is not drawn to scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cut {
    pub x: i32,
    pub width: i32,
    pub skipped_ms: i64,
}

/// A row with its times.
struct Timed {
    row: Row,
    wait_from: Option<Millis>,
    begin: Millis,
    end: Millis,
}

/// Draws `flow` over time; work without an end lasts until `now`, as far as the axis goes.
pub fn waterfall(flow: &Flow, now: Millis) -> Waterfall {
    let mut timed = rows(flow, now);
    let left_out = timed.len().saturating_sub(MOST_ROWS);
    timed.truncate(MOST_ROWS);
    let axis = Axis::of(&timed);
    let rows = timed
        .into_iter()
        .map(|timed| {
            let begin = axis.place(timed.begin);
            let wait = timed.wait_from.map(|from| axis.place(from)).filter(|from| *from < begin);
            let end = axis.place(timed.end).max(begin + LEAST_BAR);
            Row {
                wait: wait.map(|from| Bar { x: from, width: begin - from }),
                work: Some(Bar { x: begin.min(AXIS - LEAST_BAR), width: (end - begin).max(LEAST_BAR) }),
                ..timed.row
            }
        })
        .collect();
    Waterfall { rows, ticks: axis.ticks(), cuts: axis.cuts(), width: AXIS, left_out }
}

fn rows(flow: &Flow, now: Millis) -> Vec<Timed> {
    let last = flow.span.map_or(now, |span| span.end);
    let mut rows = Vec::new();
    for (place, message) in flow.messages.iter().enumerate() {
        let at = MessageRef(place);
        for sent in &message.publications {
            let row = row(RowOf::Sent { message: at }, Some(&sent.group), RowKind::Sent, Some(sent.cost), 0);
            rows.push(Timed { row, wait_from: None, begin: sent.begin, end: sent.end });
        }
        for (at, hop) in flow.hops_of(at) {
            let mut before: Option<&Attempt> = None;
            for (number, attempt) in hop.attempts.iter().enumerate() {
                let Some(begin) = attempt.begin.or(attempt.end) else { continue };
                let kind = match attempt.ok {
                    Some(true) => RowKind::Ok,
                    Some(false) => RowKind::Failed,
                    None => RowKind::Open,
                };
                let tries = attempt.retry.unwrap_or_else(|| i64::try_from(number).unwrap_or(0));
                let of = RowOf::Attempt { hop: at, attempt: number };
                let mut row = row(of, hop.group.as_deref(), kind, attempt.worked(), tries.saturating_add(1));
                row.after_ms = before.and_then(|before| before.end).map(|end| begin.since(end).max(0));
                let wait_from = hop.visible(message).filter(|_| before.is_none() && attempt.begin.is_some());
                let end = attempt.end.unwrap_or(if kind == RowKind::Open { last.max(begin) } else { begin });
                rows.push(Timed { row, wait_from, begin, end: end.max(begin) });
                before = Some(attempt);
            }
            if let Some(stored) = hop.dead_letters.iter().filter_map(|copy| copy.stored).min() {
                let row = row(RowOf::Dead { hop: at }, hop.group.as_deref(), RowKind::Dead, None, 0);
                rows.push(Timed { row, wait_from: None, begin: stored, end: stored });
            }
        }
    }
    rows
}

fn row(of: RowOf, title: Option<&str>, kind: RowKind, worked_ms: Option<i64>, number: i64) -> Row {
    let title = title.filter(|title| !title.is_empty()).map(|title| Label::fit(title, COLUMNS));
    Row { of, title, wait: None, work: None, kind, worked_ms, after_ms: None, number }
}

/// Stretches of busy time to scale, with cuts between them.
struct Axis {
    begin: Millis,
    /// Time and pixel where each stretch begins and ends.
    stretches: Vec<(Millis, Millis, i32, i32)>,
}

impl Axis {
    fn of(rows: &[Timed]) -> Self {
        let busy = union(rows.iter().map(|timed| (timed.begin, timed.end)).collect());
        let begin = busy.first().map_or(Millis(0), |(from, _)| *from);
        let worked = busy.iter().fold(0_i64, |sum, (from, to)| sum.saturating_add(to.since(*from)));
        let limit = (worked / 2).max(LEAST_CUT_MS);
        let mut stretches: Vec<(Millis, Millis)> = Vec::new();
        for (from, to) in busy {
            match stretches.last_mut() {
                Some((_, end)) if from.since(*end) <= limit => *end = to.max(*end),
                _ => stretches.push((from, to)),
            }
        }
        let total = stretches.iter().fold(0_i64, |sum, (from, to)| sum.saturating_add(to.since(*from)));
        let cuts = i32::try_from(stretches.len().saturating_sub(1)).unwrap_or(i32::MAX);
        let cut = CUT.min((AXIS / 2).checked_div(cuts).unwrap_or(CUT)).max(1);
        // Room for the shortest bars, then what is left by length.
        let least = LEAST_BAR * 4;
        let fixed = cut.saturating_mul(cuts).saturating_add(least.saturating_mul(cuts.saturating_add(1)));
        let room = i64::from((AXIS - fixed).max(0));
        let mut x = 0_i32;
        let places = stretches
            .into_iter()
            .map(|(from, to)| {
                let share = i128::from(room) * i128::from(to.since(from)) / i128::from(total.max(1));
                let right = x.saturating_add(least).saturating_add(i32::try_from(share).unwrap_or(0)).min(AXIS);
                let stretch = (from, to, x.min(AXIS), right);
                x = right.saturating_add(cut);
                stretch
            })
            .collect();
        Self { begin, stretches: places }
    }

    fn place(&self, at: Millis) -> i32 {
        let mut before: Option<(Millis, i32)> = None;
        for (from, to, left, right) in &self.stretches {
            if at < *from {
                return match before {
                    Some((end, x)) => between(at, (end, *from), (x, *left)),
                    None => *left,
                };
            }
            if at <= *to {
                return between(at, (*from, *to), (*left, *right));
            }
            before = Some((*to, *right));
        }
        before.map_or(0, |(_, x)| x)
    }

    fn cuts(&self) -> Vec<Cut> {
        let pairs = self.stretches.windows(2).filter_map(|pair| match pair {
            [(_, end, _, x), (from, _, left, _)] => Some(Cut { x: *x, width: left - x, skipped_ms: from.since(*end) }),
            _ => None,
        });
        pairs.collect()
    }

    /// The begin of each stretch, then round times inside the wide ones, where there is room for a label.
    fn ticks(&self) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = Vec::new();
        for (from, _, x, _) in &self.stretches {
            push_apart(&mut ticks, Tick { x: *x, at_ms: from.since(self.begin), since_cut_ms: None });
        }
        for (from, to, left, right) in &self.stretches {
            let parts = i64::from((right - left) / (TICK_GAP * 2)).min(5);
            let Some(step) = (to.since(*from)).checked_div(parts + 1).map(round_down).filter(|step| *step > 0) else {
                continue;
            };
            for number in 1..=parts {
                let since = step.saturating_mul(number);
                let at = from.plus(since);
                if at < *to {
                    let at_ms = at.since(self.begin);
                    let x = between(at, (*from, *to), (*left, *right));
                    push_apart(&mut ticks, Tick { x, at_ms, since_cut_ms: Some(since) });
                }
            }
        }
        ticks.sort_by_key(|tick| tick.x);
        ticks
    }
}

fn push_apart(ticks: &mut Vec<Tick>, tick: Tick) {
    if ticks.iter().all(|other| (other.x - tick.x).abs() >= TICK_GAP) && tick.x <= AXIS - TICK_GAP / 2 {
        ticks.push(tick);
    }
}

/// 1, 2 or 5 times a power of ten.
fn round_down(ms: i64) -> i64 {
    let mut power = 1_i64;
    while power.saturating_mul(10) <= ms {
        power *= 10;
    }
    [5, 2, 1].into_iter().map(|digit| power.saturating_mul(digit)).find(|round| *round <= ms).unwrap_or(0)
}

fn between(at: Millis, (from, to): (Millis, Millis), (left, right): (i32, i32)) -> i32 {
    let part = i128::from(at.since(from)) * i128::from(right - left) / i128::from(to.since(from).max(1));
    left.saturating_add(i32::try_from(part).unwrap_or(0)).clamp(left, right.max(left))
}

fn union(mut spans: Vec<(Millis, Millis)>) -> Vec<(Millis, Millis)> {
    spans.sort_unstable();
    let mut merged: Vec<(Millis, Millis)> = Vec::new();
    for (from, to) in spans {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => merged.push((from, to)),
        }
    }
    merged
}
