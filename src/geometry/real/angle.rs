//! Sine and cosine for kernels: Vulkan and WebGPU allow a device's own to be wrong in the 11th bit.

use cubecl::prelude::*;

/// Half of π in three parts: products of the first two with whole numbers below 2^13 are exact.
const HALF_PI: [f32; 3] = [1.570_312_5, 4.837_512_97e-4, 7.549_790e-8];

/// The sine and the cosine of an angle.
#[derive(CubeType)]
pub struct SineCosine {
    pub sine: f32,
    pub cosine: f32,
}

/// The sine and the cosine of an angle in radians, within 2e-7 for angles of up to 1000 turns. They are numbers from -1
/// to 1 for every finite angle.
#[cube]
pub fn sine_cosine(angle: f32) -> SineCosine {
    let quarters = (angle * comptime!(std::f32::consts::FRAC_2_PI) + 0.5f32).floor();
    let rest = (angle - quarters * comptime!(HALF_PI[0])) - quarters * comptime!(HALF_PI[1]);
    // Beyond 1000 turns less and less of the angle is known; what is left is held in its quarter.
    let rest = (rest - quarters * comptime!(HALF_PI[2])).clamp(-0.8f32, 0.8f32);
    let square = rest * rest;
    // Taylor's series up to the 9th and the 10th power: the next terms are below 3e-9 at 0.8.
    let sine = rest
        + rest
            * square
            * (-0.166_666_67f32
                + square * (8.333_333_6e-3f32 + square * (-1.984_127e-4f32 + square * 2.755_731_9e-6f32)));
    let cosine = 1.0f32
        + square
            * (-0.5f32
                + square
                    * (4.166_666_8e-2f32
                        + square * (-1.388_888_9e-3f32 + square * (2.480_158_7e-5f32 - square * 2.755_731_9e-7f32))));
    let quarter = quarters - (quarters * 0.25f32).floor() * 4.0f32;
    let mut result = SineCosine { sine, cosine };
    if quarter == 1.0f32 {
        result.sine = cosine;
        result.cosine = -sine;
    } else if quarter == 2.0f32 {
        result.sine = -sine;
        result.cosine = -cosine;
    } else if quarter == 3.0f32 {
        result.sine = -cosine;
        result.cosine = sine;
    }
    result.sine = result.sine.clamp(-1.0f32, 1.0f32);
    result.cosine = result.cosine.clamp(-1.0f32, 1.0f32);
    result
}
