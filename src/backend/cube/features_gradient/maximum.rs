//! Where each maximum was read, which is where its gradient goes.
//!
//! A launch of its own finds the winners: many tiles reach a large element, and each of them would look for its winner.
//! Nothing is kept from the forward pass.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use super::sums::{Sums, sum_place};
use super::tile::{SIDE, Tile, own_column};
use crate::backend::cube::forward::NOWHERE;
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::{is_pooled, read_box};
use crate::backend::cube::unit::winner::{channel_element, winner_of_samples};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::taps;

/// What is written for each element of samples, as the bits of an f32: the position of the winner along y and along x,
/// and the weight of its pixel. Each has a plane of the shape of the gradient.
pub const PLANES: usize = 3;

/// The position of no winner. No pixel of the map has a part in it.
const BEYOND: f32 = -2.0;

/// Finds the winners among samples. Nothing is written for an invalid region or one of another level: the gather never
/// reads these.
#[cube(launch, address_type = "dynamic")]
pub fn find_winners<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    winners: &mut Tensor<u32>,
    plan: &ReductionPlan,
    elements: usize,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    let place = ABSOLUTE_POS;
    if place >= elements {
        terminate!();
    }
    let (channels, rows, columns) = (winners.shape(1), winners.shape(2), winners.shape(3));
    let (rest, q) = (place / columns, place % columns);
    let (rest, p) = (rest / rows, rest % rows);
    let (row, channel) = (rest / channels, rest % channels);
    let box_format = comptime!(plan.settings.box_format);
    let region = read_box(regions, row, features.shape(0), box_format);
    if !is_pooled(&region, plan) {
        terminate!();
    }
    let plane = region.image * features.stride(0) + channel * features.stride(1);
    let element = channel_element(&region, p as u32, q as u32, rows as u32, columns as u32, plane);
    match &plan.rules {
        Rules::Samples(rule_y, rule_x) => {
            let winner = winner_of_samples(features, rule_y, rule_x, &element, plan);
            let mut y = comptime!(BEYOND).runtime();
            let mut x = comptime!(BEYOND).runtime();
            if winner.found {
                let taps_y = taps(rule_y, winner.y, features.shape(2) as u32);
                let taps_x = taps(rule_x, winner.x, features.shape(3) as u32);
                y = taps_y.low as f32 + taps_y.fraction;
                x = taps_x.low as f32 + taps_x.fraction;
            }
            let place =
                row * winners.stride(0) + channel * winners.stride(1) + p * winners.stride(2) + q * winners.stride(3);
            winners[place] = u32::reinterpret(y);
            winners[elements + place] = u32::reinterpret(x);
            winners[2usize * elements + place] = u32::reinterpret(winner.weight);
        }
        // Positions of pixels are found by rows, and an integral has no maximum.
        Rules::Bins(_, _) => {}
        Rules::Integrals(_, _) => {}
    }
}

/// Adds the gradient of an element at the pixel that was its maximum, if that is one of the tile.
#[cube]
pub fn add_at_pixel<F: Float>(
    gradient: &Tensor<F>,
    place: usize,
    position: u32,
    width: &FastDivmod<u32>,
    tile: &Tile,
    sums: &mut Sums,
) {
    let (y, x) = width.div_mod(position);
    // Pixels before the tile have huge numbers in a u32.
    let (row, column) = (y - tile.place.y, x - tile.place.x);
    let side = comptime!(SIDE as u32);
    if position != NOWHERE && row < side && column < side {
        sums.values[sum_place(tile, row, own_column(tile, column))] += f32::cast_from(gradient[place]);
    }
}

/// Adds the gradient of an element at the pixels around the sample that was its maximum. `winner` is its place in the
/// first plane of winners, and `plane` the distance to the next.
#[cube]
pub fn add_at_sample<F: Float>(
    gradient: &Tensor<F>,
    place: usize,
    winners: &Tensor<u32>,
    winner: usize,
    plane: usize,
    tile: &Tile,
    sums: &mut Sums,
) {
    let y = f32::reinterpret(winners[winner]) - tile.place.y as f32;
    let x = f32::reinterpret(winners[winner + plane]) - tile.place.x as f32;
    let side = comptime!(SIDE as f32);
    // Most winners lie in another tile.
    if y + 1.0 > 0.0 && y < side && x + 1.0 > 0.0 && x < side {
        let weight = f32::reinterpret(winners[winner + 2usize * plane]);
        let gradient = weight * f32::cast_from(gradient[place]);
        let (low_y, low_x) = (y.floor(), x.floor());
        let (part_y, part_x) = (y - low_y, x - low_x);
        add_part(tile, low_y, low_x, (1.0 - part_y) * (1.0 - part_x), gradient, sums);
        add_part(tile, low_y, low_x + 1.0, (1.0 - part_y) * part_x, gradient, sums);
        add_part(tile, low_y + 1.0, low_x, part_y * (1.0 - part_x), gradient, sums);
        add_part(tile, low_y + 1.0, low_x + 1.0, part_y * part_x, gradient, sums);
    }
}

/// Adds to a pixel if it has a part in the sample and is one of the tile.
#[cube]
fn add_part(tile: &Tile, y: f32, x: f32, weight: f32, gradient: f32, sums: &mut Sums) {
    let side = comptime!(SIDE as f32);
    if weight > 0.0 && y >= 0.0 && y < side && x >= 0.0 && x < side {
        sums.values[sum_place(tile, y as u32, own_column(tile, x as u32))] += weight * gradient;
    }
}
