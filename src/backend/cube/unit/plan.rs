//! How elements read, as an argument of kernels. The settings of a plan are compiled in, and how many plans there are.
//! Everything else is not, so that another scale compiles nothing.

use std::mem::{Discriminant, discriminant};

use cubecl::prelude::*;

use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{ChannelMap, Elements, RegionOperator};
use crate::geometry::options::{BoxFormat, Reduction};
use crate::geometry::plan::Coordinate;
use crate::geometry::real::single::area::AreaRule;
use crate::geometry::real::single::points::PointRule;
use crate::geometry::real::single::rules::{self, Rules, RulesArgs};

/// How elements read along each axis, how what they read is reduced, and the range of areas that is pooled.
#[derive(CubeType, CubeLaunch)]
pub struct ReductionPlan {
    pub rules: Rules,
    pub areas: AreaRule,
    /// Where a sum or a maximum starts.
    pub start: f32,
    /// The value of an element without pixels, and of a sample out of bounds.
    pub outside: f32,
    #[cube(comptime)]
    pub settings: ReductionSettings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReductionSettings {
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

/// The plan of an operator on a map of a height and a width, with or without slopes.
pub fn reduction_plan(operator: &RegionOperator, map: [usize; 2], slopes: bool) -> ReductionPlanLaunch {
    let (reduction, start) = reduction(operator);
    let settings = ReductionSettings {
        reduction,
        box_format: operator.box_format,
        channel_map: operator.channel_map,
        of_level: operator.areas != AreaRange::ALL,
        elements: discriminant(&operator.elements),
        flat_on_pixels: slopes && operator.flat_on_pixels(),
    };
    ReductionPlanLaunch::new(
        rules_of_axes(operator, map),
        rules::area_rule(&operator.areas).launch(),
        start,
        operator.value_without_pixels() as f32,
        settings,
    )
}

/// Where the elements of an operator read on a map of a height and a width.
pub fn rules_of_axes(operator: &RegionOperator, map: [usize; 2]) -> RulesArgs {
    match f32::rules(&operator.elements, map) {
        Rules::Samples(y, x) => RulesArgs::Samples(y.launch(), x.launch()),
        Rules::Bins(y, x) => RulesArgs::Bins(y.launch(), x.launch()),
        Rules::Integrals(y, x) => RulesArgs::Integrals(y.launch(), x.launch()),
    }
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
    PointPlanLaunch::new(
        rules::point_rule(grid).launch(),
        rules::area_rule(&operator.areas).launch(),
        settings,
    )
}

/// The reduction that is compiled in, and where it starts.
pub fn reduction(operator: &RegionOperator) -> (Reduction, f32) {
    match operator.reduction {
        Reduction::Average => (Reduction::Average, 0.0),
        Reduction::MaxFromZero => (Reduction::Max, 0.0),
        reduction => (reduction, f32::maximum_from(operator)),
    }
}
