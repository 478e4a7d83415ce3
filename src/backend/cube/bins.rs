//! Elements that read bins of whole pixels.

use cubecl::prelude::*;

use super::kernel::Compiled;
use super::unit::{BoxRow, CHANNELS, Element, Units, planes, sizes, write};
use crate::geometry::options::Reduction;
use crate::geometry::real::single::bins::{BinRule, bin, extent};

/// Pools an element in all channels of its unit. `start` is where a sum or a maximum starts.
#[cube]
#[allow(clippy::too_many_arguments)]
pub fn pool_bins<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    units: &Units,
    element: &Element,
    region: &BoxRow,
    rule_y: &BinRule,
    rule_x: &BinRule,
    start: f32,
    outside: f32,
    #[comptime] compiled: Compiled,
) {
    let sizes = sizes(output);
    let extent_y = extent(rule_y, region.y1, region.y2, sizes.rows as u32);
    let extent_x = extent(rule_x, region.x1, region.x2, sizes.columns as u32);
    let (height, width) = (features.shape(2) as u32, features.shape(3) as u32);
    let bin_y = bin(rule_y, &extent_y, element.row as u32, sizes.rows as u32, height);
    let bin_x = bin(rule_x, &extent_x, element.column as u32, sizes.columns as u32, width);
    let filled = region.valid && bin_y.start < bin_y.end && bin_x.start < bin_x.end;
    let mut end = bin_y.end;
    if !filled {
        end = bin_y.start;
    }

    let row_step = features.stride(2);
    let step = features.stride(3);
    for block in 0..units.blocks {
        let first = element.channel + block * CHANNELS;
        let planes = planes(features, region.image, element, first, &sizes, compiled.channel_map);
        let mut results = Array::<f32>::new(CHANNELS);
        #[unroll]
        for channel in 0..CHANNELS {
            results[channel] = start;
        }
        for y in bin_y.start..end {
            for x in bin_x.start..bin_x.end {
                let pixel = y as usize * row_step + x as usize * step;
                #[unroll]
                for channel in 0..CHANNELS {
                    let number = f32::cast_from(features[planes[channel] + pixel]);
                    if comptime!(compiled.reduction == Reduction::Average) {
                        results[channel] += number;
                    } else {
                        results[channel] = results[channel].max(number);
                    }
                }
            }
        }
        if comptime!(compiled.reduction == Reduction::Average) {
            let share = 1.0 / ((bin_y.end - bin_y.start) as f32 * (bin_x.end - bin_x.start) as f32);
            #[unroll]
            for channel in 0..CHANNELS {
                results[channel] *= share;
            }
        }
        if !filled {
            #[unroll]
            for channel in 0..CHANNELS {
                results[channel] = outside;
            }
        }
        write(output, element, first, &results);
    }
}
