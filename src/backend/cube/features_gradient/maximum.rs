//! Where each maximum was read, which is where its gradient goes.
//!
//! A launch of its own finds the winners: many tiles reach a large element, and each of them would look for its winner.
//! Nothing is kept from the forward pass.

use cubecl::prelude::*;

use super::tile::{SIDE, Sums, Tile, own_column, sum_place};
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::{is_pooled, read_box};
use crate::backend::cube::unit::winner::{
    ChannelElement, Winner, channel_element, no_winner, winner_of_bin, winner_of_samples,
};
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::taps;

/// What is written for each element: the position of the winner along y and along x, and the gradient that goes there.
/// Each has a plane of the shape of the gradient.
pub const PLANES: usize = 3;

/// The position of no winner. No pixel of the map has a part in it.
const BEYOND: f32 = -2.0;

/// Finds the winners. Nothing is written for an invalid region or one of another level: the gather never lists these.
#[cube(launch, address_type = "dynamic")]
pub fn find_winners<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    winners: &mut Tensor<f32>,
    plan: &ReductionPlan,
    elements: usize,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    let place = ABSOLUTE_POS;
    if place >= elements {
        terminate!();
    }
    let (channels, rows, columns) = (gradient.shape(1), gradient.shape(2), gradient.shape(3));
    let (rest, q) = (place / columns, place % columns);
    let (rest, p) = (rest / rows, rest % rows);
    let (row, channel) = (rest / channels, rest % channels);
    let box_format = comptime!(plan.axes.settings.box_format);
    let region = read_box(regions, row, features.shape(0), box_format);
    if !is_pooled(&region, &plan.axes) {
        terminate!();
    }
    let plane = region.image * features.stride(0) + channel * features.stride(1);
    let element = channel_element(&region, p as u32, q as u32, rows as u32, columns as u32, plane);
    let winner = winner(features, &element, plan);
    let mut y = comptime!(BEYOND).runtime();
    let mut x = comptime!(BEYOND).runtime();
    let mut of_winner = 0.0f32;
    if winner.found {
        let of_element =
            row * gradient.stride(0) + channel * gradient.stride(1) + p * gradient.stride(2) + q * gradient.stride(3);
        of_winner = winner.weight * f32::cast_from(gradient[of_element]);
        match &plan.axes.rules {
            Rules::Samples(rule_y, rule_x) => {
                let taps_y = taps(rule_y, winner.y, features.shape(2) as u32);
                let taps_x = taps(rule_x, winner.x, features.shape(3) as u32);
                y = taps_y.low as f32 + taps_y.fraction;
                x = taps_x.low as f32 + taps_x.fraction;
            }
            _ => {
                y = winner.y;
                x = winner.x;
            }
        }
    }
    // Channels are next to each other, as in the gradient of an average.
    let place = ((row * rows + p) * columns + q) * channels + channel;
    winners[place] = y;
    winners[elements + place] = x;
    winners[2usize * elements + place] = of_winner;
}

#[cube]
fn winner<F: Float>(features: &Tensor<F>, element: &ChannelElement<'_>, plan: &ReductionPlan) -> Winner {
    match &plan.axes.rules {
        Rules::Samples(y, x) => winner_of_samples(features, y, x, element, plan),
        Rules::Bins(y, x) => winner_of_bin(features, y, x, element, plan.start),
        // An integral has no maximum.
        Rules::Integrals(_, _) => no_winner(plan.start),
    }
}

/// Adds the gradient of an element where its winner lies, which is on a pixel or between pixels.
#[cube]
pub fn add_winner<F: Float>(
    winners: &Tensor<F>,
    place: usize,
    plane: usize,
    tile: &Tile,
    sums: &mut Sums,
    #[comptime] between_pixels: bool,
) {
    let y = f32::cast_from(winners[place]) - tile.place.y as f32;
    let x = f32::cast_from(winners[place + plane]) - tile.place.x as f32;
    let side = comptime!(SIDE as f32);
    // Most winners lie in another tile.
    if y + 1.0 > 0.0 && y < side && x + 1.0 > 0.0 && x < side {
        let gradient = f32::cast_from(winners[place + 2usize * plane]);
        if comptime!(between_pixels) {
            let (low_y, low_x) = (y.floor(), x.floor());
            let (part_y, part_x) = (y - low_y, x - low_x);
            add_at(tile, low_y, low_x, (1.0 - part_y) * (1.0 - part_x), gradient, sums);
            add_at(tile, low_y, low_x + 1.0, (1.0 - part_y) * part_x, gradient, sums);
            add_at(tile, low_y + 1.0, low_x, part_y * (1.0 - part_x), gradient, sums);
            add_at(tile, low_y + 1.0, low_x + 1.0, part_y * part_x, gradient, sums);
        } else {
            add_at(tile, y, x, 1.0f32.runtime(), gradient, sums);
        }
    }
}

/// Adds to a pixel if it has a part in the winner and is one of the tile.
#[cube]
fn add_at(tile: &Tile, y: f32, x: f32, weight: f32, gradient: f32, sums: &mut Sums) {
    let side = comptime!(SIDE as f32);
    if weight > 0.0 && y >= 0.0 && y < side && x >= 0.0 && x < side {
        let place = sum_place(tile, y as u32, own_column(tile, x as u32));
        sums.values[place] += weight * gradient;
    }
}
