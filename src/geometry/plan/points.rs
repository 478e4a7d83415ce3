//! The plan of a region whose elements read points: the weighted pixels of each element.

use std::ops::Range;

use super::axis::pixel_count;
use crate::geometry::point_grid::PARAMETERS;

/// What the elements of a region read.
#[derive(Debug, Clone)]
pub struct PointWeights<R> {
    /// One for each group of channels that elements read, in the order of groups.
    pub parts: Vec<PointPart>,
    /// The spans of all elements, part after part.
    pub spans: Vec<Span>,
    pub weights: Vec<R>,
    /// For each weight, its partial derivatives by the parameters of its element, in the order of
    /// [`PointPlanner::parameter_columns`](super::PointPlanner::parameter_columns). Empty if only weights are planned.
    pub slopes: Vec<[R; PARAMETERS]>,
}

/// What elements read of one group of channels.
#[derive(Debug, Clone)]
pub struct PointPart {
    pub group: usize,
    /// Elements in the order of the output.
    pub elements: Range<usize>,
    /// Where the spans and the weights of the first element begin.
    pub start: [usize; 2],
    /// Where the spans and the weights of each element end.
    pub ends: Vec<[usize; 2]>,
    /// The rows and columns of all spans.
    pub window: [Range<usize>; 2],
}

/// Neighbouring pixels of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub row: u32,
    pub column: u32,
    pub count: u32,
}

/// What an element of a part reads.
pub struct ElementSpans<'a> {
    /// Its index in the order of the output.
    pub element: usize,
    pub spans: &'a [Span],
    /// The indices of their weights.
    pub weights: Range<usize>,
}

impl Span {
    #[inline(always)]
    pub fn columns(&self) -> Range<usize> {
        self.column as usize..(self.column + self.count) as usize
    }
}

impl<R> PointWeights<R> {
    /// The parts that read some pixel.
    #[inline(always)]
    pub fn parts_with_pixels(&self) -> impl Iterator<Item = &PointPart> {
        self.parts.iter().filter(|part| pixel_count(&part.window) > 0)
    }

    /// What each element of a part reads.
    #[inline(always)]
    pub fn elements<'a>(&'a self, part: &'a PointPart) -> impl Iterator<Item = ElementSpans<'a>> + 'a {
        let mut start = part.start;
        part.elements.clone().zip(&part.ends).map(move |(element, &end)| {
            let [spans, weights] = [0, 1].map(|list| start[list]..end[list]);
            start = end;
            ElementSpans {
                element,
                spans: &self.spans[spans],
                weights,
            }
        })
    }

    /// How many numbers it holds.
    pub fn size(&self) -> usize {
        3 * self.spans.len() + self.weights.len() + PARAMETERS * self.slopes.len()
    }
}
