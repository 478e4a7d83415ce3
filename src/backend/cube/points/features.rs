//! The gradient of features: a unit gathers that of one pixel in a few channels.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::Shape;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::region::{PointRegion, offset_is_finite, point_rule, read_offset, read_region};
use super::{Channels, Compiled};
use crate::backend::cube::backward::average::add_element;
use crate::backend::cube::backward::cube_count;
use crate::backend::cube::backward::tile::{FLAGS, LIST, SIDE, Tile, UNITS, list_flagged, tile};
use crate::backend::cube::kernel::address_type;
use crate::backend::cube::unit::CHANNELS;
use crate::geometry::operator::RegionOperator;
use crate::geometry::point_grid::PointGrid;
use crate::geometry::real::single::area::{AreaRule, AreaRuleLaunch};
use crate::geometry::real::single::between::Reach;
use crate::geometry::real::single::points::{
    Places, PointRule, place, places_of_pixels, reads, samples_between, turned,
};
use crate::geometry::real::single::rules::{self, area_rule};
use crate::geometry::real::single::samples::{Taps, bilinear_taps};

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn gather_points<F: Float, R: Float, I: Int>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    rule: &PointRule,
    areas: &AreaRule,
    groups: usize,
    cubes: usize,
    #[comptime] compiled: Compiled,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(R)] _box_dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let tile = tile(gradient, output, groups, 1);
    let batch = output.shape(0);
    let (rows, columns) = (gradient.shape(2) as u32, gradient.shape(3) as u32);
    let mut flags = Shared::<[u32]>::new_slice(FLAGS);
    let mut list = Shared::<[u32]>::new_slice(LIST);
    let mut sums = Array::<f32>::new(CHANNELS);
    #[unroll]
    for lane in 0..CHANNELS {
        sums[lane] = 0.0;
    }
    let regions = gradient.shape(0);
    let mut first = 0usize.runtime();
    while first < regions {
        let row = first + UNIT_POS as usize;
        let mut flag = 0u32;
        if row < regions {
            let region = read_region(
                boxes,
                batch_indices,
                row,
                batch,
                rule,
                areas,
                rows,
                columns,
                tile.height,
                tile.width,
                compiled.of_level,
            );
            if region.pooled && region.image == tile.image && reaches(boxes, rule, &region, &tile) {
                flag = 1u32;
            }
        }
        let count = list_flagged(flag, row, &mut flags, &mut list);
        if tile.on_map {
            for number in 0..count {
                let row = list[number as usize] as usize;
                let region = read_region(
                    boxes,
                    batch_indices,
                    row,
                    batch,
                    rule,
                    areas,
                    rows,
                    columns,
                    tile.height,
                    tile.width,
                    compiled.of_level,
                );
                add_region(gradient, boxes, rule, &region, &tile, &mut sums, compiled.channels);
            }
        }
        first += UNITS;
    }
    write(output, gradient.shape(1), groups, &tile, &sums, compiled.channels);
}

/// Whether some element of a region may read a pixel of the tile.
#[cube]
fn reaches<F: Float>(boxes: &Tensor<F>, rule: &PointRule, region: &PointRegion, tile: &Tile) -> bool {
    let side = comptime!(SIDE as u32 - 1);
    let last_y = (tile.first_y + side).min(tile.height - 1u32);
    let last_x = (tile.first_x + side).min(tile.width - 1u32);
    let places = places_of_pixels(rule, &region.turn, tile.first_y, last_y, tile.first_x, last_x);
    let mut found = false;
    if rule.parts_y == 0u32 {
        // Without offsets, rows and columns of elements are tested by themselves: P + Q tests instead of P times Q.
        let mut found_y = false;
        for p in 0..region.y.elements {
            let reach = samples_between(rule, &region.y, p, 0.0, places.low_y, places.high_y);
            found_y = found_y || reach.first < reach.end;
        }
        let mut found_x = false;
        for q in 0..region.x.elements {
            let reach = samples_between(rule, &region.x, q, 0.0, places.low_x, places.high_x);
            found_x = found_x || reach.first < reach.end;
        }
        found = found_y && found_x;
    } else {
        for p in 0..region.y.elements {
            for q in 0..region.x.elements {
                let reach = reach_of_element(boxes, rule, region, &places, p, q);
                found = found || (reach.y.first < reach.y.end && reach.x.first < reach.x.end);
            }
        }
    }
    found
}

/// The samples of an element that may read some pixels, and by how much its offset moves them.
#[derive(CubeType)]
struct ElementReach {
    y: Reach,
    x: Reach,
    shift_y: f32,
    shift_x: f32,
}

#[cube]
fn reach_of_element<F: Float>(
    boxes: &Tensor<F>,
    rule: &PointRule,
    region: &PointRegion,
    places: &Places,
    p: u32,
    q: u32,
) -> ElementReach {
    let offset = read_offset(boxes, rule, region, p, q);
    let mut y = samples_between(rule, &region.y, p, offset.shift_y, places.low_y, places.high_y);
    let x = samples_between(rule, &region.x, q, offset.shift_x, places.low_x, places.high_x);
    if !offset_is_finite(&offset) {
        y.end = y.first;
    }
    ElementReach {
        y,
        x,
        shift_y: offset.shift_y,
        shift_x: offset.shift_x,
    }
}

/// Adds what a region gives the pixel of this unit.
#[cube]
fn add_region<F: Float, R: Float>(
    gradient: &Tensor<F>,
    boxes: &Tensor<R>,
    rule: &PointRule,
    region: &PointRegion,
    tile: &Tile,
    sums: &mut Array<f32>,
    #[comptime] channels: Channels,
) {
    let places = places_of_pixels(rule, &region.turn, tile.y, tile.y, tile.x, tile.x);
    let mut first_p = 0u32;
    let mut end_p = region.y.elements;
    let mut first_q = 0u32;
    let mut end_q = region.x.elements;
    if comptime!(channels == Channels::OfElements) {
        first_p = tile.place as u32 / end_q;
        first_q = tile.place as u32 % end_q;
        end_p = first_p + 1u32;
        end_q = first_q + 1u32;
    }
    for p in first_p..end_p {
        for q in first_q..end_q {
            let reach = reach_of_element(boxes, rule, region, &places, p, q);
            let weight = weight_of_pixel(rule, region, &reach, tile, p, q, channels);
            if weight != 0.0 {
                add_element(gradient, region.row, p, q, tile.channel, weight, sums);
            }
        }
    }
}

/// The weight of this unit's pixel in an element.
#[cube]
#[allow(clippy::too_many_arguments)]
fn weight_of_pixel(
    rule: &PointRule,
    region: &PointRegion,
    reach: &ElementReach,
    tile: &Tile,
    p: u32,
    q: u32,
    #[comptime] channels: Channels,
) -> f32 {
    let mut weight = 0.0f32;
    for sample_y in reach.y.first..reach.y.end {
        let y = place(rule, &region.y, p, sample_y, reach.shift_y);
        for sample_x in reach.x.first..reach.x.end {
            let x = place(rule, &region.x, q, sample_x, reach.shift_x);
            let point = turned(rule, &region.turn, y, x);
            let mut counts = reads(rule, &point, tile.height, tile.width);
            if comptime!(channels == Channels::OfSamples) {
                counts = counts && sample_y * region.x.samples + sample_x == tile.place as u32;
            }
            if counts {
                let along_y = weight_of_taps(&bilinear_taps(point.y, tile.height), tile.y);
                let along_x = weight_of_taps(&bilinear_taps(point.x, tile.width), tile.x);
                weight += along_y * along_x;
            }
        }
    }
    if weight != 0.0 {
        let mut samples = region.y.samples as f32 * region.x.samples as f32;
        if rule.ignores_out_of_bounds == 1u32 {
            samples = count_in_bounds(rule, region, reach, p, q);
        }
        weight /= samples;
    }
    weight
}

/// The weight of a pixel in a sample, along one axis.
#[cube]
fn weight_of_taps(taps: &Taps, pixel: u32) -> f32 {
    let mut weight = 0.0f32;
    if taps.low == pixel {
        weight += 1.0 - taps.fraction;
    }
    if taps.high == pixel {
        weight += taps.fraction;
    }
    weight
}

/// How many samples of an element read the map.
#[cube]
fn count_in_bounds(rule: &PointRule, region: &PointRegion, reach: &ElementReach, p: u32, q: u32) -> f32 {
    let mut count = 0u32;
    for sample_y in 0..region.y.samples {
        let y = place(rule, &region.y, p, sample_y, reach.shift_y);
        for sample_x in 0..region.x.samples {
            let x = place(rule, &region.x, q, sample_x, reach.shift_x);
            let point = turned(rule, &region.turn, y, x);
            if reads(rule, &point, region.y.size, region.x.size) {
                count += 1u32;
            }
        }
    }
    count as f32
}

/// Writes the sums of a unit's pixel.
#[cube]
fn write<F: Float>(
    output: &mut Tensor<F>,
    channels: usize,
    groups: usize,
    tile: &Tile,
    sums: &Array<f32>,
    #[comptime] of_channels: Channels,
) {
    if tile.on_map {
        let pixel =
            tile.image * output.stride(0) + tile.y as usize * output.stride(2) + tile.x as usize * output.stride(3);
        let of_channel = output.stride(1);
        #[unroll]
        for lane in 0..CHANNELS {
            let channel = tile.channel + lane;
            if channel < channels {
                let mut input = channel * groups + tile.place;
                if comptime!(of_channels == Channels::OfSamples) {
                    input = tile.place * channels + channel;
                }
                output[pixel + input * of_channel] = F::cast_from(sums[lane]);
            }
        }
    }
}

/// The gradient of features of a shape.
pub fn features_gradient(
    gradient: CubeTensor,
    boxes: CubeTensor,
    batch_indices: CubeTensor,
    operator: &RegionOperator,
    grid: &PointGrid,
    shape: [usize; 4],
) -> CubeTensor {
    let client = gradient.client.clone();
    let output = empty_device_contiguous_dtype(
        client.clone(),
        gradient.device.clone(),
        Shape::new(shape),
        gradient.dtype,
    );
    let [images, _, height, width] = shape;
    let [_, channels, rows, columns] = gradient.shape().dims();
    let groups = operator.channel_map.input_channels(rows * columns);
    let cubes = images * height.div_ceil(SIDE) * width.div_ceil(SIDE) * groups * channels.div_ceil(CHANNELS);
    let (dtype, box_dtype, index_dtype) = (gradient.dtype, boxes.dtype, batch_indices.dtype);
    let addresses = address_type([&gradient, &boxes, &batch_indices, &output]);
    let areas = area_rule(&operator.areas);
    gather_points::launch(
        &client,
        cube_count(cubes),
        CubeDim::new_1d(UNITS as u32),
        addresses,
        gradient.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        point_rule(rules::point_rule(grid)),
        AreaRuleLaunch::new(areas.from, areas.below),
        groups,
        cubes,
        Compiled::new(operator),
        dtype_to_storage_type(dtype),
        dtype_to_storage_type(box_dtype),
        dtype_to_storage_type(index_dtype),
    );
    output
}
