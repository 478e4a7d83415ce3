//! The parts of a tensor that `Slice` takes.

use super::dims::axis;
use super::inputs::Inputs;
use crate::read::node::NodeAttributes;

/// The part of an axis that `Slice` takes.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub axis: usize,
    start: i64,
    end: i64,
    step: i64,
}

impl Part {
    /// How many elements it takes of an axis of `size`.
    pub fn len(self, size: usize) -> Option<usize> {
        let (start, end) = self.bounds(size)?;
        let span = if self.step > 0 { end - start } else { start - end };
        usize::try_from(u64::try_from(span.max(0)).ok()?.div_ceil(self.step.unsigned_abs())).ok()
    }

    /// The indices of the elements that it takes of an axis of `size`.
    pub fn elements(self, size: usize) -> Option<Vec<usize>> {
        let (start, _) = self.bounds(size)?;
        let at = |step: usize| usize::try_from(start.checked_add(self.step.checked_mul(step as i64)?)?).ok();
        (0..self.len(size)?).map(at).collect()
    }

    /// The first element, and the element before which it stops.
    fn bounds(self, size: usize) -> Option<(i64, i64)> {
        let size = i64::try_from(size).ok()?;
        let at = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        match self.step {
            1.. => Some((at(self.start).clamp(0, size), at(self.end).clamp(0, size))),
            0 => None,
            _ => Some((at(self.start).clamp(-1, size - 1), at(self.end).clamp(-1, size - 1))),
        }
    }
}

/// The parts that a `Slice` takes of a tensor of rank `rank`, if its bounds are constants.
pub(super) fn parts(inputs: &Inputs, rank: usize) -> Option<Vec<Part>> {
    let node = inputs.node;
    let (starts, ends) = match node.ints("starts") {
        Some(starts) => (starts.to_vec(), node.ints("ends")?.to_vec()),
        None => (inputs.integers(1)?, inputs.integers(2)?),
    };
    let axes = match node.ints("axes") {
        Some(axes) => axes.to_vec(),
        None if inputs.has(3) => inputs.integers(3)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = match inputs.has(4) {
        true => inputs.integers(4)?,
        false => vec![1; starts.len()],
    };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return None;
    }
    let part = |at: usize| {
        Some(Part {
            axis: axis(axes[at], rank)?,
            start: starts[at],
            end: ends[at],
            step: steps[at],
        })
    };
    (0..starts.len()).map(part).collect()
}
