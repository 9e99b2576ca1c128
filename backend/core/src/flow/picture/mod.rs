//! A flow as a drawing: operators and topics in layers from left to right, and what passed between them.
//!
//! Pure geometry in whole pixels: pages give it words and colours. Equal flows give equal drawings.

mod coordinates;
mod graph;
mod label;
mod layers;
#[cfg(test)]
mod tests;
pub mod waterfall;

use serde::Serialize;

use super::model::{Flow, HopRef, MessageRef};
pub use label::Label;

/// A drawing more than this many nodes large is not read by anybody; the rest is counted in [`Picture::left_out`].
pub const MOST_NODES: usize = 240;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Picture {
    pub width: i32,
    pub height: i32,
    /// By layer, then from top to bottom.
    pub nodes: Vec<Node>,
    pub paths: Vec<Path>,
    /// Messages that were not drawn.
    pub left_out: usize,
}

/// A box. Its second line is the page's to write, from what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    pub of: Drawn,
    pub look: Look,
    /// `None`: the name is not known.
    pub title: Option<Label>,
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "of", content = "at", rename_all = "snake_case")]
pub enum Drawn {
    /// Whoever sent the message, where no hop of the flow did.
    Source(MessageRef),
    /// The message in its topic.
    Topic(MessageRef),
    /// The group that consumes it.
    Operator(HopRef),
    /// The group's dead-letter topic with the copy.
    DeadLetter(HopRef),
}

/// How a box looks; pages pair each with a sign and a word, never colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    Good,
    /// At work, or waiting for its turn.
    Busy,
    /// Will be tried again.
    Warn,
    Bad,
    /// Not known, or not expected.
    Idle,
    /// A topic: neither good nor bad.
    Plain,
}

/// A line between two boxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Places in [`Picture::nodes`].
    pub from: usize,
    pub to: usize,
    pub passage: Passage,
    /// One of several candidates, or a guess.
    pub dotted: bool,
    /// From box to box, through free space in the layers between.
    pub points: Vec<(i32, i32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    Done,
    Failed,
    /// Not yet, or not known.
    Open,
}

impl Path {
    /// The value of an SVG path's `d`: smooth from left to right.
    pub fn svg(&self) -> String {
        let Some((x, y)) = self.points.first() else { return String::new() };
        let curves = self.points.windows(2).filter_map(|pair| match pair {
            [(px, py), (x, y)] => {
                let middle = px + (x - px) / 2;
                Some(format!(" C{middle} {py} {middle} {y} {x} {y}"))
            }
            _ => None,
        });
        std::iter::once(format!("M{x} {y}")).chain(curves).collect()
    }
}

/// Draws `flow`.
pub fn picture(flow: &Flow) -> Picture {
    let mut graph = graph::Graph::of(flow);
    layers::layer(&mut graph);
    layers::order(&mut graph);
    coordinates::draw(graph)
}
