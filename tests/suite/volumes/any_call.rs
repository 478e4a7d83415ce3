//! Any call, right or wrong: it is refused for what is wrong with it, or gives the numbers of the reference.

use burn::tensor::{DType, Device, FloatDType};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::problem::{Operator3d, Problem3d};
use super::reference::output;
use super::strategies::problems;
use crate::problem::drawn_from;
use crate::reference::SINGLE;

/// A call that was right before it was changed.
#[derive(Debug, Clone)]
pub struct AnyVolumeCall {
    problem: Problem3d,
    change: Change,
}

/// What is done to a call that is right.
#[derive(Debug, Clone)]
enum Change {
    None,
    /// A number of a box.
    Box(usize, f32),
    BatchIndex(i32),
    /// Boxes of another dtype.
    BoxDType(FloatDType),
    /// Features of a half dtype, beside boxes of f32.
    Half(FloatDType),
    OutputSize([usize; 3]),
    /// A size of the features that is 0.
    Empty(usize),
    NoRegions,
}

fn changes() -> impl Strategy<Value = Change> {
    let special = select(vec![f32::NAN, f32::INFINITY, -3e38, 1e-40, 1e17, 16_777_216.0, 0.0]);
    prop_oneof![
        2 => Just(Change::None),
        3 => (any::<usize>(), special).prop_map(|(place, number)| Change::Box(place, number)),
        1 => select(vec![-1, 7, i32::MAX, i32::MIN]).prop_map(Change::BatchIndex),
        1 => select(vec![FloatDType::F64, FloatDType::F16]).prop_map(Change::BoxDType),
        2 => select(vec![FloatDType::F16, FloatDType::BF16]).prop_map(Change::Half),
        1 => select(vec![[0, 3, 1], [2, 200, 200], [usize::MAX, 1, 1], [1, 1, 40_000]]).prop_map(Change::OutputSize),
        1 => (0usize..5).prop_map(Change::Empty),
        1 => Just(Change::NoRegions),
    ]
}

pub fn any_calls() -> impl Strategy<Value = AnyVolumeCall> {
    (problems(), changes()).prop_map(|(mut problem, change)| {
        match &change {
            Change::Box(place, number) => {
                let row = place / 6 % problem.boxes.len();
                problem.boxes[row][place % 6] = *number;
            }
            Change::BatchIndex(index) => problem.batch_indices[0] = *index,
            Change::OutputSize(size) => match &mut problem.operator {
                Operator3d::Align(config) => config.output_size = *size,
                Operator3d::Pool(config) => config.output_size = *size,
                Operator3d::Crop(config) => config.crop_size = *size,
            },
            Change::Empty(axis) => problem.shape[*axis] = 0,
            Change::NoRegions => {
                problem.boxes.clear();
                problem.batch_indices.clear();
            }
            Change::None | Change::BoxDType(_) | Change::Half(_) => {}
        }
        AnyVolumeCall { problem, change }
    })
}

impl AnyVolumeCall {
    /// The call that [`any_calls`] draws from these bytes.
    #[allow(dead_code)]
    pub fn read(bytes: &[u8]) -> Self {
        drawn_from(bytes, any_calls())
    }

    /// The dtype of one of its tensors; all others are f32.
    pub fn other_dtype(&self) -> DType {
        match self.change {
            Change::BoxDType(dtype) | Change::Half(dtype) => dtype.into(),
            _ => DType::F32,
        }
    }

    /// Makes the call. Where its outcome is wrong, the error says what is.
    pub fn check(&self, device: &Device, host: bool) -> Result<(), String> {
        let Self { problem, change } = self;
        let (mut features, mut boxes) = (problem.features(device, DType::F32), problem.boxes(device, DType::F32));
        match change {
            Change::BoxDType(dtype) => boxes = boxes.cast(*dtype),
            Change::Half(dtype) => features = features.cast(*dtype),
            _ => {}
        }
        let found = problem.operator.call(features.clone(), &problem.rois(boxes));
        let is_allowed: Option<fn(&RoiError) -> bool> = match change {
            Change::Box(_, number) if !number.is_finite() && host => {
                Some(|error| matches!(error, RoiError::BoxNotFinite { .. } | RoiError::DepthNotFinite { .. }))
            }
            Change::BatchIndex(_) | Change::Empty(0) if host => {
                Some(|error| matches!(error, RoiError::BatchIndex { .. }))
            }
            Change::BoxDType(_) => Some(|error| matches!(error, RoiError::DType { .. })),
            Change::OutputSize(_) => Some(|error| matches!(error, RoiError::Option { .. })),
            Change::Empty(2..) => Some(|error| matches!(error, RoiError::Shape { .. })),
            _ => None,
        };
        let pooled = match (is_allowed, found) {
            (Some(is_allowed), Err(error)) if is_allowed(&error) => return Ok(()),
            (_, Err(error)) => return Err(format!("refused with {error:?}")),
            (Some(_), Ok(_)) => return Err("answered".to_string()),
            (None, Ok(pooled)) => pooled.into_data(),
        };
        let is_wrong = matches!(change, Change::BatchIndex(_) | Change::Empty(0))
            || problem.boxes.iter().flatten().any(|end| !end.is_finite());
        let features: Vec<f64> = features.into_data().iter::<f64>().collect();
        let expected = match is_wrong {
            true => None,
            false => output(problem, &features, SINGLE),
        };
        let most = match change {
            Change::Half(FloatDType::F16) => 4e-3,
            Change::Half(_) => 3.2e-2,
            _ => 2e-5,
        };
        for (element, found) in pooled.iter::<f64>().enumerate() {
            // The largest option of a value is 7.5.
            let expected = expected.as_ref().map(|expected| expected[element]);
            let is_right = match expected {
                Some(expected) => (found - expected).abs() <= most * expected.abs().max(1.0),
                None => found.abs() <= 7.6,
            };
            if !is_right {
                return Err(format!("element {element} is {found}, not {expected:?}"));
            }
        }
        Ok(())
    }
}

#[test]
fn any_call_is_refused_or_right() {
    let backends = crate::backends::backends();
    proptest!(crate::agreement::drawn(100), |(call in any_calls())| {
        for backend in backends.iter().filter(|backend| backend.supports(call.other_dtype())) {
            if let Err(wrong) = call.check(&backend.device, backend.is_host()) {
                panic!("{}: {wrong}, for {call:?}", backend.name);
            }
        }
    });
}
