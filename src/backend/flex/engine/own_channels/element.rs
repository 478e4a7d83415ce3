//! One element of many regions, in several channels at a time.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::Band;
use crate::backend::flex::engine::groups::{Planned, pays_to_share};
use crate::backend::flex::engine::kernel::{Kernel, Window};
use crate::backend::flex::engine::task::Work;
use crate::backend::flex::numbers::{Number, Sum};
use crate::backend::flex::pixels::{AlignedPixels, LANES, LARGEST_TILE, LaneChannels, Rows, Tile, tile_capacity};
use crate::geometry::plan::{AxisPlan, Coordinate, hull, pixel_count};

/// An element of some regions, and where its sums go.
pub struct ElementOfRegions<'a, E: Number, K: Kernel<E::Sum>, const L: usize> {
    pub band: &'a Band<'a, E, K>,
    pub regions: &'a [Planned<[K::Plan; 2]>],
    /// Its number, row after row.
    pub element: usize,
    pub sums: &'a mut [[E::Sum; L]],
}

/// All that it calls is inlined: only then is it compiled for the processor's vector instructions.
impl<E: Number, K: Kernel<E::Sum>, const L: usize> WithSimd for ElementOfRegions<'_, E, K, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let ElementOfRegions {
            band,
            regions,
            element,
            sums,
        } = self;
        let mut memory = Memory::new();
        let [_, width] = band.work.planner.output_size();
        let place = [element / width, element % width];
        let lanes = LaneChannels {
            first: band.first_channel + band.work.planner.channel_map().first_channel(place, width),
            step: band.step,
            count: band.count,
        };
        let shared = shared_window::<_, _, L>(place, regions);
        if let Some(window) = &shared {
            load(simd, band.work, regions[0].image, &lanes, window, &mut memory.tile);
        }
        for (region, sums) in regions.iter().zip(sums) {
            let window = window(place, region);
            if shared.is_none() {
                // So many channels of a window this large take too much memory.
                if !fits::<L>(&window) {
                    *sums = one_by_one(simd, band.work, place, region, &lanes, &mut memory);
                    continue;
                }
                load(simd, band.work, region.image, &lanes, &window, &mut memory.tile);
            }
            *sums = compute(simd, band.work, place, region, &memory.tile, &mut memory.along_y);
        }
    }
}

/// What an element uses again from region to region: for `L` channels, and for one.
struct Memory<S: Sum, const L: usize> {
    tile: Tile<S, L>,
    along_y: AlignedPixels<S, L>,
    lone_tile: Tile<S, 1>,
    lone_along_y: AlignedPixels<S, 1>,
}

impl<S: Sum, const L: usize> Memory<S, L> {
    fn new() -> Self {
        Self {
            tile: Tile::new(),
            along_y: AlignedPixels::new(),
            lone_tile: Tile::new(),
            lone_along_y: AlignedPixels::new(),
        }
    }
}

/// The pixels that an element reads for a region.
#[inline(always)]
fn window<S: Coordinate, P: AxisPlan<S>>([row, column]: [usize; 2], region: &Planned<[P; 2]>) -> [Range<usize>; 2] {
    // Not by `map`, whose closure was not inlined: with the next function it took a fifth of ps-rfcn.
    let [y, x] = &region.plan;
    [y.window_of(row..row + 1), x.window_of(column..column + 1)]
}

/// The pixels that an element reads for any of the regions, where a copy of them pays and takes little memory.
#[inline(always)]
fn shared_window<S: Coordinate, P: AxisPlan<S>, const L: usize>(
    element: [usize; 2],
    regions: &[Planned<[P; 2]>],
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

/// Whether a tile of a window takes no more memory in `L` channels than the largest one in eight.
fn fits<const L: usize>(window: &[Range<usize>; 2]) -> bool {
    tile_capacity(window) * L <= LARGEST_TILE * LANES
}

/// Copies the pixels of a window.
#[inline(always)]
fn load<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    image: usize,
    lanes: &LaneChannels,
    [rows, columns]: &[Range<usize>; 2],
    tile: &mut Tile<E::Sum, L>,
) {
    tile.clear(rows.len(), columns.clone());
    tile.load(simd, work.features, image, lanes, rows.clone());
}

/// An element of a region in `L` channels.
#[inline(always)]
fn compute<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    [row, column]: [usize; 2],
    region: &Planned<[K::Plan; 2]>,
    rows: &impl Rows<E::Sum, L>,
    along_y: &mut AlignedPixels<E::Sum, L>,
) -> [E::Sum; L] {
    let columns = region.plan[1].window_of(column..column + 1);
    along_y.resize(K::pixels_along_y(columns.len()));
    let mut sums = [[E::Sum::default(); L]];
    work.kernel.compute(
        simd,
        region.plan.each_ref(),
        [row..row + 1, column..column + 1],
        Window { rows, columns },
        along_y.get_mut(),
        &mut sums,
    );
    let [sums] = sums;
    sums
}

/// An element of a region one channel at a time, from where its pixels are.
#[inline(always)]
fn one_by_one<E: Number, K: Kernel<E::Sum>, const L: usize>(
    simd: impl Simd,
    work: &Work<'_, E, K>,
    element: [usize; 2],
    region: &Planned<[K::Plan; 2]>,
    lanes: &LaneChannels,
    memory: &mut Memory<E::Sum, L>,
) -> [E::Sum; L] {
    let Memory {
        lone_tile,
        lone_along_y,
        ..
    } = memory;
    let mut sums = [E::Sum::default(); L];
    for (lane, sum) in sums.iter_mut().enumerate().take(lanes.count) {
        let channel = lanes.first + lane * lanes.step;
        [*sum] = if E::as_sums(&[]).is_some() {
            let plane = work.features.plane(region.image, channel);
            compute(simd, work, element, region, &plane, lone_along_y)
        } else {
            let lane = LaneChannels {
                first: channel,
                step: 1,
                count: 1,
            };
            load(simd, work, region.image, &lane, &window(element, region), lone_tile);
            compute(simd, work, element, region, lone_tile, lone_along_y)
        };
    }
    sums
}
