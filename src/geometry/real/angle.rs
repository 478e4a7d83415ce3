//! Sine and cosine for kernels: Vulkan and WebGPU allow a device's own to be wrong in the 11th bit.

use cubecl::prelude::*;

/// Half of π in three parts: products of the first two with whole numbers below 2^13 are exact.
const HALF_PI: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];

/// Taylor's series of the sine, from the 3rd power to the 9th: at 0.8 the next term is below 3e-9.
const SINE: [f32; 4] = [-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0];

/// That of the cosine, from the 2nd power to the 10th.
const COSINE: [f32; 5] = [-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0];

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
    let sine = square * comptime!(SINE[3]) + comptime!(SINE[2]);
    let sine = (sine * square + comptime!(SINE[1])) * square + comptime!(SINE[0]);
    let sine = rest + rest * (square * sine);
    let cosine = square * comptime!(COSINE[4]) + comptime!(COSINE[3]);
    let cosine = (cosine * square + comptime!(COSINE[2])) * square + comptime!(COSINE[1]);
    let cosine = square * (cosine * square + comptime!(COSINE[0])) + 1.0f32;
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
