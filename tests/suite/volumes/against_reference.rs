//! Every backend against the plain reference, on random problems.

use burn::tensor::DType;
use proptest::prelude::*;

use super::reference::output;
use super::strategies::problems;
use crate::agreement::drawn;
use crate::backends::backends;
use crate::reference::{DOUBLE, SINGLE};

#[test]
fn every_backend_computes_what_the_plain_reference_computes() {
    let backends = backends();
    proptest!(drawn(60), |(problem in problems())| {
        for backend in &backends {
            for (dtype, coordinates, tolerance) in [(DType::F32, SINGLE, 2e-5), (DType::F64, DOUBLE, 1e-12)] {
                if !backend.supports(dtype) {
                    continue;
                }
                let features = problem.features(&backend.device, dtype).into_data();
                let features: Vec<f64> = features.iter::<f64>().collect();
                let Some(expected) = output(&problem, &features, coordinates) else {
                    continue;
                };
                let found = problem.run(&backend.device, dtype);
                prop_assert_eq!(found.num_elements(), expected.len());
                for (index, (found, expected)) in found.iter::<f64>().zip(expected).enumerate() {
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    prop_assert!(error <= tolerance,
                        "{} in {dtype:?}: element {index} is {found}, not {expected}", backend.name);
                }
            }
        }
    });
}
