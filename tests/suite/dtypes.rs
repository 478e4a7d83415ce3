//! f16 and bf16: the f32 result on the same rounded input, rounded once.

use burn::tensor::{DType, TensorData};
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::backends::backends;
use crate::strategies::problems;

fn half_equals_rounded_single(dtype: DType) {
    for backend in backends().iter().filter(|backend| backend.supports(dtype)) {
        proptest!(drawn(50), |(problem in problems())| {
            // Coordinates that the half type holds.
            let mut problem = problem;
            problem.boxes.iter_mut().flatten().for_each(|c| *c = c.clamp(-6e4, 6e4));
            let half = problem.run(&backend.device, dtype, dtype);
            let single = problem.run(&backend.device, dtype, DType::F32).convert_dtype(dtype);
            // As numbers: whether the maximum of 0 and -0 is one or the other, no device says.
            let numbers = |data: TensorData| data.iter::<f64>().collect::<Vec<_>>();
            prop_assert_eq!(numbers(half), numbers(single), "{}", backend.name);
        });
    }
}

#[test]
fn f16_is_the_rounded_f32_result() {
    half_equals_rounded_single(DType::F16);
}

#[test]
fn bf16_is_the_rounded_f32_result() {
    half_equals_rounded_single(DType::BF16);
}
