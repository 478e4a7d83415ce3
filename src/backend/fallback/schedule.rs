//! Which regions are computed together, in which blocks of channels. Blocks are computed in parallel on rayon's
//! threads; results do not depend on the number of threads.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice};
use rayon::prelude::*;

use super::channels_last::ChannelsLast;
use super::planned::{PlannedGroup, Values, hull_of, planned, values};
use super::tensors::{Number, cast, cut, filled};
use crate::backend::RegionCall;
use crate::geometry::plan::{AxisPlan, ChannelGroup, Planner, Region, pixel_count};

/// How many numbers the plans of regions hold at most at a time, 32 MiB of f32.
const PLANNED: usize = 8 << 20;

/// How many numbers the pixels of an image hold at most, 48 MiB of f32, or twice as many if blocks are computed in
/// parallel.
const PIXELS: usize = 12 << 20;

/// How many output elements of a channel are computed together at most: a bin of whole pixels takes 64 bytes.
const ELEMENTS: usize = 1 << 18;

/// More regions are computed together only if a block keeps this many channels.
const LEAST_BLOCK: usize = 64;

/// The most channels of a block if regions are computed one by one: with 128, c4-adaptive takes 284 ms on two cores of
/// an Intel Xeon, and 244 ms with 64.
const LARGEST_BLOCK: usize = 64;

/// How the plans of regions become output elements.
pub trait PoolPlan<R: Number>: AxisPlan<R> + Sized {
    /// Whether the regions of an image are computed together, rather than one by one: if what they share costs more
    /// than what they do not.
    const AT_ONCE: bool = false;

    /// The output elements `[K, elements, C]` of some regions, or of one if they are not computed together.
    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, regions: &[PlannedGroup<Self>]) -> FloatTensor<B>;
}

/// What is to be computed.
pub struct Schedule<'a, B: Backend, R: Number> {
    /// `[N, C, H, W]`.
    features: FloatTensor<B>,
    regions: &'a [Region],
    planner: &'a Planner<R>,
    values: Values,
    /// The shape of the output, `[K, channels, P, Q]`.
    shape: Shape,
}

impl<'a, B: Backend, R: Number> Schedule<'a, B, R> {
    pub fn new(features: FloatTensor<B>, call: &'a RegionCall<B>, planner: &'a Planner<R>) -> Self {
        Self {
            features,
            regions: call.host_regions(),
            planner,
            values: values(planner),
            shape: call.output_shape(),
        }
    }

    /// Pools the regions to `pooled`, or to a new output.
    pub fn run<P: PoolPlan<R>>(&self, pooled: Option<FloatTensor<B>>) -> FloatTensor<B> {
        // Elements that read no pixel keep this value, which the first level writes to all.
        let mut output = pooled.unwrap_or_else(|| filled::<B>(&self.features, self.shape.clone(), self.values.outside));
        for group in &self.planner.groups {
            for image in 0..self.features.shape()[0] {
                output = self.pool_image::<P>(output, group, image);
            }
        }
        output
    }

    /// Pools the elements of a group, of the regions of an image; those that read no pixel stay as they are.
    fn pool_image<P: PoolPlan<R>>(
        &self,
        mut output: FloatTensor<B>,
        group: &ChannelGroup,
        image: usize,
    ) -> FloatTensor<B> {
        let at_once = (PLANNED / P::size(self.planner)).max(1);
        let mut all = planned::<R, P>(self.planner, self.regions, image, group, false);
        loop {
            let regions: Vec<PlannedGroup<P>> = all.by_ref().take(at_once).collect();
            if regions.is_empty() {
                return output;
            }
            let window = hull_of(&regions);
            let windows: usize = regions.iter().map(|region| pixel_count(&region.window)).sum();
            // What regions share is copied once, unless their windows are less than half of what they span. NdArray
            // copies a window from the map row by row, and from this copy in longer runs: mask-p2, whose windows are
            // 0.6 of what they span, takes 54 ms with it and 90 without (Intel Xeon, two threads).
            if P::AT_ONCE || 2 * windows > pixel_count(&window) {
                output = self.write(output, group, image, &regions, &window);
            } else {
                for region in &regions {
                    output = self.write(output, group, image, std::slice::from_ref(region), &region.window);
                }
            }
        }
    }

    /// Computes regions of an image whose pixels lie in `window`, and writes them.
    fn write<P: PoolPlan<R>>(
        &self,
        mut output: FloatTensor<B>,
        group: &ChannelGroup,
        image: usize,
        planned: &[PlannedGroup<P>],
        window: &[Range<usize>; 2],
    ) -> FloatTensor<B> {
        let elements = group.indices().len();
        let dtype: FloatDType = self.features.dtype().into();
        // If regions are computed together, a few tensors of their results' size are held as well. For 300 regions,
        // blocks of 128 channels are faster than blocks of 256: memory is not given back in between.
        let copies = if P::AT_ONCE { 6 } else { 1 };
        let most = ELEMENTS.min(PIXELS / (copies * LEAST_BLOCK.min(self.shape[1])));
        let together = (most / elements).clamp(1, planned.len());
        let at_a_time = if P::AT_ONCE { together } else { 1 };
        let largest = copies * pixel_count(window).max(at_a_time * elements);
        // About as many channels each time, in whole vectors.
        let most = (PIXELS / largest).clamp(1, if P::AT_ONCE { usize::MAX } else { LARGEST_BLOCK });
        let times = self.shape[1].div_ceil(most);
        let block = self.shape[1].div_ceil(times).next_multiple_of(16).min(most);
        // Copying rows of P * Q elements is faster than copying rows of Q.
        let [regions, count, height, width] = self.shape.dims();
        output = B::float_reshape(output, Shape::new([regions, count, height * width]));
        let blocks: Vec<_> = cut(0..self.shape[1], block).collect();
        let at_once = rayon::current_num_threads().min(2 * PIXELS / (largest * block)).max(1);
        for blocks in blocks.chunks(at_once) {
            let compute = |channels: &Range<usize>| {
                let pixels = ChannelsLast::<B>::copy::<R>(&self.features, image, group, channels, window);
                let pool = |planned: &[PlannedGroup<P>]| {
                    let results = cast::<B>(P::pool(self.values, &pixels, planned), dtype);
                    B::float_swap_dims(results, 1, 2)
                };
                planned.chunks(at_a_time).map(pool).collect()
            };
            let results: Vec<Vec<FloatTensor<B>>> = match blocks {
                [block] => vec![compute(block)],
                _ => blocks.par_iter().map(compute).collect(),
            };
            for (channels, results) in blocks.iter().zip(results) {
                for (planned, results) in planned.chunks(at_a_time).zip(results) {
                    let rows: Vec<usize> = planned.iter().map(|region| region.row).collect();
                    output = write_rows::<B>(output, results, &rows, channels, group.indices());
                }
            }
        }
        B::float_reshape(output, self.shape.clone())
    }
}

/// Writes the results `[rows, C, places]` to their rows of the output, `[K, C, P * Q]`.
fn write_rows<B: Backend>(
    mut output: FloatTensor<B>,
    results: FloatTensor<B>,
    rows: &[usize],
    channels: &Range<usize>,
    places: Range<usize>,
) -> FloatTensor<B> {
    let mut first = 0;
    for run in neighbours(rows) {
        let part = match run.len() == rows.len() {
            true => results.clone(),
            false => B::float_slice(results.clone(), &[Slice::from(first..first + run.len())]),
        };
        first += run.len();
        let slices = [run, channels.clone(), places.clone()].map(Slice::from);
        output = B::float_slice_assign(output, &slices, part);
    }
    output
}

/// Increasing numbers as ranges of consecutive ones.
fn neighbours(numbers: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}
