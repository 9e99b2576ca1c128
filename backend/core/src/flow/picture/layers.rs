//! Which layer a box is in, and the order within a layer: sources left, each thing right of what it came from, and few
//! lines that cross.

use std::collections::BTreeMap;

use super::graph::{Graph, Slot};

/// Sweeps of the barycentre method; more change nothing at the sizes that people read.
const SWEEPS: usize = 12;

/// Puts every box into the layer after its farthest parent, and gives arcs over several layers a slot in each.
pub(super) fn layer(graph: &mut Graph) {
    let layer_of = depths(graph);
    let last = layer_of.iter().copied().max().map_or(0, |depth| depth + 1);
    let mut layers: Vec<Vec<Slot>> = vec![Vec::new(); last];
    for (place, depth) in layer_of.iter().enumerate() {
        if let Some(layer) = layers.get_mut(*depth) {
            layer.push(Slot::Box(place));
        }
    }
    for (arc, ends) in graph.arcs.iter().enumerate() {
        let depth = |place: usize| layer_of.get(place).copied().unwrap_or_default();
        for between in depth(ends.from) + 1..depth(ends.to) {
            if let Some(layer) = layers.get_mut(between) {
                layer.push(Slot::Pass { arc });
            }
        }
    }
    graph.layers = layers;
}

/// Longest way from a source; an arc back to an ancestor (records may claim anything) does not count.
fn depths(graph: &Graph) -> Vec<usize> {
    let count = graph.boxes.len();
    let forward = forward_arcs(graph);
    let mut depth = vec![0_usize; count];
    for _ in 0..count {
        let mut moved = false;
        for (from, to) in &forward {
            let least = depth.get(*from).copied().unwrap_or_default() + 1;
            if let Some(depth) = depth.get_mut(*to).filter(|depth| **depth < least) {
                *depth = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    // A source stands right before what it sent, wherever that is.
    for arc in &graph.arcs {
        let no_parent = !forward.iter().any(|(_, to)| *to == arc.from);
        if let (true, Some(to)) = (no_parent, depth.get(arc.to).copied())
            && let Some(from) = depth.get_mut(arc.from)
        {
            *from = (*from).max(to.saturating_sub(1));
        }
    }
    depth
}

/// Arcs without those that close a circle.
fn forward_arcs(graph: &Graph) -> Vec<(usize, usize)> {
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for arc in &graph.arcs {
        children.entry(arc.from).or_default().push(arc.to);
    }
    let mut done = vec![false; graph.boxes.len()];
    let mut open = vec![false; graph.boxes.len()];
    let mut forward = Vec::new();
    let is = |flags: &[bool], place: usize| flags.get(place).copied().unwrap_or(true);
    let set = |flags: &mut [bool], place: usize, value| {
        if let Some(flag) = flags.get_mut(place) {
            *flag = value;
        }
    };
    for start in 0..graph.boxes.len() {
        if is(&done, start) {
            continue;
        }
        set(&mut done, start, true);
        set(&mut open, start, true);
        let mut stack = vec![(start, 0)];
        while let Some((place, next)) = stack.last_mut() {
            let from = *place;
            let Some(child) = children.get(&from).and_then(|children| children.get(*next)).copied() else {
                set(&mut open, from, false);
                stack.pop();
                continue;
            };
            *next += 1;
            if is(&open, child) {
                continue;
            }
            forward.push((from, child));
            if !is(&done, child) {
                set(&mut done, child, true);
                set(&mut open, child, true);
                stack.push((child, 0));
            }
        }
    }
    forward
}

/// Neighbours of a slot in the layer before (`back`) or after it.
pub(super) fn neighbours(graph: &Graph, layer: usize, slot: Slot, back: bool) -> Vec<usize> {
    let other = if back { layer.checked_sub(1) } else { Some(layer + 1) };
    let Some(there) = other.and_then(|other| graph.layers.get(other)) else { return Vec::new() };
    let linked = |one: Slot, two: Slot| {
        // `one` left, `two` right
        graph.arcs.iter().enumerate().any(|(number, arc)| {
            let left = match one {
                Slot::Box(place) => arc.from == place,
                Slot::Pass { arc } => arc == number,
            };
            let right = match two {
                Slot::Box(place) => arc.to == place,
                Slot::Pass { arc } => arc == number,
            };
            left && right
        })
    };
    let near = |candidate: &Slot| if back { linked(*candidate, slot) } else { linked(slot, *candidate) };
    there.iter().enumerate().filter(|(_, candidate)| near(candidate)).map(|(place, _)| place).collect()
}

/// Orders the slots of each layer by the mean place of their neighbours, to and fro, and keeps the best.
pub(super) fn order(graph: &mut Graph) {
    let mut best = graph.layers.clone();
    let mut least = crossings(graph);
    for sweep in 0..SWEEPS {
        if least == 0 {
            break;
        }
        let back = sweep % 2 == 0;
        let count = graph.layers.len();
        for step in 0..count {
            let layer = if back { step } else { count - 1 - step };
            sort_layer(graph, layer, back);
        }
        let now = crossings(graph);
        if now < least {
            least = now;
            best.clone_from(&graph.layers);
        }
    }
    graph.layers = best;
}

fn sort_layer(graph: &mut Graph, layer: usize, back: bool) {
    let Some(slots) = graph.layers.get(layer).cloned() else { return };
    let mut keyed: Vec<(usize, usize, Slot)> = slots
        .iter()
        .enumerate()
        .map(|(place, slot)| {
            let near = neighbours(graph, layer, *slot, back);
            // Mean place in thousandths, so that sorting needs no floating point.
            let mean = (near.iter().sum::<usize>() * 1_000).checked_div(near.len()).unwrap_or(place * 1_000);
            (mean, place, *slot)
        })
        .collect();
    keyed.sort_unstable();
    if let Some(slots) = graph.layers.get_mut(layer) {
        *slots = keyed.into_iter().map(|(_, _, slot)| slot).collect();
    }
}

fn crossings(graph: &Graph) -> usize {
    let mut count = 0;
    for (layer, slots) in graph.layers.iter().enumerate() {
        let mut segments: Vec<(usize, usize)> = Vec::new();
        for (place, slot) in slots.iter().enumerate() {
            segments.extend(neighbours(graph, layer, *slot, false).into_iter().map(|there| (place, there)));
        }
        for (place, (from, to)) in segments.iter().enumerate() {
            count +=
                segments.iter().skip(place + 1).filter(|(f, t)| (from < f && to > t) || (from > f && to < t)).count();
        }
    }
    count
}
