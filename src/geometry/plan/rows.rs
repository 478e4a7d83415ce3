//! The three kinds of plan of one axis.

use std::ops::Range;

use super::{AxisPlan, Coordinate, Planner, Run};

/// An average along one axis: the rows of the sparse matrix `W` that turns pixels into output elements.
#[derive(Debug, Clone)]
pub struct Weights<R> {
    /// What each output element reads.
    pub reads: Vec<Read<R>>,
    /// The weights of all these pixels, element after element. Those of an element sum to its `share`.
    pub weights: Vec<R>,
}

/// Elements of the usual workloads read 2 to 4 pixels along an axis.
const USUAL_PIXELS: usize = 4;

/// What an output element reads along an axis.
#[derive(Debug, Clone)]
pub struct Read<R> {
    /// The pixels.
    pub pixels: Range<usize>,
    /// Where their weights begin among those of all elements.
    first: usize,
    /// The share of its samples that are in bounds, 0 to 1.
    pub share: R,
}

/// A maximum over samples along one axis.
#[derive(Debug, Clone)]
pub struct SampleTaps<R> {
    /// For each output element, its samples in bounds, as a range of `taps`.
    pub samples: Vec<Range<usize>>,
    /// Pixels and weights of all samples, element after element.
    pub taps: Vec<Taps<R>>,
    /// For each output element, whether all of its samples are in bounds.
    pub complete: Vec<bool>,
}

/// The two pixels of a sample and their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taps<R> {
    /// The first pixel.
    pub low: usize,
    /// The second pixel. Where it is the first one, as at the map's edge, it has no weight.
    pub high: usize,
    /// The weight of the first pixel.
    pub low_weight: R,
    /// The weight of the second pixel.
    pub high_weight: R,
}

/// A maximum over bins along one axis: for each output element, the pixels it reads.
pub type PixelRanges = Vec<Range<usize>>;

impl<R> Weights<R> {
    /// A plan of no element yet, with memory for so many of the usual size.
    pub fn with_capacity(elements: usize) -> Self {
        Self {
            reads: Vec::with_capacity(elements),
            weights: Vec::with_capacity(USUAL_PIXELS * elements),
        }
    }

    /// Adds an element, whose pixels have the last of the weights.
    pub fn push(&mut self, pixels: Range<usize>, share: R) {
        self.reads.push(Read {
            first: self.weights.len() - pixels.len(),
            pixels,
            share,
        });
    }

    /// The weights of an output element and of those after it.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    #[inline(always)]
    pub fn weights_from(&self, element: usize) -> &[R] {
        &self.weights[self.reads[element].first..]
    }

    /// The pixels that an output element reads, their weights, and its share in bounds.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    #[inline(always)]
    pub fn element(&self, element: usize) -> (Range<usize>, &[R], R)
    where
        R: Copy,
    {
        let read = &self.reads[element];
        let weights = &self.weights[read.first..][..read.pixels.len()];
        (read.pixels.clone(), weights, read.share)
    }

    /// For each of these output elements, the pixels it reads, their weights, and its share in bounds.
    pub fn elements(&self, elements: Range<usize>) -> impl Iterator<Item = (Range<usize>, &[R], &R)> {
        self.reads[elements].iter().map(|read| {
            let weights = &self.weights[read.first..][..read.pixels.len()];
            (read.pixels.clone(), weights, &read.share)
        })
    }
}

impl<R> SampleTaps<R> {
    /// For each of these output elements, its samples in bounds, and whether these are all.
    #[cfg_attr(not(feature = "flex"), allow(dead_code))]
    pub fn elements(&self, elements: Range<usize>) -> impl Iterator<Item = (&[Taps<R>], bool)> {
        let elements = self.samples[elements.clone()].iter().zip(&self.complete[elements]);
        elements.map(|(samples, complete)| (&self.taps[samples.clone()], *complete))
    }
}

impl<R: Coordinate> AxisPlan<R> for Weights<R> {
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self {
        R::weights(&planner.rules, axis, ends, run(planner, axis, elements))
    }

    fn count(&self) -> usize {
        self.reads.len()
    }

    #[inline(always)]
    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        hull(self.reads[elements].iter().map(|read| read.pixels.clone()))
    }

    fn size(planner: &Planner<R>) -> usize {
        let ([rows, columns], [height, width]) = (planner.operator.output_size, planner.map);
        4 * (rows + columns) + height + width
    }
}

impl<R: Coordinate> AxisPlan<R> for SampleTaps<R> {
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self {
        let run = run(planner, axis, elements);
        R::sample_taps(&planner.rules, axis, ends, run, planner.splits_samples())
    }

    fn count(&self) -> usize {
        self.samples.len()
    }

    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        let taps = self.elements(elements).flat_map(|(taps, _)| taps);
        hull(taps.map(|taps| taps.low..taps.high + 1))
    }

    fn size(planner: &Planner<R>) -> usize {
        let ([rows, columns], [height, width]) = (planner.operator.output_size, planner.map);
        // An adaptive number of samples is at most two a pixel; a sample is four numbers.
        let samples = (rows + columns) * (planner.least_samples() + 1) + 2 * (height + width);
        if planner.splits_samples() {
            8 * samples
        } else {
            4 * samples
        }
    }
}

impl<R: Coordinate> AxisPlan<R> for PixelRanges {
    fn make(planner: &Planner<R>, axis: usize, ends: [R; 2], elements: Range<usize>) -> Self {
        R::pixel_ranges(&planner.rules, axis, ends, run(planner, axis, elements))
    }

    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn window_of(&self, elements: Range<usize>) -> Range<usize> {
        hull(self[elements].iter().cloned())
    }

    fn size(planner: &Planner<R>) -> usize {
        let [rows, columns] = planner.operator.output_size;
        2 * (rows + columns)
    }
}

/// A run of elements in the numbers of a plan.
pub(super) fn run<R: Coordinate>(planner: &Planner<R>, axis: usize, elements: Range<usize>) -> Run {
    Run {
        elements: elements.start as u32..elements.end as u32,
        count: planner.operator.output_size[axis] as u32,
        size: planner.map[axis] as u32,
    }
}

/// The least range that holds all of these; empty ones don't count.
#[inline(always)]
pub fn hull(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    ranges
        .filter(|range| !range.is_empty())
        .reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
        .unwrap_or(0..0)
}

/// How many pixels a window has.
pub fn pixel_count([rows, columns]: &[Range<usize>; 2]) -> usize {
    rows.len() * columns.len()
}
