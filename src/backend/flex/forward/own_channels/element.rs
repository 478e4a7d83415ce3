//! One element of many regions, in several channels at a time.

use std::ops::Range;

use pulp::{Scalar, Simd, WithSimd};

use super::{AveragePass, Band, Plan};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::forward::groups::pays_to_share;
use crate::backend::flex::lanes::LANES;
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Tile};
use crate::backend::flex::planned::Planned;
use crate::geometry::plan::{AxisPlan, hull, pixel_count};

/// An element of some regions, and where its sums go.
pub struct ElementOfRegions<'a, S: Sum, const L: usize> {
    pub band: &'a Band<'a, S>,
    pub regions: &'a [Planned<Plan<S>>],
    /// Its index, row after row.
    pub element: usize,
    pub sums: &'a mut [[S; L]],
}

/// All that it calls is inlined: only then is it compiled for the processor's vector instructions.
impl<S: Sum, const L: usize> WithSimd for ElementOfRegions<'_, S, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let ElementOfRegions {
            band,
            regions,
            element,
            sums,
        } = self;
        let pass = band.pass;
        let mut tile = Tile::<S, L>::default();
        let [_, width] = pass.planner.operator.output_size;
        let position = [element / width, element % width];
        let lanes = LaneChannels::of_group(&pass.planner.groups[element], &band.channels);
        let shared = shared_window::<_, L>(position, regions);
        if let Some(window) = &shared {
            load(simd, pass, regions[0].image, &lanes, window, &mut tile);
        }
        for (region, sums) in regions.iter().zip(sums) {
            let window = window(position, region);
            if shared.is_none() {
                // `L` channels of a window this large take too much memory.
                if !fits::<L>(&window) {
                    one_by_one(pass, position, region, &lanes, &window, sums);
                    continue;
                }
                load(simd, pass, region.image, &lanes, &window, &mut tile);
            }
            *sums = pass.kernel.0.element(simd, &region.plan, position, &tile);
        }
    }
}

/// The pixels that an element reads for a region.
#[inline(always)]
fn window<S: Sum>([row, column]: [usize; 2], region: &Planned<Plan<S>>) -> [Range<usize>; 2] {
    // Not by `map`, whose closure was not inlined: with the next function it took a fifth of ps-rfcn.
    let [y, x] = &region.plan;
    [y.window_of(row..row + 1), x.window_of(column..column + 1)]
}

/// The hull of what an element reads for all regions, if one copy of it pays and takes little memory.
#[inline(always)]
fn shared_window<S: Sum, const L: usize>(
    element: [usize; 2],
    regions: &[Planned<Plan<S>>],
) -> Option<[Range<usize>; 2]> {
    let mut all = [0..0, 0..0];
    let mut pixels = 0;
    for region in regions {
        let window = window(element, region);
        pixels += pixel_count(&window);
        for (all, range) in all.iter_mut().zip(window) {
            *all = hull([all.clone(), range].into_iter());
        }
    }
    (fits::<L>(&all) && pays_to_share(pixels, &all)).then_some(all)
}

/// Whether a tile of a window takes no more memory in `L` channels than the largest tile in [`LANES`].
fn fits<const L: usize>(window: &[Range<usize>; 2]) -> bool {
    pixel_count(window) * L <= LARGEST_TILE * LANES
}

#[inline(always)]
fn load<S: Sum, const L: usize>(
    simd: impl Simd,
    pass: &AveragePass<'_, S>,
    image: usize,
    lanes: &LaneChannels,
    [rows, columns]: &[Range<usize>; 2],
    tile: &mut Tile<S, L>,
) {
    tile.clear(rows.len(), columns.clone());
    tile.load(simd, &pass.features, image, lanes, rows.clone());
}

/// An element of a region one channel at a time, from where its pixels are. It is rare, and compiled without vectors.
#[inline(never)]
fn one_by_one<S: Sum>(
    pass: &AveragePass<'_, S>,
    element: [usize; 2],
    region: &Planned<Plan<S>>,
    lanes: &LaneChannels,
    window: &[Range<usize>; 2],
    sums: &mut [S],
) {
    let mut memory = AlignedPixels::default();
    for (lane, sum) in sums.iter_mut().enumerate().take(lanes.count) {
        let channel = lanes.first + lane * lanes.step;
        let plane = pass.features.plane(region.image, channel, window, &mut memory);
        [*sum] = pass.kernel.0.element(Scalar::new(), &region.plan, element, &plane);
    }
}
