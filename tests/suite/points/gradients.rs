//! Gradients of features, boxes, angles and offsets.

use std::cell::Cell;

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Tensor, TensorData};
use proptest::prelude::*;

use super::against_reference::{bits, is_near};
use crate::agreement::{drawn, largest_error};
use crate::backends::backends;
use crate::point_calls::gradients::{dot, numbers};
use crate::point_calls::strategies::problems;
use crate::point_calls::{Inputs, PointOperator, PointProblem};
use crate::problem::{Layout, random_numbers};
use crate::reference::{DOUBLE, SINGLE};
use burn_roi::*;

const STEP: f64 = 1e-6;

/// Boxes, angles and offsets are moved one number at a time; the output changes as the gradients say.
#[test]
fn gradients_of_regions_are_slopes() {
    let backends = backends();
    let Some(backend) = backends.iter().find(|backend| backend.supports(DType::F64)) else {
        return;
    };
    let (of_boxes, of_offsets) = (Cell::new(0), Cell::new(0));
    proptest!(drawn(100), |(problem in problems())| {
        prop_assume!(is_near(&problem));
        let Some(expected) = problem.expected(&backend.device, DType::F64, DOUBLE) else { return Ok(()) };
        // Near a jump or a bend the slope of one side is not that of the other.
        prop_assume!(expected.nearest_jump > 1e-3 && expected.nearest_bend > 1e-3);
        let device = &backend.device;
        let inputs = problem.inputs(device, DType::F64);
        let weights = problem.weights(&problem.run(device, DType::F64));
        let value = |inputs: Inputs| dot(&weights, &numbers(&problem.call(inputs, device).into_data()));
        let slope = |change: &dyn Fn(f64) -> Inputs| {
            (value(change(STEP)) - value(change(-STEP))) / (2.0 * STEP)
        };
        let found = problem.gradients(device, DType::F64);
        let boxes = numbers(&inputs.boxes.clone().into_data());
        for (place, found) in numbers(&found.boxes).into_iter().enumerate() {
            let expected = slope(&|step| Inputs {
                boxes: moved(&boxes, place, step, inputs.boxes.dims(), device),
                ..inputs.clone()
            });
            let most = 1e-5 * expected.abs().max(1.0) * weights.len() as f64;
            prop_assert!((found - expected).abs() <= most, "box number {place}: {found}, not {expected}");
            of_boxes.set(of_boxes.get() + 1);
        }
        if let (Some(offsets), Some(found)) = (&inputs.offsets, &found.offsets) {
            let before = numbers(&offsets.clone().into_data());
            for (place, found) in numbers(found).into_iter().enumerate() {
                let expected = slope(&|step| Inputs {
                    offsets: Some(moved(&before, place, step, offsets.dims(), device)),
                    ..inputs.clone()
                });
                let most = 1e-5 * expected.abs().max(1.0) * weights.len() as f64;
                prop_assert!((found - expected).abs() <= most, "offset {place}: {found}, not {expected}");
                of_offsets.set(of_offsets.get() + 1);
            }
        }
    });
    assert!(of_boxes.get() > 0 && of_offsets.get() > 0);
}

fn moved<const D: usize>(numbers: &[f64], place: usize, step: f64, shape: [usize; D], device: &Device) -> Tensor<D> {
    let mut numbers = numbers.to_vec();
    numbers[place] += step;
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F64))
}

/// An output is linear in the features: `<G, J F> = <Jᵀ G, F>`.
#[test]
fn gradients_of_features_are_adjoint_on_every_backend() {
    proptest!(drawn(60), |(problem in problems())| {
        for backend in backends() {
            let output = problem.run(&backend.device, DType::F32);
            let weights = problem.weights(&output);
            let features = problem.inputs(&backend.device, DType::F32).features.into_data();
            let found = problem.gradients(&backend.device, DType::F32);
            let output = numbers(&output);
            let (left, right) = (dot(&weights, &output), dot(&numbers(&found.features), &numbers(&features)));
            let most = 1e-4 * output.iter().map(|number| number.abs()).sum::<f64>().max(1.0);
            prop_assert!((left - right).abs() <= most, "{}: {left} and {right}", backend.name);
        }
    });
}

#[test]
fn backends_agree_on_gradients() {
    let backends = backends();
    let (first, others) = backends.split_first().expect("there is a backend");
    proptest!(drawn(60), |(problem in problems())| {
        prop_assume!(is_near(&problem));
        let expected = problem.expected(&first.device, DType::F32, SINGLE);
        prop_assume!(expected.is_some_and(|expected| expected.nearest_jump.min(expected.nearest_bend) > 1e-3));
        let expected = problem.gradients(&first.device, DType::F32);
        for other in others {
            let found = problem.gradients(&other.device, DType::F32);
            let mut errors = vec![
                largest_error(&found.features, &expected.features),
                largest_error(&found.boxes, &expected.boxes),
            ];
            errors.extend(found.offsets.iter().zip(&expected.offsets).map(|(left, right)| largest_error(left, right)));
            for (error, most) in errors.into_iter().zip([2e-4, 2e-3, 2e-3]) {
                prop_assert!(error <= most, "{} differs from {} by {error:e}", other.name, first.name);
            }
        }
    });
}

/// The same bits by hand as on an autodiff device, but for the angles of `riroi_align_rotated`.
#[test]
fn gradients_by_hand_are_those_of_an_autodiff_device() {
    let deform_ps = DeformPsRoiPoolConfig::new([3, 2], 4)
        .with_samples([2, 3])
        .with_part_size([2, 2]);
    let problems = [
        overlapping(
            PointOperator::RiRotated(RiRoiAlignRotatedConfig::new([2, 3]).with_orientations(4)),
            8,
            None,
        ),
        // Two classes, and a channel that none reads.
        overlapping(PointOperator::DeformPs(deform_ps), 25, Some([60, 4, 2, 2])),
        overlapping(PointOperator::Rotated(RoiAlignRotatedConfig::new([2, 3])), 5, None),
        overlapping(
            PointOperator::Deform(DeformRoiPoolConfig::new([2, 3])),
            5,
            Some([60, 2, 2, 3]),
        ),
        overlapping(
            PointOperator::PsCrop(PsCropAndResizeConfig::new([3, 4], [2, 3])),
            12,
            None,
        ),
    ];
    for backend in backends() {
        for problem in &problems {
            let device = &backend.device;
            let recorded = problem.gradients(device, DType::F32);
            let output = problem.run(device, DType::F32);
            let weights = TensorData::new(problem.weights(&output), output.shape().clone()).convert_dtype(DType::F32);
            let weights = Tensor::<4>::from_data(weights, (device, DType::F32)).into_dispatch();
            let inputs = problem.inputs(device, DType::F32);
            let (features, boxes) = (inputs.features.into_dispatch(), inputs.boxes.into_dispatch());
            let indices = problem.indices(device).into_dispatch();
            let mut regions = primitive::RegionTensors::new(boxes, indices);
            if let Some(offsets) = inputs.offsets {
                regions = regions.with_offsets(offsets.into_dispatch());
            }
            let by_hand = match problem.operator.clone() {
                PointOperator::Rotated(config) => primitive::backward::<Dispatch>(weights, features, regions, config),
                PointOperator::PsCrop(config) => primitive::backward::<Dispatch>(weights, features, regions, config),
                PointOperator::Deform(config) => primitive::backward::<Dispatch>(weights, features, regions, config),
                PointOperator::DeformPs(config) => primitive::backward::<Dispatch>(weights, features, regions, config),
                PointOperator::RiRotated(config) => primitive::backward::<Dispatch>(weights, features, regions, config),
            };
            let features = Tensor::<4>::from_dispatch(by_hand.features()).into_data();
            let boxes = Tensor::<2>::from_dispatch(by_hand.boxes()).into_data();
            let offsets = by_hand
                .offsets()
                .map(|offsets| Tensor::<4>::from_dispatch(offsets).into_data());
            assert_eq!(bits(&features), bits(&recorded.features), "{}", backend.name);
            if let PointOperator::RiRotated(_) = problem.operator {
                // Burn's gradient of a division multiplies by a rounded reciprocal.
                let error = largest_error(&boxes, &recorded.boxes);
                assert!(error <= 1e-6, "{}: {error:e}", backend.name);
            } else {
                assert_eq!(bits(&boxes), bits(&recorded.boxes), "{}", backend.name);
            }
            assert_eq!(boxes.shape(), recorded.boxes.shape(), "{}", backend.name);
            assert_eq!(
                offsets.as_ref().map(bits),
                recorded.offsets.as_ref().map(bits),
                "{}",
                backend.name
            );
        }
    }
}

/// Many regions that overlap, some of them fully.
fn overlapping(operator: PointOperator, channels: usize, offsets: Option<[usize; 4]>) -> PointProblem {
    let count = 60;
    let boxes = (0..count).map(|row| {
        let [x, y] = [row % 7, row % 5].map(|number| f64::from(number) * 2.3);
        let mut numbers = vec![x, y, x + 14.0, y + 11.0];
        numbers.extend((operator.columns() == 5).then_some(f64::from(row) / 9.0));
        numbers
    });
    PointProblem {
        boxes: boxes.collect(),
        operator,
        layout: Layout::Contiguous,
        shape: [2, channels, 32, 31],
        batch_indices: (0..count).map(|row| row % 2).collect(),
        offsets: offsets.map(|shape| {
            let numbers = random_numbers(3, shape.iter().product());
            (shape, numbers.into_iter().map(f64::from).collect())
        }),
        seed: 5,
    }
}

#[test]
fn the_same_call_gives_the_same_bits_on_any_number_of_threads() {
    let deform_ps = DeformPsRoiPoolConfig::new([3, 2], 4)
        .with_samples([2, 3])
        .with_part_size([2, 2]);
    let problems = [
        overlapping(PointOperator::Rotated(RoiAlignRotatedConfig::new([5, 7])), 20, None),
        overlapping(
            PointOperator::Deform(DeformRoiPoolConfig::new([5, 4])),
            20,
            Some([60, 2, 5, 4]),
        ),
        overlapping(PointOperator::DeformPs(deform_ps), 24, Some([60, 4, 2, 2])),
        overlapping(
            PointOperator::PsCrop(PsCropAndResizeConfig::new([3, 4], [2, 3])),
            24,
            None,
        ),
    ];
    for backend in backends() {
        for problem in &problems {
            let gradients = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("a pool");
                pool.install(|| problem.gradients(&backend.device, DType::F32))
            };
            let first = gradients(1);
            for threads in [1, 2, 5] {
                let again = gradients(threads);
                let same = bits(&again.features) == bits(&first.features)
                    && bits(&again.boxes) == bits(&first.boxes)
                    && again.offsets.as_ref().map(bits) == first.offsets.as_ref().map(bits);
                assert!(same, "{}: {problem:?}", backend.name);
            }
        }
    }
}
