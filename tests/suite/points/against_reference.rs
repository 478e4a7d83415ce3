//! Backends against the plain reference, and against each other.

use burn::tensor::{DType, TensorData};
use proptest::prelude::*;

use crate::agreement::{drawn, largest_error};
use crate::backends::backends;
use crate::point_calls::strategies::problems;
use crate::point_calls::{PointOperator, PointProblem};
use crate::reference::{DOUBLE, SINGLE};

/// Whether all boxes are near the map: samples of a box of 1e9 pixels are farther apart than rounding moves them.
pub fn is_near(problem: &PointProblem) -> bool {
    problem.boxes.iter().flatten().all(|number| number.abs() < 1e3)
}

#[test]
fn host_backends_compute_what_the_plain_reference_computes() {
    let backends: Vec<_> = backends().into_iter().filter(|backend| backend.is_host()).collect();
    let Some(first) = backends.first() else {
        return;
    };
    proptest!(drawn(150), |(problem in problems())| {
        for (dtype, coordinates, tolerance) in [(DType::F32, SINGLE, 2e-5), (DType::F64, DOUBLE, 1e-11)] {
            let Some(expected) = problem.expected(&first.device, dtype, coordinates) else { continue };
            // The orientation of a whole number of turns is decided by its last bit.
            if matches!(problem.operator, PointOperator::RiRotated(_)) && expected.nearest_jump < 1e-4 {
                continue;
            }
            for backend in &backends {
                let found = problem.run(&backend.device, dtype);
                prop_assert_eq!(found.num_elements(), expected.numbers.len());
                for (index, (found, expected)) in found.iter::<f64>().zip(&expected.numbers).enumerate() {
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    prop_assert!(error <= tolerance,
                        "{} in {dtype:?}: element {index} is {found}, not {expected}", backend.name);
                }
            }
        }
    });
}

#[test]
fn backends_agree() {
    let backends = backends();
    let (first, others) = backends.split_first().expect("there is a backend");
    proptest!(drawn(100), |(problem in problems())| {
        prop_assume!(is_near(&problem));
        let expected = problem.expected(&first.device, DType::F32, SINGLE);
        prop_assume!(expected.is_some_and(|expected| expected.nearest_jump > 1e-3));
        let expected = problem.run(&first.device, DType::F32);
        for other in others {
            let error = largest_error(&problem.run(&other.device, DType::F32), &expected);
            prop_assert!(error <= 2e-4, "{} differs from {} by {error:e}", other.name, first.name);
        }
    });
}

/// Sums are in f32 and rounded once: a half dtype gives what f32 gives of the same numbers, rounded.
#[test]
fn half_dtypes_are_rounded_once() {
    proptest!(drawn(50), |(problem in problems())| {
        for backend in backends() {
            for dtype in [DType::F16, DType::BF16] {
                let finite = problem.boxes.iter().flatten().all(|number| number.abs() < 6e4);
                if !backend.supports(dtype) || !finite {
                    continue;
                }
                let half = problem.run(&backend.device, dtype);
                let inputs = problem.rounded_inputs(&backend.device, dtype, DType::F32);
                let single = problem.call(inputs, &backend.device).into_data().convert_dtype(dtype);
                prop_assert!(bits(&half) == bits(&single), "{}: {dtype:?}", backend.name);
            }
        }
    });
}

pub fn bits(data: &TensorData) -> Vec<u64> {
    // 0 and -0 are the same.
    data.iter::<f64>().map(|number| (number + 0.0).to_bits()).collect()
}
