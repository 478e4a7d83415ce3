//! The plan of a region whose elements read points: the weighted pixels of each element.

use std::ops::Range;

use super::group::ChannelGroup;
use crate::geometry::point_grid::PARAMETERS;

/// What the elements of a region read.
#[derive(Debug, Clone)]
pub struct PointWeights<R> {
    /// For each group of channels, the rows and columns of the pixels that its elements read.
    pub windows: Vec<[Range<usize>; 2]>,
    /// Where the spans and the weights of each element begin, group after group; at last, where those of the last end.
    pub starts: Vec<[usize; 2]>,
    /// The spans of all elements.
    pub spans: Vec<Span>,
    pub weights: Vec<R>,
    /// For each weight, its partial derivatives by the parameters of its element, in the order of
    /// [`Planner::parameter_columns`](super::Planner::parameter_columns). Empty if only weights are planned.
    pub slopes: Vec<[R; PARAMETERS]>,
}

/// Neighbouring pixels of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub row: u32,
    pub column: u32,
    pub count: u32,
}

/// What an element reads.
#[derive(Clone)]
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
    /// What each element of a group reads.
    #[inline(always)]
    pub fn elements(&self, group: &ChannelGroup) -> impl Iterator<Item = ElementSpans<'_>> {
        let starts = &self.starts[group.first..];
        let bounds = starts.iter().zip(&starts[1..]);
        group
            .indices()
            .zip(bounds)
            .map(move |(element, (start, end))| ElementSpans {
                element,
                spans: &self.spans[start[0]..end[0]],
                weights: start[1]..end[1],
            })
    }

    /// How many numbers it holds.
    pub fn size(&self) -> usize {
        3 * self.spans.len() + self.weights.len() + PARAMETERS * self.slopes.len()
    }
}
