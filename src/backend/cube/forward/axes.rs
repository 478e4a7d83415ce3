//! The kernel of operators that read samples, bins or integrals along each axis.

use cubecl::prelude::*;

use super::bins::pool_bins;
use super::integrals::pool_integrals;
use super::samples::pool_samples;
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::element::{Element, Units, element};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::{BoxRow, read_box};
use crate::geometry::real::single::area::in_range;
use crate::geometry::real::single::rules::{Rules, RulesExpand};

/// The number of levels is compiled in, and the code of a level once for each.
#[cube(launch, address_type = "dynamic")]
pub fn pool_regions<F: Float, R: Float, I: Int>(
    levels: &Sequence<OwnedTensor<F>>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    units: &Units,
    plans: &Sequence<ReductionPlan>,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let element = element(units);
    let plan = plans.index(0);
    let box_format = comptime!(plan.axes.settings.box_format);
    let region = read_box(regions, element.region, levels.index(0).shape(0), box_format);
    let count = comptime!(levels.len());
    #[unroll]
    for level in 0..count {
        pool_level(levels.index(level), output, &element, &region, plans.index(level));
    }
}

/// Pools an element from a map, if its region is in the range of areas.
#[cube]
fn pool_level<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    element: &Element,
    region: &BoxRow,
    plan: &ReductionPlan,
) {
    let of_level = comptime!(plan.axes.settings.of_level);
    if comptime!(!of_level) || in_range(&plan.axes.areas, region.y1, region.x1, region.y2, region.x2) {
        match &plan.axes.rules {
            Rules::Samples(y, x) => pool_samples(features, output, element, region, y, x, plan),
            Rules::Bins(y, x) => pool_bins(features, output, element, region, y, x, plan),
            Rules::Integrals(y, x) => pool_integrals(features, output, element, region, y, x),
        }
    }
}
