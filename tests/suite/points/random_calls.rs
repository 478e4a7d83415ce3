//! Random calls, right or wrong: each is an error of what is wrong, or gives the right numbers.

use burn::tensor::{DType, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::against_reference::expected;
use super::strategies::problems;
use super::{PointOperator, PointProblem};
use crate::agreement::drawn;
use crate::backends::{Backend, backends};
use crate::reference::SINGLE;

/// What is done to a call that is right.
#[derive(Debug, Clone)]
enum Change {
    None,
    /// A number of a box.
    Box(usize, f64),
    /// A number of the offsets.
    Offset(usize, f64),
    BatchIndex(i32),
    /// One column more or less.
    Columns(bool),
    /// One row of the offsets more.
    OffsetRows,
    /// Boxes of another dtype.
    BoxDType,
    OutputSize([usize; 2]),
    Scale(f64),
}

fn changes() -> impl Strategy<Value = Change> {
    let special = select(vec![
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        3e38,
        -3e38,
        1e-40,
        1e17,
        -1e9,
        16_777_216.0,
        0.0,
    ]);
    prop_oneof![
        2 => Just(Change::None),
        3 => (any::<usize>(), special.clone()).prop_map(|(place, number)| Change::Box(place, number)),
        2 => (any::<usize>(), special).prop_map(|(place, number)| Change::Offset(place, number)),
        1 => select(vec![-1, 7, i32::MAX, i32::MIN]).prop_map(Change::BatchIndex),
        1 => any::<bool>().prop_map(Change::Columns),
        1 => Just(Change::OffsetRows),
        1 => Just(Change::BoxDType),
        1 => select(vec![[0, 3], [2, 40_000], [usize::MAX, 1]]).prop_map(Change::OutputSize),
        1 => select(vec![0.0, -1.0, f64::NAN, 1e300, 1e30, 1e-30]).prop_map(Change::Scale),
    ]
}

/// The errors that a change may rightly give; none where the call stays right.
fn allowed(change: &Change, problem: &PointProblem, host: bool) -> Option<fn(&RoiError) -> bool> {
    match change {
        Change::Box(_, number) if !number.is_finite() && host => {
            Some(|error| matches!(error, RoiError::BoxNotFinite { .. } | RoiError::AngleNotFinite { .. }))
        }
        Change::Offset(_, number) if !number.is_finite() && host && problem.offsets.is_some() => {
            Some(|error| matches!(error, RoiError::OffsetNotFinite { .. }))
        }
        Change::BatchIndex(_) if host => Some(|error| matches!(error, RoiError::BatchIndex { .. })),
        Change::Columns(_) => Some(|error| matches!(error, RoiError::Shape { .. })),
        Change::OffsetRows if problem.offsets.is_some() => Some(|error| matches!(error, RoiError::Shape { .. })),
        Change::BoxDType => Some(|error| matches!(error, RoiError::DType { .. })),
        Change::OutputSize(_) => {
            // The offsets and channels of another output size do not fit either.
            Some(|error| {
                matches!(
                    error,
                    RoiError::Option { .. } | RoiError::Shape { .. } | RoiError::Channels { .. }
                )
            })
        }
        Change::Scale(scale) if !((*scale as f32).is_finite() && *scale > 0.0) => {
            Some(|error| matches!(error, RoiError::Option { .. }))
        }
        _ => None,
    }
}

fn apply(change: &Change, problem: &mut PointProblem) {
    let columns = problem.operator.columns();
    match change {
        Change::Box(place, number) => {
            let place = place % (problem.boxes.len() * columns);
            problem.boxes[place / columns][place % columns] = *number;
        }
        Change::Offset(place, number) => {
            if let Some((_, numbers)) = &mut problem.offsets {
                let place = place % numbers.len();
                numbers[place] = *number;
            }
        }
        Change::BatchIndex(index) => problem.batch_indices[0] = *index,
        Change::OffsetRows => {
            if let Some((shape, numbers)) = &mut problem.offsets {
                shape[2] += 1;
                numbers.resize(shape.iter().product(), 0.0);
            }
        }
        Change::OutputSize(size) => match &mut problem.operator {
            PointOperator::Rotated(config) => config.output_size = *size,
            PointOperator::RiRotated(config) => config.output_size = *size,
            PointOperator::Deform(config) => config.output_size = *size,
            PointOperator::DeformPs(config) => config.output_size = *size,
            PointOperator::PsCrop(config) => config.output_size = *size,
        },
        Change::Scale(scale) => match &mut problem.operator {
            PointOperator::Rotated(config) => config.spatial_scale = *scale,
            PointOperator::RiRotated(config) => config.spatial_scale = *scale,
            PointOperator::Deform(config) => config.spatial_scale = *scale,
            PointOperator::DeformPs(config) => config.spatial_scale = *scale,
            PointOperator::PsCrop(config) => config.spatial_scale = *scale,
        },
        Change::None | Change::Columns(_) | Change::BoxDType => {}
    }
}

fn call(problem: &PointProblem, change: &Change, backend: &Backend) -> Result<TensorData, RoiError> {
    let device = &backend.device;
    let mut inputs = problem.inputs(device, DType::F32);
    match change {
        Change::Columns(true) => inputs.boxes = Tensor::zeros([problem.boxes.len(), 6], device),
        Change::Columns(false) => inputs.boxes = Tensor::zeros([problem.boxes.len(), 3], device),
        Change::BoxDType if backend.supports(DType::F64) => {
            inputs.boxes = inputs.boxes.cast(burn::tensor::FloatDType::F64);
        }
        Change::BoxDType => inputs.boxes = inputs.boxes.cast(burn::tensor::FloatDType::F16),
        _ => {}
    }
    let indices = problem.indices(device);
    let output = problem
        .operator
        .call(inputs.features, inputs.boxes, indices, inputs.offsets)?;
    Ok(output.into_data())
}

#[test]
fn any_call_is_refused_for_what_is_wrong_or_gives_the_right_numbers() {
    let backends = backends();
    proptest!(drawn(800), |(problem in problems(), change in changes())| {
        let mut problem = problem;
        apply(&change, &mut problem);
        for backend in &backends {
            let outcome = call(&problem, &change, backend);
            match (allowed(&change, &problem, backend.is_host()), outcome) {
                (Some(is_allowed), Err(error)) => {
                    prop_assert!(is_allowed(&error), "{}: {change:?} gave {error:?}", backend.name);
                }
                (Some(_), Ok(_)) => prop_assert!(false, "{}: {change:?} was answered", backend.name),
                (None, Err(error)) => prop_assert!(false, "{}: refused with {error:?}", backend.name),
                (None, Ok(output)) => {
                    let numbers: Vec<f64> = output.iter::<f64>().collect();
                    // A mean of numbers from -1 to 1, by weights that may sum to 1 twice where orientations mix.
                    let bounded = numbers.iter().all(|number| number.abs() <= 1.001);
                    prop_assert!(bounded, "{}: {change:?} gave {numbers:?}", backend.name);
                    if backend.is_host() && !matches!(problem.operator, PointOperator::RiRotated(_)) {
                        let is_right = |expected: &[f64]| {
                            numbers.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 2e-5)
                        };
                        if let Some(expected) = expected(&problem, backend, DType::F32, SINGLE) {
                            prop_assert!(is_right(&expected.numbers), "{}: {change:?}", backend.name);
                        }
                    }
                }
            }
        }
    });
}
