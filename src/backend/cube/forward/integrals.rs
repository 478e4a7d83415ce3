//! Elements that read bins of the bilinear map: a sum over the pixels of a bin, by their weights.

use cubecl::prelude::*;

use crate::backend::cube::unit::blocks::{Block, blocks, write_blocks};
use crate::backend::cube::unit::channels::Layout;
use crate::backend::cube::unit::element::{Element, sizes};
use crate::backend::cube::unit::region::BoxRow;
use crate::geometry::real::single::integrals::{IntegralRule, bin, extent, pixels, weight};

/// Pools an element in all channels of its unit. Without pixels it is 0.
#[cube]
pub fn pool_integrals<F: Float>(
    features: &Tensor<F>,
    output: &mut Tensor<F>,
    element: &Element,
    region: &BoxRow,
    rule_y: &IntegralRule,
    rule_x: &IntegralRule,
) {
    let sizes = sizes(output);
    let bin_y = bin(
        &extent(rule_y, region.y1, region.y2, sizes.rows as u32),
        element.row as u32,
    );
    let bin_x = bin(
        &extent(rule_x, region.x1, region.x2, sizes.columns as u32),
        element.column as u32,
    );
    let rows = pixels(&bin_y, features.shape(2) as u32);
    let columns = pixels(&bin_x, features.shape(3) as u32);
    let mut rows_end = rows.end;
    if !region.valid {
        rows_end = rows.first;
    }
    // Read before the loops: a device compiler does not hoist a read that may not be reached.
    let row_step = features.stride(2);
    let step = features.stride(3);
    let mut blocks = blocks(features, region.image, element, &sizes, 0.0);
    for y in rows.first..rows_end {
        let weight_y = weight(&bin_y, y);
        for x in columns.first..columns.end {
            let weight = weight_y * weight(&bin_x, x);
            let pixel = y as usize * row_step + x as usize * step;
            #[unroll]
            for number in 0..comptime!(blocks.layout.blocks) {
                add_pixel(features, pixel, weight, &mut blocks.list[number], blocks.layout);
            }
        }
    }
    write_blocks(output, element, &blocks);
}

/// Adds a pixel by its weight, in all channels of a block.
#[cube]
fn add_pixel<F: Float>(features: &Tensor<F>, pixel: usize, weight: f32, block: &mut Block, #[comptime] layout: Layout) {
    if block.computed {
        let mut place = block.planes.start + pixel;
        #[unroll]
        for channel in 0..layout.of_block {
            block.results[channel] += weight * f32::cast_from(features[place]);
            place += block.planes.step;
        }
    }
}
