//! Gradients of volumes.

use std::cell::Cell;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;

use super::problem::{Operator3d, Problem3d};
use super::strategies::problems;
use crate::agreement::drawn;
use crate::backends::backends;
use crate::problem::random_numbers;

/// By how far inputs are moved.
const STEP: f64 = 1e-6;

fn numbers(data: TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Numbers from -1 to 1.
fn weights(seed: u64, count: usize) -> Vec<f64> {
    random_numbers(seed.wrapping_add(1), count)
        .into_iter()
        .map(f64::from)
        .collect()
}

/// A value and the gradients of features and boxes, where the output is weighted and added up. A backend may have
/// another way where only features are tracked, which must give the same.
fn value_and_gradients(
    problem: &Problem3d,
    device: &Device,
    dtype: DType,
    features: &[f64],
    boxes: &[f64],
) -> (f64, [Vec<f64>; 2]) {
    let run = |tracks_boxes| of_tracked(problem, device, dtype, features, boxes, tracks_boxes);
    let (value, [of_features, of_boxes]) = run(true);
    let (same_value, [same_gradient, _]) = run(false);
    let bits = if dtype == DType::F64 { 1e-12 } else { 1e-4 };
    assert!(
        (value - same_value).abs() <= bits * (1.0 + value.abs()),
        "{value} and {same_value}"
    );
    let largest = of_features.iter().map(|slope| slope.abs()).fold(1.0, f64::max);
    for (slope, same) in of_features.iter().zip(&same_gradient) {
        assert!((slope - same).abs() <= bits * largest, "{slope} and {same}");
    }
    (value, [of_features, of_boxes])
}

/// The same where features are tracked and boxes may be; the gradient of boxes that are not is empty.
fn of_tracked(
    problem: &Problem3d,
    device: &Device,
    dtype: DType,
    features: &[f64],
    boxes: &[f64],
    tracks_boxes: bool,
) -> (f64, [Vec<f64>; 2]) {
    let device = device.clone().autodiff();
    let options = (&device, dtype);
    let features = TensorData::new(features.to_vec(), problem.shape).convert_dtype(dtype);
    let features = Tensor::<5>::from_data(features, options).require_grad();
    let boxes = TensorData::new(boxes.to_vec(), [problem.boxes.len(), 6]).convert_dtype(dtype);
    let boxes = Tensor::<2>::from_data(boxes, options).set_require_grad(tracks_boxes);
    let output = problem.operator.call(features.clone(), &problem.rois(boxes.clone()));
    let output = output.expect("the problem is right");
    let shape = output.dims();
    let weights = weights(problem.seed, output.shape().num_elements());
    let value = dot(&numbers(output.clone().into_data()), &weights);
    let weights = TensorData::new(weights, shape).convert_dtype(dtype);
    let gradients = (output * Tensor::from_data(weights, options)).sum().backward();
    let of_features = features.grad(&gradients).expect("features are tracked").into_data();
    let of_boxes = boxes.grad(&gradients).map(|slopes| numbers(slopes.into_data()));
    assert_eq!(of_boxes.is_some(), tracks_boxes);
    (value, [numbers(of_features), of_boxes.unwrap_or_default()])
}

fn inputs(problem: &Problem3d, device: &Device) -> [Vec<f64>; 2] {
    let features = problem.features(device, DType::F64).into_data();
    [
        numbers(features),
        numbers(problem.boxes(device, DType::F64).into_data()),
    ]
}

/// Features, and each number of each box, are moved; the output changes as the gradients say. A jump or a bend is left
/// out.
#[test]
fn gradients_are_slopes() {
    let backends = backends();
    let Some(backend) = backends.iter().find(|backend| backend.supports(DType::F64)) else {
        return;
    };
    let (of_features, of_boxes) = (Cell::new(0), Cell::new(0));
    proptest!(drawn(60), |(mut problem in problems())| {
        // A step is lost in larger numbers, and a gradient of crops is 0 on a voxel.
        for end in problem.boxes.iter_mut().flatten() {
            *end = end.clamp(-20.0, 20.0) + 0.003;
        }
        let inputs = inputs(&problem, &backend.device);
        let value = |inputs: &[Vec<f64>; 2]| {
            value_and_gradients(&problem, &backend.device, DType::F64, &inputs[0], &inputs[1])
        };
        let (here, gradients) = value(&inputs);
        let most = 1e-5 * (1.0 + gradients.iter().flatten().map(|slope| slope.abs()).fold(0.0, f64::max));
        let slope = |input: usize, direction: &[f64]| {
            let [before, after] = [-STEP, STEP].map(|step| {
                let mut inputs = inputs.clone();
                inputs[input].iter_mut().zip(direction).for_each(|(number, by)| *number += step * by);
                value(&inputs).0
            });
            let (left, right) = ((here - before) / STEP, (after - here) / STEP);
            ((left - right).abs() <= most).then_some((left + right) / 2.0)
        };
        let direction = weights(problem.seed.wrapping_add(7), inputs[0].len());
        if let Some(expected) = slope(0, &direction) {
            let found = dot(&gradients[0], &direction);
            let most = most * (inputs[0].len() as f64).sqrt();
            prop_assert!((found - expected).abs() <= most, "features: {found}, not {expected}");
            of_features.set(of_features.get() + 1);
        }
        for end in 0..inputs[1].len() {
            let mut direction = vec![0.0; inputs[1].len()];
            direction[end] = 1.0;
            if let Some(expected) = slope(1, &direction) {
                let found = gradients[1][end];
                prop_assert!((found - expected).abs() <= most, "end {end}: {found}, not {expected}");
                of_boxes.set(of_boxes.get() + usize::from(expected != 0.0));
            }
        }
    });
    assert!(
        of_features.get() > 20 && of_boxes.get() > 10,
        "{of_features:?}, {of_boxes:?}"
    );
}

#[test]
fn every_backend_has_the_same_gradients_each_time() {
    let backends = backends();
    let exact = backends.iter().find(|backend| backend.supports(DType::F64));
    proptest!(drawn(20), |(mut problem in problems())| {
        // Far ends lose the bits that f32 and f64 would have to share.
        for end in problem.boxes.iter_mut().flatten() {
            *end = (end.clamp(-20.0, 20.0) * 64.0).round() / 64.0 + 1.0 / 1024.0;
        }
        for backend in &backends {
            let [features, boxes] = inputs(&problem, &Device::flex());
            let run = |device, dtype| value_and_gradients(&problem, device, dtype, &features, &boxes).1;
            let found = run(&backend.device, DType::F32);
            prop_assert_eq!(&found, &run(&backend.device, DType::F32), "{}: another time", backend.name);
            let Some(exact) = exact else { continue };
            let expected = run(&exact.device, DType::F64);
            for (found, expected) in found.iter().zip(&expected) {
                let most = 1e-3 * expected.iter().map(|slope| slope.abs()).fold(1.0, f64::max);
                // f32 puts some samples on the other side of a border: few voxels differ by much.
                let wrong = found.iter().zip(expected).filter(|(found, expected)| (*found - *expected).abs() > most);
                prop_assert!(wrong.count() * 10 <= expected.len(), "{}: {found:?}, not {expected:?}", backend.name);
            }
        }
    });
}

#[test]
fn no_region_gives_gradients_of_zeros() {
    for backend in backends() {
        let problem = Problem3d {
            operator: Operator3d::Align(RoiAlign3dConfig::new([2, 3, 4])),
            shape: [2, 3, 4, 5, 6],
            channels_last: false,
            boxes: Vec::new(),
            batch_indices: Vec::new(),
            format: 0,
            seed: 1,
        };
        let features = vec![1.0; 2 * 3 * 4 * 5 * 6];
        let (_, [of_features, of_boxes]) = value_and_gradients(&problem, &backend.device, DType::F32, &features, &[]);
        assert_eq!(of_features, vec![0.0; features.len()], "{}", backend.name);
        assert!(of_boxes.is_empty(), "{}", backend.name);
    }
}

/// Much is planned or pooled in several parts, of which each adds to the gradient.
#[test]
fn parts_of_a_call_add_up() {
    let problem = |size, shape, regions| Problem3d {
        operator: Operator3d::Align(RoiAlign3dConfig::new(size).with_sampling_ratio(2)),
        shape,
        channels_last: false,
        boxes: vec![[1.0, 1.5, 6.0, 7.0, 2.0, 30.0]; regions],
        batch_indices: vec![0; regions],
        format: 0,
        seed: 3,
    };
    // A part takes 32 MiB, and a region 0.4 MB of slices.
    parts_add_up(problem([7, 7, 7], [1, 64, 32, 8, 8], 100), true);
    // Too much for Flex's kernels for volumes: 4.2 MB for a channel of a region, so that channels are parts too.
    for tracks_boxes in [true, false] {
        parts_add_up(problem([5, 180, 180], [1, 9, 32, 8, 8], 1), tracks_boxes);
    }
    // The plans of a batch hold two million numbers, and those of a region 8,000.
    parts_add_up(problem([2, 1, 1], [1, 3, 1000, 8, 8], 300), false);
}

fn parts_add_up(problem: Problem3d, tracks_boxes: bool) {
    let device = Device::flex();
    let output = numbers(problem.run(&device, DType::F32));
    let of_region = &output[..output.len() / problem.boxes.len()];
    assert!(output.chunks(of_region.len()).all(|output| output == of_region));

    let features = numbers(problem.features(&device, DType::F32).into_data());
    let boxes: Vec<f64> = problem.boxes.as_flattened().iter().copied().map(f64::from).collect();
    let (value, [gradient, of_boxes]) = of_tracked(&problem, &device, DType::F32, &features, &boxes, tracks_boxes);
    // An average is linear in the features.
    let found = dot(&gradient, &features);
    assert!(
        (found - value).abs() <= 1e-3 * value.abs().max(1.0),
        "{found}, not {value}"
    );
    assert!(
        of_boxes
            .chunks(6)
            .all(|slopes| slopes.iter().any(|slope| *slope != 0.0))
    );
}
