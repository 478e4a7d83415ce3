//! Backends against each other on random problems.

use burn::tensor::{DType, TensorData};
use proptest::prelude::*;

use crate::backends::{Backend, backends};
use crate::strategies::problems;

/// The largest of `|a - b| / max(1, |b|)`.
pub fn largest_error(left: &TensorData, right: &TensorData) -> f64 {
    assert_eq!(left.shape(), right.shape());
    left.iter::<f64>()
        .zip(right.iter::<f64>())
        .map(|(left, right)| (left - right).abs() / right.abs().max(1.0))
        .fold(0.0, |largest, error| if error <= largest { largest } else { error })
}

/// Sums of numbers up to 1 in another order; up to a few hundred samples an element.
const TOLERANCE: f64 = 1e-5;

/// How many random problems a test draws: a number of its own, or what `PROPTEST_CASES` says.
pub fn drawn(usual: u32) -> ProptestConfig {
    let chosen = std::env::var("PROPTEST_CASES").ok();
    let cases = chosen.and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    ProptestConfig {
        cases,
        // Some properties are of some operators only.
        max_global_rejects: u32::MAX,
        ..ProptestConfig::default()
    }
}

#[test]
fn backends_agree() {
    let backends = backends();
    let (first, others) = backends.split_first().expect("there is a backend");
    proptest!(drawn(100), |(problem in problems())| {
        let expected = problem.run(&first.device, DType::F32, DType::F32);
        for other in others {
            let output = problem.run(&other.device, DType::F32, DType::F32);
            let error = largest_error(&output, &expected);
            prop_assert!(error <= TOLERANCE, "{} differs from {} by {error:e}", other.name, first.name);
        }
    });
}

#[test]
fn host_backends_agree_in_f64() {
    let backends: Vec<Backend> = backends().into_iter().filter(Backend::is_host).collect();
    let Some((first, others)) = backends.split_first() else {
        return;
    };
    proptest!(drawn(60), |(problem in problems())| {
        let expected = problem.run(&first.device, DType::F32, DType::F64);
        for other in others {
            let output = problem.run(&other.device, DType::F32, DType::F64);
            let error = largest_error(&output, &expected);
            prop_assert!(error <= 1e-13, "{} differs from {} by {error:e}", other.name, first.name);
        }
    });
}
