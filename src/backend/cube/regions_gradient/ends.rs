//! The gradient of a box's ends, summed over the units of a cube.

use cubecl::prelude::*;

use crate::backend::cube::launch::UNITS;

/// The gradients of a box's ends.
#[derive(CubeType)]
pub struct EndsGradient {
    pub y1: f32,
    pub y2: f32,
    pub x1: f32,
    pub x2: f32,
}

/// Adds the sums of all units, in one order, and writes a column of the regions' gradient.
#[cube]
pub fn write_sum<F: Float>(output: &mut Tensor<F>, row: usize, column: usize, sum: f32, shared: &mut Shared<[f32]>) {
    let unit = UNIT_POS as usize;
    // What was shared before is read by now.
    sync_cube();
    shared[unit] = sum;
    sync_cube();
    let mut half = comptime!(UNITS / 2).runtime();
    while half > 0 {
        if unit < half {
            let other = shared[unit + half];
            shared[unit] += other;
        }
        sync_cube();
        half /= 2;
    }
    if unit == 0 {
        let place = row * output.stride(0) + column * output.stride(1);
        output[place] = F::cast_from(shared[0]);
    }
}
