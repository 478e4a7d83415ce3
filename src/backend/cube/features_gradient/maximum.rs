//! Where each maximum was read, which is where its gradient goes.
//!
//! A launch of its own finds the winners: many tiles reach a large element, and each of them would look for its winner.
//! Nothing is kept from the forward pass.

use cubecl::prelude::*;

use super::tile::{Strides, Tile, place_of_channel};
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::channels::CHANNELS;
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
    let (rows, columns) = (gradient.shape(2), gradient.shape(3));
    let (rest, q) = (place / columns, place % columns);
    let (rest, p) = (rest / rows, rest % rows);
    let (row, channel) = (rest / gradient.shape(1), rest % gradient.shape(1));
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

/// Adds what the winners of an element in a block of channels give the pixel of this unit. Winners lie on pixels, or
/// between them.
#[cube]
pub fn add_winners_of_block<F: Float>(
    winners: &Tensor<F>,
    strides: &Strides,
    place: usize,
    plane: usize,
    channel: usize,
    tile: &Tile,
    sums: &mut Array<f32>,
    #[comptime] between_pixels: bool,
) {
    #[unroll]
    for lane in 0..CHANNELS {
        let winner = place + place_of_channel(strides, channel + lane);
        // Read whether or not they are needed. A branch would wait for each read by itself.
        let y = f32::cast_from(winners[winner]);
        let x = f32::cast_from(winners[winner + plane]);
        let of_winner = f32::cast_from(winners[winner + 2usize * plane]);
        let weight = weight_at(y, tile.y, between_pixels) * weight_at(x, tile.x, between_pixels);
        sums[lane] += select(weight > 0.0, weight * of_winner, 0.0);
    }
}

/// The weight of a row or column in a sample at a position, which the map held within it: a whole number of pixels,
/// and the weight of the pixel behind them.
#[cube]
fn weight_at(position: f32, pixel: u32, #[comptime] between_pixels: bool) -> f32 {
    let pixel = pixel as f32;
    if comptime!(between_pixels) {
        let low = position.floor();
        let fraction = position - low;
        select(low == pixel, 1.0 - fraction, select(low + 1.0 == pixel, fraction, 0.0))
    } else {
        select(position == pixel, 1.0f32, 0.0f32)
    }
}
