//! The kernel of axis plans: a cube owns a box, and its units sum over elements and channels.

use cubecl::prelude::*;

use super::ends::{EndsGradient, write_sum};
use super::integrals::add_integral;
use super::samples::{add_average, add_maximum};
use crate::backend::cube::launch::{Regions, UNITS};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::{BoxRow, is_pooled, read_box};
use crate::backend::cube::unit::winner::channel_element;
use crate::geometry::operator::ChannelMap;
use crate::geometry::options::Reduction;
use crate::geometry::real::single::rules::{Rules, RulesExpand};

#[cube(launch, address_type = "dynamic")]
pub fn pull_boxes<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<R>,
    plan: &ReductionPlan,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    let row = CUBE_POS;
    if row >= gradient.shape(0) {
        terminate!();
    }
    let settings = comptime!(plan.settings);
    let unit = UNIT_POS as usize;
    let region = read_box(regions, row, features.shape(0), settings.box_format);
    let mut of_ends = EndsGradient {
        y1: 0.0,
        y2: 0.0,
        x1: 0.0,
        x2: 0.0,
    };
    if is_pooled(&region, plan) {
        let of_a_channel = gradient.shape(2) * gradient.shape(3);
        let mut item = unit;
        while item < gradient.shape(1) * of_a_channel {
            add_item(gradient, features, plan, &region, row, item, &mut of_ends);
            item += UNITS;
        }
    }
    let columns = comptime!(settings.box_format.columns());
    let mut shared = Shared::<[f32]>::new_slice(UNITS);
    write_sum(output, row, comptime!(columns[0][0]).runtime(), of_ends.y1, &mut shared);
    write_sum(output, row, comptime!(columns[0][1]).runtime(), of_ends.y2, &mut shared);
    write_sum(output, row, comptime!(columns[1][0]).runtime(), of_ends.x1, &mut shared);
    write_sum(output, row, comptime!(columns[1][1]).runtime(), of_ends.x2, &mut shared);
}

/// Adds what one element of one channel gives.
#[cube]
fn add_item<F: Float>(
    gradient: &Tensor<F>,
    features: &Tensor<F>,
    plan: &ReductionPlan,
    region: &BoxRow,
    row: usize,
    item: usize,
    of_ends: &mut EndsGradient,
) {
    let settings = comptime!(plan.settings);
    let (rows, columns) = (gradient.shape(2), gradient.shape(3));
    let (rest, q) = (item / columns, item % columns);
    let (channel, p) = (rest / rows, rest % rows);
    let of_element =
        row * gradient.stride(0) + channel * gradient.stride(1) + p * gradient.stride(2) + q * gradient.stride(3);
    let of_element = f32::cast_from(gradient[of_element]);
    let mut input = channel;
    if comptime!(settings.channel_map == ChannelMap::PositionSensitive) {
        input = (channel * rows + p) * columns + q;
    }
    let element = channel_element(
        region,
        p as u32,
        q as u32,
        rows as u32,
        columns as u32,
        region.image * features.stride(0) + input * features.stride(1),
    );
    match &plan.rules {
        Rules::Samples(y, x) => {
            if comptime!(settings.reduction == Reduction::Average) {
                add_average(features, y, x, &element, of_element, of_ends, settings.flat_on_pixels);
            } else {
                add_maximum(features, y, x, &element, of_element, plan, of_ends);
            }
        }
        Rules::Bins(_, _) => {}
        Rules::Integrals(y, x) => {
            add_integral(features, y, x, &element, of_element, of_ends);
        }
    }
}
