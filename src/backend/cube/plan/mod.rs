//! The plan of a call: where the elements of each region read along y and along x, and with which weights. One launch
//! writes it, before those that read pixels. These know no rule of a framework.
//!
//! - [`layout`]: how a plan lies in memory.
//! - [`kernel`]: the kernel that writes it. [`taps`]: the pixels and weights of an element.

mod kernel;
pub mod layout;
mod taps;

use std::mem::discriminant;
use std::ops::Range;

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use super::launch::{grid, launch, output};
use super::unit::plan::rules_of_axes;
use crate::backend::RegionCall;
use crate::geometry::levels::AreaRange;
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::Coordinate;
use crate::geometry::real::single::rules;
use kernel::{MapPlanLaunch, PartLaunch, PlanRulesLaunch, PlanSettings, plan_regions};
use layout::{PlanLayoutLaunch, Words};

/// A plan has at most so many words, 64 MiB. WebGPU promises buffers of 128 MiB. The plans of more regions are made one
/// after another, each before the launch that reads it.
const MOST_WORDS: usize = 1 << 24;

/// How many units a cube of the kernel has. A few: units of a cube that wait for the slowest one hold back no others.
const UNITS: usize = 64;

/// How the plans of a call are made.
pub struct Planner<'a> {
    call: &'a RegionCall<CubeBackend>,
    operators: &'a [RegionOperator],
    /// The height and width of each map.
    maps: Vec<[usize; 2]>,
    words: Words,
}

impl<'a> Planner<'a> {
    /// For a call on these maps, each by its operator.
    pub fn new(call: &'a RegionCall<CubeBackend>, operators: &'a [RegionOperator], maps: Vec<[usize; 2]>) -> Self {
        let largest = [0, 1].map(|axis| maps.iter().map(|map| map[axis]).max().expect("there is a map"));
        Self {
            call,
            operators,
            words: Words::new(&operators[0], largest),
            maps,
        }
    }

    /// The rows of the regions that are planned together.
    pub fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let regions = self.call.boxes.shape()[0];
        let of_part = (MOST_WORDS / self.words.of_region).clamp(1, regions);
        (0..regions)
            .step_by(of_part)
            .map(move |first| first..regions.min(first + of_part))
    }

    /// Whether a row of the output has more than `elements` elements, which read more than so many columns of pixels.
    /// False where that depends on the region.
    pub fn repeats_columns(&self, columns: usize, elements: usize) -> bool {
        self.words.columns().is_some_and(|read| read > columns) && self.operators[0].output_size[1] > elements
    }

    /// How a plan lies in memory, as an argument of kernels.
    pub fn layout(&self) -> PlanLayoutLaunch {
        self.words.launch()
    }

    /// The plan of the regions of some rows.
    pub fn plan(&self, rows: Range<usize>) -> CubeTensor {
        let (call, words) = (self.call, rows.len() * self.words.of_region);
        let plans = output(&call.boxes, Shape::new([words]), DType::U32);
        let [elements_y, elements_x] = self.operators[0].output_size;
        let units = rows.len() * (elements_y + elements_x + 1);
        let finest = &self.operators[0];
        let settings = PlanSettings {
            box_format: finest.box_format,
            of_level: finest.areas != AreaRange::ALL,
            elements: discriminant(&finest.elements),
        };
        let maps = self.operators.iter().zip(&self.maps).map(|(operator, &map)| {
            let [scale_y, scale_x] = f32::rules(&operator.elements, map).spatial_scales();
            MapPlanLaunch::new(
                rules::area_rule(&operator.areas).launch(),
                scale_y,
                scale_x,
                map[0] as u32,
                map[1] as u32,
            )
        });
        let grid = grid(units.div_ceil(UNITS), UNITS);
        let rules = PlanRulesLaunch::new(rules_of_axes(finest, self.maps[0]), settings);
        let part = PartLaunch::new(rows.start, rows.len(), call.features_shape[0]);
        let dtypes = [call.boxes.dtype, call.batch_indices.dtype].map(dtype_to_storage_type);
        launch!(plan_regions, grid, [call, plans] => plans, rules, maps.collect(), part, self.layout(), dtypes);
        plans
    }
}
