//! The kernel of operators that read samples, bins or integrals along each axis.

use cubecl::prelude::*;

use super::bins::pool_bins;
use super::integrals::pool_integrals;
use super::samples::pool_samples;
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::element::{Units, element};
use crate::backend::cube::unit::plan::ReductionPlan;
use crate::backend::cube::unit::region::read_box;
use crate::geometry::real::single::area::in_range;
use crate::geometry::real::single::rules::{Rules, RulesExpand};

#[cube(launch, address_type = "dynamic")]
pub fn pool_regions<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    regions: &Regions<R, I>,
    output: &mut Tensor<F>,
    units: &Units,
    plan: &ReductionPlan,
    #[define(F, R, I)] _dtypes: [cubecl::ir::ElemType; 3],
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let settings = comptime!(plan.axes.settings);
    let element = element(units);
    let region = read_box(regions, element.region, features.shape(0), settings.box_format);
    if comptime!(settings.of_level) && !in_range(&plan.axes.areas, region.y1, region.x1, region.y2, region.x2) {
        terminate!();
    }
    match &plan.axes.rules {
        Rules::Samples(y, x) => pool_samples(features, output, &element, &region, y, x, plan),
        Rules::Bins(y, x) => pool_bins(features, output, &element, &region, y, x, plan),
        Rules::Integrals(y, x) => pool_integrals(features, output, &element, &region, y, x),
    }
}
