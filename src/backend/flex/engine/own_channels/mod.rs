//! Output elements that read channels of their own, as those of a position-sensitive operator.
//!
//! Each element is computed for all regions, so that the planes that it reads stay in the nearest caches and one thread
//! alone interleaves them. Then the elements of each region are put together.

mod element;

use std::iter::StepBy;
use std::ops::Range;
use std::slice::Iter;

use pulp::{Arch, Simd, WithSimd};

use super::groups::{Planned, wanted_tasks};
use super::task::{BAND, Work, WriteElements};
use crate::backend::flex::drive::run_tasks;
use crate::backend::flex::kernels::Average;
use crate::backend::flex::numbers::{NumbersMut, Sum};
use crate::backend::flex::pixels::{AlignedPixels, LANES, MORE_LANES};
use crate::geometry::plan::Weights;
use element::ElementOfRegions;

/// The plans of y and of x.
type Plan<S> = [Weights<S>; 2];

/// At most so many elements of regions are computed before they go to the output: 4 MiB of f32 in [`MORE_LANES`].
const ELEMENTS: usize = 1 << 16;

/// How many regions go to the output at a time.
const PUT_TOGETHER: usize = 16;

/// How many regions are computed at a time whose output has so many elements a channel.
pub fn regions_at_a_time(of_a_channel: usize) -> usize {
    (ELEMENTS / of_a_channel.clamp(1, BAND)).max(1)
}

/// Computes regions into `output`, which is that of all that were planned together.
pub fn compute_own_channels<S: Sum>(
    work: &Work<'_, S, Average<S>>,
    regions: &[Planned<Plan<S>>],
    output: NumbersMut<'_, S>,
    parallel: bool,
) {
    // An element reads few pixels, so what is done once for all of its channels takes longest: in blocks of 8, the 10
    // channels of ps-rfcn took 1.4 times as long. The constant is evaluated before code is generated: what it leaves
    // out takes no time to compile.
    if const { size_of::<S>() == size_of::<f32>() } && work.output_size[0] > LANES {
        compute_in_lanes::<S, MORE_LANES>(work, regions, output, parallel);
    } else {
        compute_in_lanes::<S, LANES>(work, regions, output, parallel);
    }
}

/// Computes all channels, `L` at a time.
fn compute_in_lanes<S: Sum, const L: usize>(
    work: &Work<'_, S, Average<S>>,
    regions: &[Planned<Plan<S>>],
    output: NumbersMut<'_, S>,
    parallel: bool,
) {
    let [height, width] = work.planner.output_size();
    let [channels, of_a_channel] = work.output_size;
    let step = work.planner.channel_map().input_channels(of_a_channel);
    let of_a_band = work.of_a_band;
    let parts = parts(regions, wanted_tasks(parallel).div_ceil(of_a_channel));
    let mut outputs = output.parts(channels * of_a_channel);
    let mut sums = AlignedPixels::<_, L>::new();
    for start in (0..channels).step_by(L) {
        let count = L.min(channels - start);
        let of_these = start * of_a_channel..(start + count) * of_a_channel;
        for row in (0..height).step_by(of_a_band) {
            let band = Band {
                work,
                parts: &parts,
                elements: row * width..(row + of_a_band).min(height) * width,
                first_channel: start * step,
                step,
                count,
                parallel,
            };
            band.compute(&mut sums);
            let outputs = outputs.iter_mut().map(|output| output.get(of_these.clone()));
            band.put_together(sums.get(), outputs.collect());
        }
    }
}

/// The regions of each image, in about as many parts as are wanted.
fn parts<P>(regions: &[Planned<P>], wanted: usize) -> Vec<&[Planned<P>]> {
    let images = regions.chunk_by(|left, right| left.image == right.image);
    let parts = images.flat_map(|regions| regions.chunks(regions.len().div_ceil(wanted)));
    parts.collect()
}

/// Some rows of the output, in up to `L` channels.
struct Band<'a, S: Sum> {
    work: &'a Work<'a, S, Average<S>>,
    parts: &'a [&'a [Planned<Plan<S>>]],
    /// Its elements, row after row.
    elements: Range<usize>,
    /// What the first output channel reads is so many channels further than for an operator of one channel.
    first_channel: usize,
    /// How far apart the channels are that an element reads.
    step: usize,
    /// How many channels of the output these are.
    count: usize,
    parallel: bool,
}

impl<S: Sum> Band<'_, S> {
    /// Each element of the regions of each part, one part after another.
    fn compute<const L: usize>(&self, sums: &mut AlignedPixels<S, L>) {
        let regions: usize = self.parts.iter().map(|part| part.len()).sum();
        sums.resize(regions * self.elements.len());
        let mut rest = sums.get_mut();
        let mut tasks = Vec::new();
        for part in self.parts {
            for element in self.elements.clone() {
                let (sums, after) = rest.split_at_mut(part.len());
                rest = after;
                tasks.push(ElementOfRegions {
                    band: self,
                    regions: part,
                    element,
                    sums,
                });
            }
        }
        run_tasks(tasks, self.parallel, |task| Arch::new().dispatch(task));
    }

    /// Writes the elements of each region to its output.
    fn put_together<const L: usize>(&self, sums: &[[S; L]], mut outputs: Vec<NumbersMut<'_, S>>) {
        let mut rest = sums;
        let mut regions = Vec::new();
        for part in self.parts {
            let (sums, after) = rest.split_at(part.len() * self.elements.len());
            rest = after;
            for (number, region) in part.iter().enumerate() {
                regions.push(OutputOfRegion {
                    sums: sums[number..].iter().step_by(part.len()),
                    output: std::mem::take(&mut outputs[region.number]),
                });
            }
        }
        let [height, width] = self.work.planner.output_size();
        let tasks = regions.chunks_mut(PUT_TOGETHER).map(|regions| PutTogether {
            regions,
            first: self.elements.start,
            of_a_channel: height * width,
        });
        run_tasks(tasks.collect(), self.parallel, |task| Arch::new().dispatch(task));
    }
}

/// The sums of a region's elements, and where they go.
struct OutputOfRegion<'a, S, const L: usize> {
    sums: StepBy<Iter<'a, [S; L]>>,
    output: NumbersMut<'a, S>,
}

/// Some regions whose elements go to their outputs.
struct PutTogether<'a, 'b, S, const L: usize> {
    regions: &'b mut [OutputOfRegion<'a, S, L>],
    /// The number of the first element, and how many a channel of the output has.
    first: usize,
    of_a_channel: usize,
}

impl<S: Sum, const L: usize> WithSimd for PutTogether<'_, '_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let (mut together, mut lanes) = (AlignedPixels::<S, L>::new(), AlignedPixels::new());
        for OutputOfRegion { sums, output } in self.regions {
            together.resize(sums.len());
            for (together, sums) in together.get_mut().iter_mut().zip(sums) {
                *together = *sums;
            }
            simd.vectorize(WriteElements {
                elements: together.get(),
                lanes: &mut lanes,
                first: self.first,
                of_a_channel: self.of_a_channel,
                output,
            });
        }
    }
}
