//! Maxima of quantized bins: a unit computes one place of the output in a few channels.

use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::region::{CHANNELS, Launch, Units, place, planes, read_region, write};
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::Coordinate;
use crate::geometry::single::bins::{BinRule, BinRuleLaunch, bin, extent};

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
fn pool_regions<F: Float, I: Int>(
    features: &Tensor<F>,
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    output: &mut Tensor<F>,
    units: &Units,
    rule_y: &BinRule,
    rule_x: &BinRule,
    #[define(F)] _dtype: cubecl::ir::ElemType,
    #[define(I)] _index_dtype: cubecl::ir::ElemType,
) {
    if ABSOLUTE_POS >= units.total {
        terminate!();
    }
    let place = place(units);
    let region = read_region(
        boxes,
        batch_indices,
        place.region,
        features.shape(0),
        comptime!([0usize, 1, 2, 3]),
    );

    let extent_y = extent(rule_y, region.y1, region.y2);
    let extent_x = extent(rule_x, region.x1, region.x2);
    let (rows, height) = (output.shape(2) as u32, features.shape(2) as u32);
    let (columns, width) = (output.shape(3) as u32, features.shape(3) as u32);
    let bin_y = bin(rule_y, &extent_y, place.row as u32, rows, height);
    let bin_x = bin(rule_x, &extent_x, place.column as u32, columns, width);
    let filled = region.valid && bin_y.start < bin_y.end && bin_x.start < bin_x.end;
    let mut end = bin_y.end;
    if !filled {
        end = bin_y.start;
    }

    let row_step = features.stride(2);
    let step = features.stride(3);
    for block in 0..units.blocks {
        let first = place.channel + block * CHANNELS;
        let planes = planes(features, region.image, first);
        let mut maxima = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            maxima[channel] = -f32::MAX;
        }
        for y in bin_y.start..end {
            for x in bin_x.start..bin_x.end {
                let pixel = y as usize * row_step + x as usize * step;
                #[unroll]
                for channel in 0..CHANNELS {
                    let number = f32::cast_from(features[planes[channel] + pixel]);
                    maxima[channel] = maxima[channel].max(number);
                }
            }
        }
        if !filled {
            #[unroll]
            for channel in 0..CHANNELS {
                maxima[channel] = 0.0;
            }
        }
        write(output, &place, first, &maxima);
    }
}

/// See [`RegionKernels::pool_regions`](crate::RegionKernels::pool_regions).
pub fn launch(features: CubeTensor, boxes: CubeTensor, batch_indices: CubeTensor, bins: &RegionBins) -> CubeTensor {
    let launch = Launch::new(None, &features, &boxes, &batch_indices, bins.output_size);
    let [rule_y, rule_x] = f32::bin_rules(bins).map(|rule| BinRuleLaunch::new(rule.scale, rule.division));
    pool_regions::launch(
        &features.client.clone(),
        launch.count,
        launch.dim,
        launch.address,
        features.into_tensor_arg(),
        boxes.into_tensor_arg(),
        batch_indices.into_tensor_arg(),
        launch.output.clone().into_tensor_arg(),
        launch.units,
        rule_y,
        rule_x,
        launch.dtype,
        launch.index_dtype,
    );
    launch.output
}
