//! Backends and ways of calling against each other.

use burn::tensor::{DType, TensorData};
use proptest::prelude::*;

use crate::agreement::{drawn, largest_error};
use crate::backends::backends;
use crate::problem::{Operator, Problem};
use crate::strategies::problems;
use burn_roi::*;

/// Whether what wins a maximum does not hang on the last bit of a sum.
fn is_exact(operator: &Operator) -> bool {
    match operator {
        Operator::RoiAlign(config) => {
            config.reduction == Reduction::Average || config.interpolation == Interpolation::Nearest
        }
        _ => true,
    }
}

/// Sums of numbers up to 1 in another order, of as many as there are elements over a pixel.
const TOLERANCE: f64 = 2e-5;

/// A box of 1e9 pixels has samples that far apart: what one end moves is not what 32 bits hold.
fn boxes_are_near(problem: &Problem) -> bool {
    problem.boxes.iter().flatten().all(|number| number.abs() < 1e3)
}

#[test]
fn backends_agree_on_gradients() {
    let backends = backends();
    let (first, others) = backends.split_first().expect("there is a backend");
    proptest!(drawn(100), |(problem in problems())| {
        prop_assume!(is_exact(&problem.operator));
        let weights = problem.weights();
        let expected = problem.gradients(&first.device, DType::F32, &weights);
        for other in others {
            let found = problem.gradients(&other.device, DType::F32, &weights);
            let error = largest_error(&found.features, &expected.features);
            prop_assert!(error <= TOLERANCE, "features: {} differs from {} by {error:e}", other.name, first.name);
            if boxes_are_near(&problem) {
                let error = largest_error(&found.boxes, &expected.boxes);
                prop_assert!(error <= 1e-3, "boxes: {} differs from {} by {error:e}", other.name, first.name);
            }
        }
    });
}

/// The same bits by hand as on an autodiff device.
#[test]
fn gradients_by_hand_are_those_of_an_autodiff_device() {
    proptest!(drawn(30), |(problem in problems())| {
        let weights = problem.weights();
        for backend in backends() {
            let recorded = problem.gradients(&backend.device, DType::F32, &weights);
            let by_hand = problem.gradients_by_hand(&backend.device, DType::F32, &weights);
            prop_assert!(same_bits(&recorded.features, &by_hand.features), "{}", backend.name);
            prop_assert!(same_bits(&recorded.boxes, &by_hand.boxes), "{}", backend.name);
        }
    });
}

pub fn same_bits(left: &TensorData, right: &TensorData) -> bool {
    let bits = |data: &TensorData| data.iter::<f64>().map(f64::to_bits).collect::<Vec<_>>();
    left.dtype() == right.dtype() && left.shape() == right.shape() && bits(left) == bits(right)
}

/// Sums are in f32 and rounded once: a half dtype gives what f32 gives of the same numbers, rounded.
#[test]
fn half_gradients_are_rounded_once() {
    proptest!(drawn(40), |(problem in problems())| {
        prop_assume!(is_exact(&problem.operator));
        for backend in backends() {
            for dtype in [DType::F16, DType::BF16] {
                if !backend.supports(dtype) {
                    continue;
                }
                let mut problem = problem.clone();
                let halves = TensorData::new(problem.boxes.concat(), [problem.boxes.len() * 4]).convert_dtype(dtype);
                let halves: Vec<f32> = halves.iter::<f32>().collect();
                prop_assume!(halves.iter().all(|number| number.is_finite()));
                problem.boxes = halves.as_chunks().0.to_vec();
                let round = |numbers: Vec<f64>| -> Vec<f64> {
                    let count = numbers.len();
                    TensorData::new(numbers, [count]).convert_dtype(dtype).iter::<f64>().collect()
                };
                let weights = round(problem.weights());
                let half = problem.gradients_of(&backend.device, dtype, dtype, &weights);
                let single = problem.gradients_of(&backend.device, dtype, DType::F32, &weights);
                let (found, expected) = (half.features, single.features.convert_dtype(dtype));
                prop_assert!(same_bits(&found, &expected), "{}: {dtype:?}", backend.name);
            }
        }
    });
}
