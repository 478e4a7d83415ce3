//! What elements read along one axis.

use std::ops::Range;

/// An average along one axis: the rows of the sparse matrix `W` that turns pixels into output elements.
#[derive(Debug, Clone)]
pub struct Weights<R> {
    /// What each output element reads.
    pub reads: Vec<Read<R>>,
    /// The weights of all these pixels, element after element. Those of an element sum to its `share`.
    pub weights: Vec<R>,
    /// The derivatives of the weights by the low end of the region, in box coordinates, and by its high end. Empty if
    /// only weights are planned.
    pub slopes: [Vec<R>; 2],
}

/// Elements of the usual workloads read 2 to 4 pixels along an axis.
const USUAL_PIXELS: usize = 4;

/// What an output element reads along an axis.
#[derive(Debug, Clone)]
pub struct Read<R> {
    pub pixels: Range<usize>,
    /// The index of their first weight among those of all elements.
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
    pub taps: Vec<SamplePixels<R>>,
    /// For each output element, whether all of its samples are in bounds.
    pub complete: Vec<bool>,
    /// For each of `taps`, the derivatives of its two weights by its position. Empty if only samples are planned.
    pub by_position: Vec<[R; 2]>,
    /// For each of `taps`, the derivatives of its position by the low end of the region, in box coordinates, and by its
    /// high end. Empty if only samples are planned.
    pub movement: Vec<[R; 2]>,
}

/// The two pixels of a sample and their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplePixels<R> {
    pub low: usize,
    /// The second pixel. It can be the first one again, as at the map's edge; then its weight is 0.
    pub high: usize,
    pub low_weight: R,
    pub high_weight: R,
}

/// A maximum over bins along one axis: for each output element, the pixels it reads.
pub type PixelRanges = Vec<Range<usize>>;

impl<R> Weights<R> {
    /// A plan without elements, with memory for this many of the usual size.
    pub fn with_capacity(elements: usize) -> Self {
        Self {
            reads: Vec::with_capacity(elements),
            weights: Vec::with_capacity(USUAL_PIXELS * elements),
            slopes: [Vec::new(), Vec::new()],
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

    /// The index of an output element's first weight.
    #[inline(always)]
    pub fn first_weight(&self, element: usize) -> usize {
        self.reads[element].first
    }
}

impl<R: Copy> Weights<R> {
    /// The pixels that an output element reads, their weights, and its share in bounds.
    #[inline(always)]
    pub fn element(&self, element: usize) -> (Range<usize>, &[R], R) {
        let read = &self.reads[element];
        let weights = &self.weights[read.first..][..read.pixels.len()];
        (read.pixels.clone(), weights, read.share)
    }

    /// The weight of a pixel in an output element that reads it.
    #[inline(always)]
    pub fn weight_of(&self, element: usize, pixel: usize) -> Option<R> {
        let (pixels, weights, _) = self.element(element);
        pixels.contains(&pixel).then(|| weights[pixel - pixels.start])
    }

    /// For each of these output elements, the pixels it reads, their weights, and its share in bounds.
    pub fn elements(&self, elements: Range<usize>) -> impl Iterator<Item = (Range<usize>, &[R], R)> {
        elements.map(move |element| self.element(element))
    }
}

impl<R> SamplePixels<R> {
    pub fn new([low, high]: [usize; 2], [low_weight, high_weight]: [R; 2]) -> Self {
        Self {
            low,
            high,
            low_weight,
            high_weight,
        }
    }
}

impl<R> SampleTaps<R> {
    /// For each of these output elements, its samples in bounds, and whether these are all.
    pub fn elements(&self, elements: Range<usize>) -> impl Iterator<Item = (&[SamplePixels<R>], bool)> {
        let elements = self.samples[elements.clone()].iter().zip(&self.complete[elements]);
        elements.map(|(samples, complete)| (&self.taps[samples.clone()], *complete))
    }
}

/// The smallest range that contains all of these, of which empty ones are ignored.
#[inline(always)]
pub fn hull(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    ranges
        .filter(|range| !range.is_empty())
        .reduce(|all, range| all.start.min(range.start)..all.end.max(range.end))
        .unwrap_or(0..0)
}

pub fn pixel_count([rows, columns]: &[Range<usize>; 2]) -> usize {
    rows.len() * columns.len()
}
