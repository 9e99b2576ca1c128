//! Places in pixels: layers side by side, and in each layer every slot as near to the middle of its neighbours as the
//! order and the gaps allow.

use std::collections::BTreeMap;

use super::graph::{Arc, Graph, Slot};
use super::layers::neighbours;
use super::{Node, Path, Picture};

const MARGIN: i32 = 12;
/// Between two layers.
const GAP_X: i32 = 36;
/// Between two boxes of a layer.
const GAP_Y: i32 = 16;
/// Height that a passing line takes.
const PASS: i32 = 14;
/// Rounds of pulling slots towards their neighbours.
const ROUNDS: usize = 8;

/// The finished drawing.
pub(super) fn draw(graph: Graph) -> Picture {
    let centres = centres(&graph);
    let lefts = lefts(&graph);
    let mut nodes = Vec::new();
    let mut place_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut passes: BTreeMap<usize, Vec<(i32, i32)>> = BTreeMap::new();
    let Graph { boxes, arcs, layers, left_out } = graph;
    let mut boxes: Vec<Option<super::graph::Box>> = boxes.into_iter().map(Some).collect();
    for ((slots, centres), (left, width)) in layers.iter().zip(&centres).zip(&lefts) {
        for (slot, centre) in slots.iter().zip(centres) {
            match slot {
                Slot::Box(place) => {
                    let Some(b) = boxes.get_mut(*place).and_then(Option::take) else { continue };
                    place_of.insert(*place, nodes.len());
                    let (x, y) = (*left, centre - b.height / 2);
                    nodes.push(Node { of: b.of, look: b.look, title: b.title, x, y, width: b.width, height: b.height });
                }
                Slot::Pass { arc } => {
                    passes.entry(*arc).or_default().extend([(*left, *centre), (left + width, *centre)]);
                }
            }
        }
    }
    let paths = arcs
        .iter()
        .enumerate()
        .filter_map(|(number, arc)| path(arc, &nodes, &place_of, passes.get(&number).map_or(&[], Vec::as_slice)))
        .collect();
    let width = nodes.iter().map(|node| node.x + node.width).max().unwrap_or(0) + MARGIN;
    let height = nodes.iter().map(|node| node.y + node.height).max().unwrap_or(0) + MARGIN;
    Picture { width, height, nodes, paths, left_out }
}

fn path(arc: &Arc, nodes: &[Node], place_of: &BTreeMap<usize, usize>, through: &[(i32, i32)]) -> Option<Path> {
    let (from, to) = (*place_of.get(&arc.from)?, *place_of.get(&arc.to)?);
    let (left, right) = (nodes.get(from)?, nodes.get(to)?);
    let mut points = vec![(left.x + left.width, left.y + left.height / 2)];
    points.extend_from_slice(through);
    points.push((right.x, right.y + right.height / 2));
    Some(Path { from, to, passage: arc.passage, dotted: arc.dotted, points })
}

/// Left edge and width of each layer.
fn lefts(graph: &Graph) -> Vec<(i32, i32)> {
    let mut left = MARGIN;
    graph
        .layers
        .iter()
        .map(|slots| {
            let widths = slots.iter().filter_map(|slot| match slot {
                Slot::Box(place) => graph.boxes.get(*place).map(|b| b.width),
                Slot::Pass { .. } => None,
            });
            let width = widths.max().unwrap_or(0);
            let at = left;
            left += width + GAP_X;
            (at, width)
        })
        .collect()
}

fn height(graph: &Graph, slot: Slot) -> i32 {
    match slot {
        Slot::Box(place) => graph.boxes.get(place).map_or(0, |b| b.height),
        Slot::Pass { .. } => PASS,
    }
}

/// Vertical centres of all slots.
fn centres(graph: &Graph) -> Vec<Vec<i32>> {
    let mut centres: Vec<Vec<i32>> =
        graph.layers.iter().map(|slots| stack(graph, slots, &vec![0; slots.len()])).collect();
    let near = |back: bool| -> Vec<Vec<Vec<usize>>> {
        let layers = graph.layers.iter().enumerate();
        layers.map(|(layer, slots)| slots.iter().map(|slot| neighbours(graph, layer, *slot, back)).collect()).collect()
    };
    let (before, after) = (near(true), near(false));
    let count = graph.layers.len();
    for round in 0..ROUNDS {
        let back = round % 2 == 0;
        for step in 0..count {
            let layer = if back { step } else { count - 1 - step };
            let there = if back { layer.checked_sub(1) } else { Some(layer + 1) };
            let (Some(slots), Some(own)) = (graph.layers.get(layer), centres.get(layer).cloned()) else { continue };
            let Some(there) = there.and_then(|there| centres.get(there)) else { continue };
            let near = if back { before.get(layer) } else { after.get(layer) };
            let wished: Vec<i32> = own
                .iter()
                .enumerate()
                .map(|(place, centre)| mean(near.and_then(|near| near.get(place)), there).unwrap_or(*centre))
                .collect();
            let moved = stack(graph, slots, &wished);
            if let Some(centres) = centres.get_mut(layer) {
                *centres = moved;
            }
        }
    }
    let top = centres
        .iter()
        .zip(&graph.layers)
        .flat_map(|(centres, slots)| centres.iter().zip(slots).map(|(centre, slot)| centre - height(graph, *slot) / 2))
        .min()
        .unwrap_or(0);
    for centre in centres.iter_mut().flatten() {
        *centre += MARGIN - top;
    }
    centres
}

fn mean(places: Option<&Vec<usize>>, centres: &[i32]) -> Option<i32> {
    let values: Vec<i32> = places?.iter().filter_map(|place| centres.get(*place).copied()).collect();
    values.iter().sum::<i32>().checked_div(i32::try_from(values.len()).ok()?)
}

/// The centres nearest to the wished ones (least squares) that keep order and gaps: pool adjacent violators.
fn stack(graph: &Graph, slots: &[Slot], wished: &[i32]) -> Vec<i32> {
    let mut offset = 0;
    let mut before = None;
    let mut offsets = Vec::with_capacity(slots.len());
    for slot in slots {
        let half = height(graph, *slot) / 2;
        if let Some(half_before) = before {
            offset += half_before + GAP_Y + half;
        }
        before = Some(half);
        offsets.push(offset);
    }
    let mut blocks: Vec<(i64, i64)> = Vec::new(); // sum, count
    for (wish, offset) in wished.iter().zip(&offsets) {
        let mut block = (i64::from(wish - offset), 1_i64);
        while let Some((sum, count)) = blocks.last().copied().filter(|(sum, count)| sum * block.1 > block.0 * count) {
            block = (sum + block.0, count + block.1);
            blocks.pop();
        }
        blocks.push(block);
    }
    let bases = blocks.into_iter().flat_map(|(sum, count)| {
        let base = i32::try_from(sum.div_euclid(count)).unwrap_or(0);
        std::iter::repeat_n(base, usize::try_from(count).unwrap_or(0))
    });
    bases.zip(offsets).map(|(base, offset)| base + offset).collect()
}
