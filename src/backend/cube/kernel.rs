//! The forward kernel of operators that read samples, bins or integrals: a unit computes one output element in up to 32
//! channels.

use std::mem::{Discriminant, discriminant};

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

use super::bins::pool_bins;
use super::blocks::Layout;
use super::integrals::pool_integrals;
use super::samples::pool_samples;
use super::unit::{BLOCKS, ENOUGH_UNITS, Units, UnitsLaunch, channels_of_block, element, read_box};
use crate::backend::output_shape;
use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::options::{BoxFormat, Reduction};
use crate::geometry::plan::Coordinate;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch, in_range};
use crate::geometry::real::single::bins::{BinRule, BinRuleLaunch};
use crate::geometry::real::single::integrals::{IntegralRule, IntegralRuleLaunch};
use crate::geometry::real::single::rules::{Rules, RulesArgs, RulesExpand, area_rule};
use crate::geometry::real::single::samples::{SampleRule, SampleRuleLaunch};

/// What is compiled in. Everything else of an operator is an argument, so that another scale, say, compiles nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Compiled {
    pub reduction: Reduction,
    box_format: BoxFormat,
    /// Whether boxes outside of the range of areas are left alone.
    of_level: bool,
    /// How elements read. `Rules` says so too, but the hash by which CubeCL 0.11 tells kernels apart does not count the
    /// variant of an argument.
    elements: Discriminant<Elements>,
    pub layout: Layout,
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn pool_regions<F: Float, R: Float, I: Int>(
    features: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    units: &Units,
    rules: &Rules,
    areas: &AreaRule,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let element = element(units);
    let region = read_box(
        boxes,
        batch_indices,
        element.region,
        features.shape(0),
        compiled.box_format,
    );
    if comptime!(compiled.of_level) && !in_range(areas, region.y1, region.x1, region.y2, region.x2) {
        terminate!();
    }
    match rules {
        Rules::Samples(y, x) => {
            pool_samples(
                features, output, units, &element, &region, y, x, start, outside, compiled,
            );
        }
        Rules::Bins(y, x) => {
            pool_bins(
                features, output, units, &element, &region, y, x, start, outside, compiled,
            );
        }
        Rules::Integrals(y, x) => {
            pool_integrals(features, output, units, &element, &region, y, x, compiled);
        }
    }
}

/// Launches the kernel, for a call or for a level of a pyramid, of which `pooled` is what other levels have pooled.
pub fn launch(
    pooled: Option<CubeTensor>,
    features: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
) -> CubeTensor {
    let client = features.client.clone();
    let shape = output_shape(&features.shape(), &boxes.shape(), operator);
    let output = match pooled {
        Some(pooled) if pooled.can_mut() => pooled,
        Some(pooled) => pooled.copy(),
        None => empty_device_contiguous_dtype(client.clone(), features.device.clone(), shape.clone(), features.dtype),
    };
    // The size of a cube is compiled in. It is always that of a large launch, so that another number of regions
    // compiles nothing.
    let dim = CubeDim::new(&client, u32::MAX as usize);
    let (units, total) = units(shape.dims());
    let (dtype, box_dtype, index_dtype) = (features.dtype, boxes.dtype, batch_indices.dtype);
    let addresses = address_type([&features, &boxes, &batch_indices, &output]);
    let [_, _, height, width] = features.shape().dims();
    let layout = Layout::new(shape[1], operator.channel_map, &features);
    let (reduction, start) = reduction(operator);
    let areas = area_rule(&operator.areas);
    pool_regions::launch(
        &client,
        calculate_cube_count_elemwise(&client, total, dim),
        dim,
        addresses,
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        units,
        rules(f32::rules(&operator.elements, [height, width])),
        AreaRuleLaunch::new(areas.from, areas.below),
        start,
        operator.value_without_pixels() as f32,
        Compiled {
            reduction,
            box_format: operator.box_format,
            of_level: operator.areas != AreaRange::ALL,
            elements: discriminant(&operator.elements),
            layout,
        },
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(box_dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}

/// How the elements of an output `[K, channels, P, Q]` are divided among units, and how many units there are.
pub fn units([regions, channels, rows, columns]: [usize; 4]) -> (UnitsLaunch, usize) {
    let elements = regions * rows * columns;
    let blocks = channels.div_ceil(channels_of_block(channels));
    let of_a_unit = (elements * blocks / ENOUGH_UNITS).clamp(1, BLOCKS.min(blocks));
    let sharing = blocks.div_ceil(of_a_unit);
    let rounds = sharing.div_ceil(BLOCKS / of_a_unit);
    let sharing = sharing.div_ceil(rounds);
    let total = rounds * elements * sharing;
    let mut sizes = SequenceArg::new();
    for size in [regions, sharing, rows, columns] {
        sizes.push(size);
    }
    (UnitsLaunch::new(sizes, sharing, of_a_unit, total), total)
}

/// The integer type of indices into these tensors.
pub fn address_type<'a>(tensors: impl IntoIterator<Item = &'a CubeTensor>) -> AddressType {
    AddressType::from_len(tensors.into_iter().map(length).max().expect("there are tensors"))
}

/// How many numbers a tensor has or its memory has, whichever is more. An expanded tensor has more than its memory.
pub fn length(tensor: &CubeTensor) -> usize {
    let in_memory = tensor.handle.size() as usize / tensor.dtype.size();
    tensor.shape().num_elements().max(in_memory)
}

/// The reduction that is compiled in, and the number that it starts from. That number is an argument, so that
/// `Max` and `MaxFromZero` are one kernel.
pub fn reduction(operator: &RegionOperator) -> (Reduction, f32) {
    match operator.reduction {
        Reduction::Average => (Reduction::Average, 0.0),
        Reduction::MaxFromZero => (Reduction::Max, 0.0),
        reduction => (reduction, f32::maximum_from(operator)),
    }
}

pub fn rules(rules: Rules) -> RulesArgs {
    match rules {
        Rules::Samples(y, x) => RulesArgs::Samples(sample_rule(y), sample_rule(x)),
        Rules::Bins(y, x) => RulesArgs::Bins(bin_rule(y), bin_rule(x)),
        Rules::Integrals(y, x) => RulesArgs::Integrals(integral_rule(y), integral_rule(x)),
    }
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
