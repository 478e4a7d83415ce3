//! Which channels of a task are computed in [`MORE_LANES`], and which in [`LANES`].

use std::ops::Range;

use super::groups::PoolTask;
use crate::backend::flex::lanes::{LANES, MORE_LANES};
use crate::backend::flex::simd::HAS_MORE_LANES;
use crate::geometry::plan::pixel_count;

/// The most pixels that a tile of [`MORE_LANES`] holds: 1 MiB of f32. With at most 640 KiB, rotated-p2 took 170 ms on
/// one thread of an AMD EPYC with 512 KiB of L2; with 1 MiB it takes 118.
const LARGEST_TILE_OF_MORE: usize = 16 << 10;

/// How often regions read a pixel of their copy, at least, if more lanes pay. mask-p2 reads one 0.6 times, spends most
/// of its time on the copy, and took a tenth longer in more lanes. box-p2 reads one 6 times.
const READS_OF_MORE: usize = 2;

/// Whether sums of `S` are ever computed in more lanes.
pub const fn has_more_lanes<S>() -> bool {
    size_of::<S>() == size_of::<f32>() && HAS_MORE_LANES
}

/// The first channels of a task, which are computed in more lanes. If the rest is half a block or less, it is computed
/// in fewer lanes.
pub fn channels_of_more_lanes<S, P>(task: &PoolTask<'_, S, P>) -> Range<usize> {
    let Range { start, end } = task.channels;
    if end - start <= LANES || !pays_to_take_more(task) {
        return start..start;
    }
    let more = (end - start + LANES - 1) / MORE_LANES * MORE_LANES;
    start..end.min(start + more)
}

/// Whether a task is faster in more lanes.
fn pays_to_take_more<S, P>(task: &PoolTask<'_, S, P>) -> bool {
    let Some(hull) = task.shared else {
        return false;
    };
    let read: usize = task.regions.iter().map(|region| pixel_count(&region.window)).sum();
    let largest_tile = task.most_rows() * hull[1].len();
    read >= READS_OF_MORE * pixel_count(hull) && largest_tile <= LARGEST_TILE_OF_MORE
}
