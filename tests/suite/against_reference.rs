//! Every host backend against the plain reference, on random problems.

use burn::tensor::DType;
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::backends::backends;
use crate::reference::{DOUBLE, SINGLE, output};
use crate::strategies::problems;

#[test]
fn host_backends_compute_what_the_plain_reference_computes() {
    let backends: Vec<_> = backends().into_iter().filter(|backend| backend.is_host()).collect();
    proptest!(drawn(100), |(problem in problems())| {
        for backend in &backends {
            for (dtype, coordinates, tolerance) in [(DType::F32, SINGLE, 2e-5), (DType::F64, DOUBLE, 1e-12)] {
                let features: Vec<f64> =
                    problem.features(&backend.device, DType::F32, dtype).into_data().iter::<f64>().collect();
                let (operator, regions) = (&problem.operator, problem.regions());
                let Some(expected) = output(operator, problem.shape, &features, &regions, coordinates) else {
                    continue;
                };
                let found = problem.run(&backend.device, DType::F32, dtype);
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
