//! The gradient of features of point plans: each sample adds its part of its element's gradient at four pixels.

use cubecl::prelude::*;

use super::marks::{OF_WORD, marks_of_tile};
use super::point_samples::{Elements, Sample, Samples, elements, look_at_elements, look_at_sample, sample, samples};
use super::sums::{Sums, sum_place, sums, write_tile};
use super::tile::{Tile, Tiles, UNITS, tile};
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::plan::{Channels, PointPlan};
use crate::backend::cube::unit::point_region::{CallSizes, PointRegion, read_region};

/// Gathers from all regions of a call, whose windows have been marked.
#[cube(launch, address_type = "dynamic")]
pub fn gather_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    regions: &Regions<R, I>,
    marks_of_tiles: &Tensor<u32>,
    output: &mut Tensor<F>,
    plan: &PointPlan,
    sizes: &CallSizes,
    tiles: &Tiles,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if CUBE_POS >= tiles.cubes {
        terminate!();
    }
    let tile = tile(tiles);
    let mut sums = sums(tiles.sharing, false);
    let mut elements = elements();
    let mut samples = samples();
    let mut marks = Shared::<[u32]>::new_slice(1usize);
    for word in 0..gradient.shape(0).div_ceil(OF_WORD) {
        let mut bits = marks_of_tile(marks_of_tiles, word, tiles, &tile, &mut marks);
        while bits != 0u32 {
            let row = word * OF_WORD + bits.trailing_zeros() as usize;
            bits &= bits - 1u32;
            let region = read_region(regions, row, plan, sizes);
            add_region(gradient, &region, &tile, sizes, &mut elements, &mut samples, &mut sums);
        }
    }
    write_tile(output, tiles, &tile, &mut sums, false);
}

/// Adds what a region gives the tile.
#[cube]
fn add_region<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    region: &PointRegion<'_, R, I>,
    tile: &Tile,
    sizes: &CallSizes,
    elements: &mut Elements,
    samples: &mut Samples,
    sums: &mut Sums,
) {
    let together = comptime!(UNITS as u32);
    let place = region.row * gradient.stride(0) + tile.channel * gradient.stride(1);
    let mut first = 0u32;
    let mut end = sizes.rows * sizes.columns;
    if comptime!(region.plan.settings.channels == Channels::OfElements) {
        first = tile.group as u32;
        end = first + 1u32;
    }
    while first < end {
        let count = look_at_elements(elements, region, tile, first, end);
        let mut begin = 0u32;
        while begin < count {
            // What was looked at before has been read by now.
            sync_cube();
            let number = begin + UNIT_POS;
            if number < count {
                look_at_sample(samples, &*elements, region, tile, first, number);
            }
            sync_cube();
            for number in 0..together.min(count - begin) {
                let sample = sample(&*samples, number, tile);
                if sample.is_read {
                    let of_element = sample.p as usize * gradient.stride(2) + sample.q as usize * gradient.stride(3);
                    add_sample(tile, &sample, f32::cast_from(gradient[place + of_element]), sums);
                }
            }
            begin += together;
        }
        first += together;
    }
}

/// Adds an element's gradient at the pixels of a sample. They differ, or are not written.
#[cube]
fn add_sample(tile: &Tile, sample: &Sample, gradient: f32, sums: &mut Sums) {
    let (of_top, of_bottom) = (sample.upper * gradient, sample.lower * gradient);
    let (of_left, of_right) = (1.0 - sample.right_part, sample.right_part);
    let top_left = sum_place(tile, sample.top, sample.left);
    let top_right = sum_place(tile, sample.top, sample.right);
    let bottom_left = sum_place(tile, sample.bottom, sample.left);
    let bottom_right = sum_place(tile, sample.bottom, sample.right);
    // All are read before one is written, so that a unit waits once.
    let first = sums.values[top_left] + of_left * of_top;
    let second = sums.values[top_right] + of_right * of_top;
    let third = sums.values[bottom_left] + of_left * of_bottom;
    let fourth = sums.values[bottom_right] + of_right * of_bottom;
    sums.values[top_left] = first;
    sums.values[top_right] = second;
    sums.values[bottom_left] = third;
    sums.values[bottom_right] = fourth;
}
