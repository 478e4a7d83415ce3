//! Gradients against what the forward pass says of itself.

use std::cell::Cell;

use burn::tensor::{DType, TensorData};
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::backends::backends;
use crate::problem::{Operator, Problem, random_numbers};
use crate::strategies::problems;
use burn_roi::Reduction;

/// By how far inputs are moved.
const STEP: f64 = 1e-6;

/// A difference of the forward pass in f64 is off by about this share of what is added up.
const TOLERANCE: f64 = 1e-6;

/// Features have slopes of at most 2 a pixel, and a crop's box has many pixels a unit.
const BOXES: f64 = 10.0;

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn numbers(data: TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

/// The slope of `value` at 0; none at a jump or a bend, where both sides differ by more than half of `most`.
fn slope(value: impl Fn(f64) -> f64, most: f64) -> Option<f64> {
    let [before, here, after] = [-STEP, 0.0, STEP].map(value);
    let (left, right) = ((here - before) / STEP, (after - here) / STEP);
    ((left - right).abs() <= most / 2.0).then_some((left + right) / 2.0)
}

/// Features and boxes are moved in random directions; the output changes as the gradients say.
#[test]
fn gradients_are_slopes() {
    let backends = backends();
    let Some(backend) = backends.iter().find(|backend| backend.supports(DType::F64)) else {
        return;
    };
    let (of_features, of_boxes) = (Cell::new(0), Cell::new(0));
    proptest!(drawn(150), |(problem in problems())| {
        let weights = problem.weights();
        let gradients = problem.gradients(&backend.device, DType::F64, &weights);
        let value = |features: &[f64], boxes: &[f64]| {
            dot(&weights, &numbers(problem.call_of(features, boxes, &backend.device)))
        };
        let features = numbers(problem.features(&backend.device, DType::F32, DType::F64).into_data());
        let most = TOLERANCE * weights.len() as f64;

        let boxes = problem.boxes_in_f64();
        let direction = direction(problem.seed, features.len());
        let expected = slope(|step| value(&moved(&features, &direction, step), &boxes), most);
        if let Some(expected) = expected {
            let found = dot(&numbers(gradients.features), &direction);
            prop_assert!((found - expected).abs() <= most, "features: {found}, not {expected}");
            of_features.set(of_features.get() + 1);
        }

        let problem = problem.off_the_pixels();
        let boxes = problem.boxes_in_f64();
        let found = numbers(problem.gradients(&backend.device, DType::F64, &weights).boxes);
        for row in 0..problem.boxes.len() {
            // A step is lost in larger numbers.
            if problem.boxes[row].iter().any(|number| number.abs() > 1e3) {
                continue;
            }
            let mut direction = vec![0.0; boxes.len()];
            let of_row = self::direction(problem.seed.wrapping_add(row as u64), 4);
            direction[row * 4..row * 4 + 4].copy_from_slice(&of_row);
            let expected = slope(|step| value(&features, &moved(&boxes, &direction, step)), BOXES * most);
            if let Some(expected) = expected {
                let found = dot(&found, &direction);
                prop_assert!(
                    (found - expected).abs() <= BOXES * most,
                    "box {row}: {found}, not {expected}"
                );
                of_boxes.set(of_boxes.get() + 1);
            }
        }
    });
    assert!(of_features.get() > 0 && of_boxes.get() > 0);
}

/// `<G, J F> = <Jᵀ G, F>`, where `J F` is what the output owes to the features.
#[test]
fn gradients_are_adjoint_on_every_backend() {
    proptest!(drawn(20), |(problem in problems())| {
        // A maximum that takes the out-of-bounds value owes nothing to the features, unless that is 0.
        let linear = match &problem.operator {
            Operator::RoiAlign(config) => {
                config.reduction == Reduction::Average || config.out_of_bounds_value == 0.0
            }
            _ => true,
        };
        prop_assume!(linear);
        let weights = problem.weights();
        for backend in backends() {
            let features = problem.features(&backend.device, DType::F32, DType::F32);
            let output = numbers(problem.call(features.clone(), &backend.device, DType::F32).into_data());
            let nothing = problem.call(features.clone().zeros_like(), &backend.device, DType::F32);
            let nothing = numbers(nothing.into_data());
            let owed: Vec<f64> = output.iter().zip(nothing).map(|(all, rest)| all - rest).collect();
            let features = numbers(features.into_data());
            let gradients = problem.gradients(&backend.device, DType::F32, &weights);
            let (left, right) = (dot(&weights, &owed), dot(&numbers(gradients.features), &features));
            let most = 1e-4 * owed.iter().map(|number| number.abs()).sum::<f64>().max(1.0);
            prop_assert!((left - right).abs() <= most, "{}: {left} and {right}", backend.name);
        }
    });
}

fn direction(seed: u64, count: usize) -> Vec<f64> {
    random_numbers(seed.wrapping_add(3), count)
        .into_iter()
        .map(f64::from)
        .collect()
}

fn moved(numbers: &[f64], direction: &[f64], step: f64) -> Vec<f64> {
    numbers
        .iter()
        .zip(direction)
        .map(|(number, along)| number + step * along)
        .collect()
}

impl Problem {
    fn boxes_in_f64(&self) -> Vec<f64> {
        self.boxes.iter().flatten().map(|&number| number.into()).collect()
    }

    /// The problem with boxes moved a little at random, so that no sample lies on a pixel. There the slopes of both
    /// sides differ, and the differences of several samples of a box can cancel: one of 20,000 problems showed it.
    fn off_the_pixels(&self) -> Self {
        let random = direction(self.seed.wrapping_add(11), 4 * self.boxes.len());
        let mut moved = self.clone();
        for (number, random) in moved.boxes.iter_mut().flatten().zip(random) {
            *number += 1e-3 * random as f32;
        }
        moved
    }

    /// The output of other features and boxes, in f64.
    fn call_of(&self, features: &[f64], boxes: &[f64], device: &burn::tensor::Device) -> TensorData {
        use burn::tensor::Tensor;
        let tensor = |numbers: &[f64], shape: Vec<usize>| TensorData::new(numbers.to_vec(), shape);
        let features = tensor(features, self.shape.to_vec());
        let boxes = tensor(boxes, vec![self.boxes.len(), 4]);
        let boxes = Tensor::<2>::from_data(boxes, (device, DType::F64));
        let rois = self.rois(device, DType::F32, DType::F64);
        let rois = burn_roi::Rois::new(boxes, rois.batch_indices());
        let features = Tensor::<4>::from_data(features, (device, DType::F64));
        self.operator
            .call(features, &rois)
            .expect("the problem is right")
            .into_data()
    }
}
