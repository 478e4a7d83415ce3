//! How elements read, as an argument of kernels. The settings of a plan are compiled in, and how many plans there are.
//! Everything else is not, so that another scale compiles nothing.

use std::mem::{Discriminant, discriminant};

use cubecl::prelude::*;

use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{BoxFormat, Reduction};
use crate::geometry::plan::Coordinate;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch};
use crate::geometry::real::single::bins::{BinRule, BinRuleLaunch};
use crate::geometry::real::single::integrals::{IntegralRule, IntegralRuleLaunch};
use crate::geometry::real::single::points::{PointRule, PointRuleLaunch};
use crate::geometry::real::single::rules::{self, Rules, RulesArgs};
use crate::geometry::real::single::samples::{SampleRule, SampleRuleLaunch};

/// How elements read along each axis, and the range of areas that is pooled.
#[derive(CubeType, CubeLaunch)]
pub struct AxisPlan {
    pub rules: Rules,
    pub areas: AreaRule,
    #[cube(comptime)]
    pub settings: AxisSettings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisSettings {
    /// `Max` stands for `MaxFromZero` too, which is the same kernel with another start.
    pub reduction: Reduction,
    pub box_format: BoxFormat,
    pub channel_map: ChannelMap,
    /// Whether boxes outside of the range of areas are left alone.
    pub of_level: bool,
    /// How elements read. `Rules` says so too, but the hash by which CubeCL 0.11 tells kernels apart does not count the
    /// variant of an argument.
    elements: Discriminant<Elements>,
    /// Whether a sample on a pixel has no slope. False in kernels without slopes, which it would compile twice.
    pub flat_on_pixels: bool,
}

/// How elements read, and how what they read is reduced.
#[derive(CubeType, CubeLaunch)]
pub struct ReductionPlan {
    pub axes: AxisPlan,
    /// Where a sum or a maximum starts.
    pub start: f32,
    /// The value of an element without pixels, and of a sample out of bounds.
    pub outside: f32,
}

/// How elements read points, and the range of areas that is pooled.
#[derive(CubeType, CubeLaunch)]
pub struct PointPlan {
    pub rule: PointRule,
    pub areas: AreaRule,
    #[cube(comptime)]
    pub settings: PointSettings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointSettings {
    pub channels: Channels,
    /// Whether boxes outside of the range of areas are left alone.
    pub of_level: bool,
}

/// Which channels elements read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channels {
    Same,
    OfElements,
    OfSamples,
}

/// The plan of an operator on a map of a height and a width, without slopes.
pub fn axis_plan(operator: &RegionOperator, map: [usize; 2]) -> AxisPlanLaunch {
    make_axis_plan(operator, map, false)
}

/// The plan of an operator on a map of a height and a width, with or without slopes.
pub fn reduction_plan(operator: &RegionOperator, map: [usize; 2], slopes: bool) -> ReductionPlanLaunch {
    ReductionPlanLaunch::new(
        make_axis_plan(operator, map, slopes),
        reduction(operator).1,
        operator.value_without_pixels() as f32,
    )
}

fn make_axis_plan(operator: &RegionOperator, map: [usize; 2], slopes: bool) -> AxisPlanLaunch {
    let settings = AxisSettings {
        reduction: reduction(operator).0,
        box_format: operator.box_format,
        channel_map: operator.channel_map,
        of_level: operator.areas != AreaRange::ALL,
        elements: discriminant(&operator.elements),
        flat_on_pixels: slopes && operator.flat_on_pixels(),
    };
    let rules = match f32::rules(&operator.elements, map) {
        Rules::Samples(y, x) => RulesArgs::Samples(sample_rule(y), sample_rule(x)),
        Rules::Bins(y, x) => RulesArgs::Bins(bin_rule(y), bin_rule(x)),
        Rules::Integrals(y, x) => RulesArgs::Integrals(integral_rule(y), integral_rule(x)),
    };
    AxisPlanLaunch::new(rules, area_rule(operator), settings)
}

/// The plan of an operator whose elements read points.
pub fn point_plan(operator: &RegionOperator) -> PointPlanLaunch {
    let Elements::Points(grid) = &operator.elements else {
        unreachable!("an operator with an axis plan reads no points");
    };
    let settings = PointSettings {
        channels: match operator.channel_map {
            ChannelMap::Same => Channels::Same,
            ChannelMap::PositionSensitive => Channels::OfElements,
            ChannelMap::SampleSensitive { .. } => Channels::OfSamples,
        },
        of_level: operator.areas != AreaRange::ALL,
    };
    PointPlanLaunch::new(point_rule(rules::point_rule(grid)), area_rule(operator), settings)
}

/// The reduction that is compiled in, and where it starts.
fn reduction(operator: &RegionOperator) -> (Reduction, f32) {
    match operator.reduction {
        Reduction::Average => (Reduction::Average, 0.0),
        Reduction::MaxFromZero => (Reduction::Max, 0.0),
        reduction => (reduction, f32::maximum_from(operator)),
    }
}

fn area_rule(operator: &RegionOperator) -> AreaRuleLaunch {
    let areas = rules::area_rule(&operator.areas);
    AreaRuleLaunch::new(areas.from, areas.below)
}

fn sample_rule(rule: SampleRule) -> SampleRuleLaunch {
    SampleRuleLaunch::new(
        rule.spatial_scale,
        rule.box_offset,
        rule.end_offset,
        rule.input_pixel_offset,
        rule.output_pixel_offset,
        rule.sample_at_end,
        rule.minimum_length,
        rule.minimum_samples,
        rule.maximum_samples,
        rule.lower_bound,
        rule.upper_margin,
        rule.rounds_down,
        rule.align_corners,
        rule.arithmetic,
        rule.interpolation,
    )
}

fn bin_rule(rule: BinRule) -> BinRuleLaunch {
    BinRuleLaunch::new(
        rule.spatial_scale,
        rule.end_offset,
        rule.end_pixels,
        rule.minimum_length,
        rule.division,
        rule.unread_pixels,
    )
}

fn integral_rule(rule: IntegralRule) -> IntegralRuleLaunch {
    IntegralRuleLaunch::new(rule.spatial_scale)
}

fn point_rule(rule: PointRule) -> PointRuleLaunch {
    PointRuleLaunch::new(
        rule.placement,
        rule.spatial_scale,
        rule.input_pixel_offset,
        rule.minimum_length,
        rule.samples_y,
        rule.samples_x,
        rule.by_steps,
        rule.radians,
        rule.full_turn,
        rule.offset_scale,
        rule.parts_y,
        rule.parts_x,
        rule.lower_bound,
        rule.upper_margin,
        rule.ignores_out_of_bounds,
    )
}
