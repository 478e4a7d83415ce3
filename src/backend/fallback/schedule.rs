//! Which regions are computed together, in which blocks of channels. Blocks are computed side by side on rayon's
//! threads; how many threads there are changes no bit.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice};
use rayon::prelude::*;

use super::max_of_samples::cut;
use super::{ChannelsLast, Kernel, Sum, cast};
use crate::geometry::plan::{AxisPlan, Planner, Region, hull, pixel_count};

/// How many numbers the pixels of an image hold at most, 48 MiB of f32, and twice as many where blocks are computed
/// side by side.
const PIXELS: usize = 12 << 20;

/// How many output elements of a channel are computed together at most, each with 64 bytes of its plan.
const ELEMENTS: usize = 1 << 18;

/// Prefer this many channels a pass over more regions.
const LEAST_BLOCK: usize = 64;

/// The most channels where regions are computed one by one: with 128, c4-adaptive takes 284 ms on two cores of an Intel
/// Xeon instead of 244.
const LARGEST_BLOCK: usize = 64;

/// What is to be computed: a run of output elements that read the same channels.
pub struct Schedule<'a, B: Backend, R: Sum> {
    /// The channels that they read.
    pub features: FloatTensor<B>,
    pub regions: &'a [Region],
    pub planner: &'a Planner<R>,
    /// Rows and columns of the output: all of them, or one.
    pub elements: [Range<usize>; 2],
    /// The shape of the output, `[K, channels, P, Q]`.
    pub shape: Shape,
}

impl<B: Backend, R: Sum> Schedule<'_, B, R> {
    /// Computes the elements into `output`; those that read no pixel stay as they are.
    pub fn run<K: Kernel<R>>(&self, mut output: FloatTensor<B>, kernel: &K) -> FloatTensor<B> {
        for image in 0..self.features.shape()[0] {
            let regions = self.regions_that_read::<K>(image);
            let window = [0, 1].map(|axis| hull(regions.iter().map(|(_, window)| window[axis].clone())));
            let windows: usize = regions.iter().map(|(_, window)| pixel_count(window)).sum();
            // What regions share is copied once, unless their windows are smaller than what they span.
            if K::AT_ONCE || windows > pixel_count(&window) {
                let rows: Vec<usize> = regions.into_iter().map(|(row, _)| row).collect();
                output = self.write(output, kernel, image, &rows, &window);
            } else {
                for (row, window) in regions {
                    output = self.write(output, kernel, image, &[row], &window);
                }
            }
        }
        output
    }

    fn plan<P: AxisPlan<R>>(&self, region: &Region) -> [P; 2] {
        [0, 1].map(|axis| P::make(self.planner, region, axis, self.elements[axis].clone()))
    }

    /// The rows of an image's regions that read some pixel, with their windows.
    fn regions_that_read<K: Kernel<R>>(&self, image: usize) -> Vec<(usize, [Range<usize>; 2])> {
        let of_image = |(_, region): &(usize, &Region)| region.image == image && self.planner.pools(region);
        let windows = self.regions.iter().enumerate().filter(of_image).map(|(row, region)| {
            let plan: [K::Plan; 2] = self.plan(region);
            (row, plan.each_ref().map(AxisPlan::window))
        });
        windows.filter(|(_, window)| pixel_count(window) > 0).collect()
    }

    /// The elements among all of a channel, of which they are a run.
    fn places(&self) -> Range<usize> {
        let [rows, columns] = &self.elements;
        let width = self.shape[3];
        rows.start * width + columns.start..(rows.end - 1) * width + columns.end
    }

    /// Computes regions of an image whose pixels lie in `window`, and writes them.
    fn write<K: Kernel<R>>(
        &self,
        mut output: FloatTensor<B>,
        kernel: &K,
        image: usize,
        rows: &[usize],
        window: &[Range<usize>; 2],
    ) -> FloatTensor<B> {
        if rows.is_empty() {
            return output;
        }
        let elements = self.elements[0].len() * self.elements[1].len();
        let dtype: FloatDType = self.features.dtype().into();
        // Where regions are computed together, a few tensors of their results' size are held as well. Of
        // 300 regions, 128 channels at a time are faster than 256: memory is not given back in between.
        let copies = if K::AT_ONCE { 6 } else { 1 };
        let of_a_group = match K::AT_ONCE {
            true => {
                let most = ELEMENTS.min(PIXELS / (copies * LEAST_BLOCK.min(self.shape[1])));
                (most / elements).clamp(1, rows.len())
            }
            false => 1,
        };
        let largest = copies * pixel_count(window).max(of_a_group * elements);
        // About as many channels each time, in whole vectors.
        let most = (PIXELS / largest).clamp(1, if K::AT_ONCE { usize::MAX } else { LARGEST_BLOCK });
        let times = self.shape[1].div_ceil(most);
        let block = self.shape[1].div_ceil(times).next_multiple_of(16).min(most);
        // Rows of all elements are moved faster than those of Q.
        let [regions, count, height, width] = self.shape.dims();
        output = B::float_reshape(output, Shape::new([regions, count, height * width]));
        let blocks: Vec<_> = cut(&(0..self.shape[1]), block).collect();
        let at_once = rayon::current_num_threads().min(2 * PIXELS / (largest * block)).max(1);
        for blocks in blocks.chunks(at_once) {
            let compute = |channels: &Range<usize>| {
                let pixels = ChannelsLast::<B>::copy::<R>(&self.features, image, channels, window);
                let group = |rows: &[usize]| {
                    let plans: Vec<_> = rows.iter().map(|&row| self.plan(&self.regions[row])).collect();
                    let results = cast::<B>(kernel.compute(&pixels, &plans), dtype);
                    B::float_swap_dims(results, 1, 2)
                };
                rows.chunks(of_a_group).map(group).collect()
            };
            let results: Vec<Vec<FloatTensor<B>>> = match blocks {
                [block] => vec![compute(block)],
                _ => blocks.par_iter().map(compute).collect(),
            };
            for (channels, results) in blocks.iter().zip(results) {
                for (rows, results) in rows.chunks(of_a_group).zip(results) {
                    output = write_runs::<B>(output, results, rows, channels, self.places());
                }
            }
        }
        B::float_reshape(output, self.shape.clone())
    }
}

/// Writes the results `[rows, C, places]` to their rows of the output, `[K, C, P * Q]`.
fn write_runs<B: Backend>(
    mut output: FloatTensor<B>,
    results: FloatTensor<B>,
    rows: &[usize],
    channels: &Range<usize>,
    places: Range<usize>,
) -> FloatTensor<B> {
    let mut first = 0;
    for run in runs(rows) {
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

/// Increasing numbers as ranges of neighbours.
fn runs(numbers: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}
