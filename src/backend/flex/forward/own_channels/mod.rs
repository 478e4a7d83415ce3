//! Output elements that read channels of their own, as those of a position-sensitive operator.
//!
//! Each element is computed for all regions, so that the planes that it reads stay in the nearest caches and one thread
//! alone interleaves them. Then the elements of each region are put together.

mod element;

use std::iter::StepBy;
use std::ops::Range;
use std::slice::Iter;

use burn::backend::Flex;
use burn_flex::FlexTensor;
use pulp::{Arch, Simd, WithSimd};

use super::axes::PoolAxes;
use super::groups::wanted_tasks;
use super::pass::{ForwardPass, PoolRegions};
use super::write::WriteElements;
use crate::backend::RegionCall;
use crate::backend::flex::drive::run_tasks;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::kernels::Average;
use crate::backend::flex::lanes::{BAND, LANES, MORE_LANES};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::planned::Planned;
use crate::geometry::plan::{AxisPlan, Planner, Weights};
use element::ElementOfRegions;

type AveragePass<'a, S> = ForwardPass<'a, S, PoolAxes<Average<S>>>;

/// The plans of y and of x.
type Plan<S> = [Weights<S>; 2];

/// The most elements of all regions that are computed before they are written: 4 MiB of f32 in [`MORE_LANES`].
const ELEMENTS_AT_A_TIME: usize = 1 << 16;

const WRITTEN_REGIONS: usize = 16;

/// [`pool`](super::pass::pool) for elements that read channels of their own.
pub fn pool<S: Sum>(
    pooled: Option<FlexTensor>,
    features: &FlexTensor,
    call: &RegionCall<Flex>,
    planner: &Planner<S>,
    kernel: &PoolAxes<Average<S>>,
) -> FlexTensor {
    let pass = ForwardPass::new(features, call, planner, kernel);
    let numbers = regions_at_a_time(pass.output_size[1]) * Weights::size(planner);
    let numbers = numbers.min(<PoolAxes<Average<S>> as PoolRegions<S>>::PLAN_NUMBERS);
    pass.in_batches(pooled, numbers, |planned, output| {
        compute_own_channels(&pass, &planned, output);
    })
}

/// How many regions are computed at a time if a channel of their output has so many elements.
fn regions_at_a_time(channel_elements: usize) -> usize {
    (ELEMENTS_AT_A_TIME / channel_elements.clamp(1, BAND)).max(1)
}

/// Computes the regions of a batch into the output of a call.
fn compute_own_channels<S: Sum>(
    pass: &AveragePass<'_, S>,
    regions: &[Planned<Plan<S>>],
    output: TensorSliceMut<'_, S>,
) {
    // An element reads few pixels, so the work that its channels share takes longest: in blocks of 8, the 10 channels
    // of ps-rfcn took 1.4 times as long. A constant, so that code that it excludes is not compiled.
    if const { size_of::<S>() == size_of::<f32>() } && pass.output_size[0] > LANES {
        compute_in_lanes::<S, MORE_LANES>(pass, regions, output);
    } else {
        compute_in_lanes::<S, LANES>(pass, regions, output);
    }
}

/// Computes all channels, `L` at a time.
fn compute_in_lanes<S: Sum, const L: usize>(
    pass: &AveragePass<'_, S>,
    regions: &[Planned<Plan<S>>],
    output: TensorSliceMut<'_, S>,
) {
    let [channels, channel_elements] = pass.output_size;
    let chunks = chunks(regions, wanted_tasks(pass.parallel).div_ceil(channel_elements));
    let mut outputs = output.chunks(channels * channel_elements);
    let mut sums = AlignedPixels::<_, L>::default();
    for start in (0..channels).step_by(L) {
        let block = start..(start + L).min(channels);
        let outputs_range = block.start * channel_elements..block.end * channel_elements;
        for first in (0..channel_elements).step_by(BAND) {
            let band = Band {
                pass,
                chunks: &chunks,
                elements: first..(first + BAND).min(channel_elements),
                channels: block.clone(),
            };
            band.compute(&mut sums);
            let outputs = outputs.iter_mut().map(|output| output.get(outputs_range.clone()));
            band.write(sums.get(), outputs.collect());
        }
    }
}

/// The regions of each image, in about as many chunks as are wanted. Those of an image follow each other.
fn chunks<P>(regions: &[Planned<P>], wanted: usize) -> Vec<&[Planned<P>]> {
    let images = regions.chunk_by(|left, right| left.image == right.image);
    let chunks = images.flat_map(|regions| regions.chunks(regions.len().div_ceil(wanted)));
    chunks.collect()
}

/// Some elements of the output, in up to `L` channels.
struct Band<'a, S: Sum> {
    pass: &'a AveragePass<'a, S>,
    chunks: &'a [&'a [Planned<Plan<S>>]],
    /// The indices of its elements, row after row.
    elements: Range<usize>,
    /// The channels of the output.
    channels: Range<usize>,
}

impl<S: Sum> Band<'_, S> {
    /// Computes each element of the regions of each chunk, one chunk after another.
    fn compute<const L: usize>(&self, sums: &mut AlignedPixels<S, L>) {
        let regions: usize = self.chunks.iter().map(|chunk| chunk.len()).sum();
        sums.resize(regions * self.elements.len());
        let mut rest = sums.get_mut();
        let mut tasks = Vec::new();
        for chunk in self.chunks {
            for element in self.elements.clone() {
                let (sums, after) = rest.split_at_mut(chunk.len());
                rest = after;
                tasks.push(ElementOfRegions {
                    band: self,
                    regions: chunk,
                    element,
                    sums,
                });
            }
        }
        run_tasks(tasks, self.pass.parallel, |task| Arch::new().dispatch(task));
    }

    /// Writes the elements of each region to its output.
    fn write<const L: usize>(&self, sums: &[[S; L]], mut outputs: Vec<TensorSliceMut<'_, S>>) {
        let mut rest = sums;
        let mut regions = Vec::new();
        for chunk in self.chunks {
            let (sums, after) = rest.split_at(chunk.len() * self.elements.len());
            rest = after;
            for (index, region) in chunk.iter().enumerate() {
                regions.push(OutputOfRegion {
                    sums: sums[index..].iter().step_by(chunk.len()),
                    output: std::mem::take(&mut outputs[region.row]),
                });
            }
        }
        let [_, channel_elements] = self.pass.output_size;
        let tasks = regions.chunks_mut(WRITTEN_REGIONS).map(|regions| WriteRegions {
            regions,
            first: self.elements.start,
            channel_elements,
        });
        run_tasks(tasks.collect(), self.pass.parallel, |task| Arch::new().dispatch(task));
    }
}

/// The sums of a region's elements, and the output for them.
struct OutputOfRegion<'a, S, const L: usize> {
    sums: StepBy<Iter<'a, [S; L]>>,
    output: TensorSliceMut<'a, S>,
}

/// Regions whose elements are written to their outputs.
struct WriteRegions<'a, 'b, S, const L: usize> {
    regions: &'b mut [OutputOfRegion<'a, S, L>],
    /// The index of the first element, and how many a channel of the output has.
    first: usize,
    channel_elements: usize,
}

impl<S: Sum, const L: usize> WithSimd for WriteRegions<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let (mut elements, mut lanes) = (AlignedPixels::<S, L>::default(), AlignedPixels::default());
        for OutputOfRegion { sums, output } in self.regions {
            elements.resize(sums.len());
            for (element, sum) in elements.get_mut().iter_mut().zip(sums) {
                *element = *sum;
            }
            simd.vectorize(WriteElements {
                elements: elements.get(),
                lanes: &mut lanes,
                first: self.first,
                channel_elements: self.channel_elements,
                output,
            });
        }
    }
}
