//! A task of a forward pass by axis plans: a range of channels of some regions.

use std::ops::Range;

use pulp::{Scalar, Simd};

use super::groups::PoolTask;
use super::kernel::{Kernel, Window};
use super::pass::ForwardPass;
use super::scratch::PoolScratch;
use super::write::{WriteElements, write_region};
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::pixels::{LaneChannels, Planes, Rows, Tile};
use crate::backend::flex::planned::Planned;
use crate::backend::flex::simd::Stream;
use crate::geometry::plan::Planner;

/// The most output elements of a region in a band: 512 KiB of f32.
pub const BAND: usize = 1 << 14;

/// How many rows of a region's output are a band: they are computed before they are written.
pub fn rows_of_a_band(rows: usize, columns: usize) -> usize {
    (BAND / columns).clamp(1, rows)
}

pub struct AxisForwardPass<'a, S: Sum, K> {
    pub kernel: &'a K,
    pub features: &'a Planes<'a, S>,
    pub planner: &'a Planner<S>,
    /// The channels of the output, and the elements of a channel of a region.
    pub output_size: [usize; 2],
    /// [`rows_of_a_band`] of the output.
    pub band_rows: usize,
    /// Whether the output is written past the caches.
    pub streams: bool,
}

impl<S: Sum, K: Kernel<S>> ForwardPass<S> for AxisForwardPass<'_, S, K> {
    type Plan = [K::Plan; 2];

    const IN_MORE_LANES: bool = K::IN_MORE_LANES;

    fn streams(&self) -> bool {
        self.streams
    }

    fn fits(task: &PoolTask<'_, S, Self::Plan>) -> bool {
        task.shared.is_some() || task.windows_fit()
    }

    #[inline(always)]
    fn compute_in_lanes<'a, const L: usize>(
        &self,
        simd: impl Simd,
        task: &mut PoolTask<'a, S, Self::Plan>,
        channels: Range<usize>,
        stream: &mut Option<Stream<'a>>,
    ) {
        let [_, channel_elements] = self.output_size;
        let mut tile = Tile::<S, L>::default();
        let mut scratch = PoolScratch::default();
        let most_rows = task.most_rows();
        for start in channels.clone().step_by(L) {
            let lanes = LaneChannels::adjacent(start, L.min(channels.end - start));
            if let Some([_, columns]) = task.shared {
                tile.clear(most_rows, columns.clone());
            }
            for (region, rest) in task.regions.iter().zip(&mut task.outputs) {
                let [rows, columns] = region.window.clone();
                if task.shared.is_none() {
                    tile.clear(rows.len(), columns);
                }
                tile.load(simd, self.features, region.image, &lanes, rows);
                let output = rest.take(lanes.count * channel_elements);
                compute_region(simd, self, region, &tile, &mut scratch, output, stream);
            }
        }
    }

    fn compute_one_by_one(&self, mut task: PoolTask<'_, S, Self::Plan>) {
        let [_, channel_elements] = self.output_size;
        let mut tile = Tile::<S, 1>::default();
        let mut scratch = PoolScratch::default();
        for channel in task.channels.clone() {
            for (region, rest) in task.regions.iter().zip(&mut task.outputs) {
                let output = rest.take(channel_elements);
                if let Some(plane) = self.features.plane(region.image, channel) {
                    compute_region(Scalar::new(), self, region, &plane, &mut scratch, output, &mut None);
                } else if const { S::SUMS_HALVES } {
                    let [rows, columns] = region.window.clone();
                    tile.clear(rows.len(), columns);
                    let lane = LaneChannels::one(channel);
                    tile.load(Scalar::new(), self.features, region.image, &lane, rows);
                    compute_region(Scalar::new(), self, region, &tile, &mut scratch, output, &mut None);
                }
            }
        }
    }
}

/// Computes a region in up to `L` channels, from rows of its window to its output.
#[inline(always)]
fn compute_region<'a, S: Sum, K: Kernel<S>, const L: usize>(
    simd: impl Simd,
    pass: &AxisForwardPass<'_, S, K>,
    region: &Planned<[K::Plan; 2]>,
    rows: &impl Rows<S, L>,
    scratch: &mut PoolScratch<S, L>,
    mut output: TensorSliceMut<'a, S>,
    stream: &mut Option<Stream<'a>>,
) {
    let [height, width] = pass.planner.output_size();
    let columns = &region.window[1];
    scratch.along_y.resize(K::pixels_along_y(columns.len()));
    for start in (0..height).step_by(pass.band_rows) {
        let output_rows = start..(start + pass.band_rows).min(height);
        scratch.sums.resize(output_rows.len() * width);
        pass.kernel.compute(
            simd,
            [&region.plan[0], &region.plan[1]],
            [output_rows, 0..width],
            Window {
                rows,
                columns: columns.clone(),
            },
            scratch.along_y.get_mut(),
            scratch.sums.get_mut(),
        );
        if pass.band_rows >= height {
            write_region(simd, scratch, output, stream);
            return;
        }
        simd.vectorize(WriteElements {
            elements: scratch.sums.get(),
            lanes: &mut scratch.lanes,
            first: start * width,
            channel_elements: height * width,
            output: &mut output,
        });
    }
}
