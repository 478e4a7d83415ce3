//! The same call gives the same bits, whatever the number of threads.

use burn::tensor::DType;
use burn_roi::*;

use super::agreement::same_bits;
use crate::agreement::largest_error;
use crate::backends::backends;
use crate::problem::{Layout, Operator, Problem};

/// Many regions that overlap, some of them fully.
fn problem(operator: Operator) -> Problem {
    let count = 30;
    let boxes = (0..count).map(|row| match row % 3 {
        0 => [1.3, 2.1, 27.7, 30.9],
        1 => [0.0, row as f32 / 2.0, 29.0, 31.0],
        _ => [row as f32 / 3.0, 0.4, row as f32 / 3.0 + 9.0, 17.0],
    });
    Problem {
        shape: [2, 20 * operator.input_channels(), 32, 31],
        operator,
        layout: Layout::Contiguous,
        boxes: boxes.collect(),
        batch_indices: (0..count).map(|row| row % 2).collect(),
        seed: 5,
    }
}

fn operators() -> Vec<Operator> {
    let align = RoiAlignConfig::new([5, 7]).with_aligned(true);
    vec![
        Operator::RoiAlign(align.clone()),
        Operator::RoiAlign(align.clone().with_reduction(Reduction::Max)),
        Operator::RoiAlign(align.with_reduction(Reduction::MaxOfWeightedCorners)),
        Operator::RoiPool(RoiPoolConfig::new([6, 5])),
        Operator::PsRoiAlign(PsRoiAlignConfig::new([2, 2])),
        Operator::PsRoiPool(PsRoiPoolConfig::new([2, 3])),
        Operator::PrRoiPool(PrRoiPoolConfig::new([5, 4])),
    ]
}

#[test]
fn a_call_gives_the_same_bits_again() {
    for backend in backends() {
        let runs = if backend.name == "flex" { 5 } else { 2 };
        for problem in operators().into_iter().map(problem) {
            let weights = problem.weights();
            let first = problem.gradients(&backend.device, DType::F32, &weights);
            for _ in 1..runs {
                let again = problem.gradients(&backend.device, DType::F32, &weights);
                assert!(
                    same_bits(&first.features, &again.features),
                    "{}: {problem:?}",
                    backend.name
                );
                assert!(same_bits(&first.boxes, &again.boxes), "{}: {problem:?}", backend.name);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for backend in backends().iter().filter(|backend| backend.is_host()) {
        for problem in operators().into_iter().map(problem) {
            let weights = problem.weights();
            let mut of_threads = [1, 2, 5].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a pool");
                pool.install(|| problem.gradients(&backend.device, DType::F32, &weights))
            });
            let [first, others @ ..] = &mut of_threads;
            for other in others {
                assert!(
                    same_bits(&first.features, &other.features),
                    "{}: {problem:?}",
                    backend.name
                );
                assert!(same_bits(&first.boxes, &other.boxes), "{}: {problem:?}", backend.name);
            }
        }
    }
}

/// Regions in another order are added in another order.
#[test]
fn regions_in_another_order_change_the_last_bits_only() {
    for backend in backends() {
        for problem in operators().into_iter().map(problem) {
            let weights = problem.weights();
            let of_a_region = weights.len() / problem.boxes.len();
            let mut turned = problem.clone();
            turned.boxes.reverse();
            turned.batch_indices.reverse();
            let turned_weights: Vec<f64> = weights.chunks_exact(of_a_region).rev().flatten().copied().collect();
            let here = problem.gradients(&backend.device, DType::F32, &weights);
            let there = turned.gradients(&backend.device, DType::F32, &turned_weights);
            let error = largest_error(&there.features, &here.features);
            assert!(error <= 1e-5, "{}: {error:e} for {problem:?}", backend.name);
        }
    }
}
