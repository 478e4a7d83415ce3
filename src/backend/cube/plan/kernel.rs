//! The kernel that plans: the only one that knows where the elements of axis plans read.

use std::mem::Discriminant;

use cubecl::prelude::*;

use super::layout::{NO_LEVEL, PlanLayout, write_region};
use super::taps::{
    AlongAxis, window_of_bins, window_of_integrals, window_of_samples, write_bin, write_integral, write_nothing,
    write_samples,
};
use crate::backend::cube::launch::Regions;
use crate::backend::cube::unit::region::{BoxRow, read_box};
use crate::geometry::operator::Elements;
use crate::geometry::options::BoxFormat;
use crate::geometry::real::single::area::{AreaRule, in_range};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::bins::bin_rule_at;
use crate::geometry::real::single::integrals::IntegralRule;
use crate::geometry::real::single::rules::{Rules, RulesExpand};
use crate::geometry::real::single::samples::sample_rule_at;

/// How regions read.
#[derive(CubeType, CubeLaunch)]
pub struct PlanRules {
    /// On the finest map. On others, the scale alone differs.
    pub axes: Rules,
    #[cube(comptime)]
    pub settings: PlanSettings,
}

/// What is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlanSettings {
    pub box_format: BoxFormat,
    /// Whether boxes outside of the range of areas are left alone.
    pub of_level: bool,
    /// How elements read. `Rules` says so too, but the hash by which CubeCL 0.11 tells kernels apart does not count the
    /// variant of an argument.
    pub elements: Discriminant<Elements>,
}

/// A map, or a level of a pyramid.
#[derive(CubeType, CubeLaunch)]
pub struct MapPlan {
    /// The areas of boxes that belong to it.
    pub areas: AreaRule,
    pub scale_y: f32,
    pub scale_x: f32,
    pub height: u32,
    pub width: u32,
}

/// The regions that are planned together.
#[derive(CubeType, CubeLaunch)]
pub struct Part {
    /// The row of the first.
    pub first: usize,
    pub regions: usize,
    /// How many images the features have.
    pub images: usize,
}

/// Plans regions. A unit plans an element along y or along x, or writes the header of a region.
#[cube(launch, address_type = "dynamic")]
pub fn plan_regions<R: Float, I: Int>(
    regions: &Regions<R, I>,
    plans: &mut Tensor<u32>,
    rules: &PlanRules,
    maps: &Sequence<MapPlan>,
    part: &Part,
    layout: &PlanLayout,
    #[define(R, I)] _dtypes: [cubecl::ir::ElemType; 2],
) {
    let rows = layout.y.elements as usize;
    let elements = rows + layout.x.elements as usize;
    let (region, item) = (ABSOLUTE_POS / (elements + 1), ABSOLUTE_POS % (elements + 1));
    if region >= part.regions {
        terminate!();
    }
    let row = read_box(
        regions,
        part.first + region,
        part.images,
        comptime!(rules.settings.box_format),
    );
    let map = map_of_box(maps, &row, comptime!(rules.settings.of_level));
    let start = region * layout.words;
    if item == elements {
        write_header(plans, rules, &map, &row, start, layout);
    } else if item < rows {
        let along = along(&map, &row, item as u32, start, layout, true);
        plan_element(plans, rules, &along, map.scale_y, row.valid, true);
    } else {
        let along = along(&map, &row, (item - rows) as u32, start, layout, false);
        plan_element(plans, rules, &along, map.scale_x, row.valid, false);
    }
}

/// The map of a region, and its level.
#[derive(CubeType)]
struct MapOfBox {
    level: u32,
    scale_y: f32,
    scale_x: f32,
    height: u32,
    width: u32,
}

#[cube]
fn map_of_box(maps: &Sequence<MapPlan>, row: &BoxRow, #[comptime] of_level: bool) -> MapOfBox {
    let finest = maps.index(0);
    let mut map = MapOfBox {
        level: 0u32,
        scale_y: finest.scale_y,
        scale_x: finest.scale_x,
        height: finest.height,
        width: finest.width,
    };
    if comptime!(of_level) {
        map.level = comptime!(NO_LEVEL).runtime();
        let count = comptime!(maps.len());
        #[unroll]
        for level in 0..count {
            let other = maps.index(level);
            if in_range(&other.areas, row.y1, row.x1, row.y2, row.x2) {
                map.level = comptime!(level as u32).runtime();
                map.scale_y = other.scale_y;
                map.scale_x = other.scale_x;
                map.height = other.height;
                map.width = other.width;
            }
        }
    }
    map
}

#[cube]
fn write_header(
    plans: &mut Tensor<u32>,
    rules: &PlanRules,
    map: &MapOfBox,
    row: &BoxRow,
    start: usize,
    layout: &PlanLayout,
) {
    if row.valid {
        let y = window(rules, &along(map, row, 0u32, start, layout, true), map.scale_y, true);
        let x = window(rules, &along(map, row, 0u32, start, layout, false), map.scale_x, false);
        write_region(plans, start, map.level, row.image, &y, &x);
    } else {
        // An image that is not there is not read.
        let nothing = Reach { first: 0u32, end: 0u32 };
        write_region(plans, start, map.level, 0usize, &nothing, &nothing);
    }
}

/// An element of a region, along y or along x.
#[cube]
fn along<'a>(
    map: &MapOfBox,
    row: &BoxRow,
    element: u32,
    start: usize,
    layout: &'a PlanLayout,
    #[comptime] is_y: bool,
) -> AlongAxis<'a> {
    AlongAxis::<'a> {
        low: if comptime!(is_y) { row.y1 } else { row.x1 },
        high: if comptime!(is_y) { row.y2 } else { row.x2 },
        element,
        size: if comptime!(is_y) { map.height } else { map.width },
        start,
        layout: if comptime!(is_y) { &layout.y } else { &layout.x },
    }
}

#[cube]
fn plan_element(
    plans: &mut Tensor<u32>,
    rules: &PlanRules,
    along: &AlongAxis<'_>,
    scale: f32,
    is_valid: bool,
    #[comptime] is_y: bool,
) {
    if is_valid {
        match &rules.axes {
            Rules::Samples(y, x) => {
                let rule = sample_rule_at(if comptime!(is_y) { y } else { x }, scale);
                write_samples(plans, &rule, along);
            }
            Rules::Bins(y, x) => {
                let rule = bin_rule_at(if comptime!(is_y) { y } else { x }, scale);
                write_bin(plans, &rule, along);
            }
            Rules::Integrals(_, _) => {
                write_integral(plans, &IntegralRule { spatial_scale: scale }, along);
            }
        }
    } else {
        write_nothing(plans, along);
    }
}

#[cube]
fn window(rules: &PlanRules, along: &AlongAxis<'_>, scale: f32, #[comptime] is_y: bool) -> Reach {
    match &rules.axes {
        Rules::Samples(y, x) => {
            let rule = sample_rule_at(if comptime!(is_y) { y } else { x }, scale);
            window_of_samples(&rule, along)
        }
        Rules::Bins(y, x) => {
            let rule = bin_rule_at(if comptime!(is_y) { y } else { x }, scale);
            window_of_bins(&rule, along)
        }
        Rules::Integrals(_, _) => window_of_integrals(&IntegralRule { spatial_scale: scale }, along),
    }
}
