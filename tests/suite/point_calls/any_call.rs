//! Any call, right or wrong: it is refused for what is wrong with it, or gives the right numbers and gradients.

use burn::tensor::{DType, Device, FloatDType, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::gradients::{dot, numbers};
use super::strategies::problems;
use super::{PointOperator, PointProblem};
use crate::problem::drawn_from;
use crate::reference::SINGLE;

/// A call that was right before it was changed.
#[derive(Debug, Clone)]
pub struct AnyPointCall {
    problem: PointProblem,
    change: Change,
}

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
    BoxDType(FloatDType),
    /// Features of a half dtype, beside boxes and offsets of f32.
    Half(FloatDType),
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
        1 => select(vec![FloatDType::F64, FloatDType::F16]).prop_map(Change::BoxDType),
        2 => select(vec![FloatDType::F16, FloatDType::BF16]).prop_map(Change::Half),
        1 => select(vec![[0, 3], [2, 40_000], [usize::MAX, 1]]).prop_map(Change::OutputSize),
        1 => select(vec![0.0, -1.0, f64::NAN, 1e300, 1e30, 1e-30]).prop_map(Change::Scale),
    ]
}

/// Any call.
pub fn any_calls() -> impl Strategy<Value = AnyPointCall> {
    (problems(), changes()).prop_map(|(mut problem, change)| {
        apply(&change, &mut problem);
        AnyPointCall { problem, change }
    })
}

impl AnyPointCall {
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
        match (allowed(&self.change, &self.problem, host), self.run(device)) {
            (Some(is_allowed), Err(error)) if is_allowed(&error) => Ok(()),
            (_, Err(error)) => Err(format!("refused with {error:?}")),
            (Some(_), Ok(_)) => Err("answered".to_string()),
            (None, Ok(output)) if host => {
                self.check_output(&output, device)?;
                match self.change {
                    Change::Half(_) => Ok(()),
                    _ => self.check_gradient(&output, device),
                }
            }
            (None, Ok(output)) => bounded(&output),
        }
    }

    fn run(&self, device: &Device) -> Result<TensorData, RoiError> {
        let Self { problem, change } = self;
        let mut inputs = problem.inputs(device, DType::F32);
        match change {
            Change::Columns(true) => inputs.boxes = Tensor::zeros([problem.boxes.len(), 6], device),
            Change::Columns(false) => inputs.boxes = Tensor::zeros([problem.boxes.len(), 3], device),
            Change::BoxDType(dtype) => inputs.boxes = inputs.boxes.cast(*dtype),
            Change::Half(dtype) => inputs.features = inputs.features.cast(*dtype),
            _ => {}
        }
        let indices = problem.indices(device);
        let output = problem
            .operator
            .call(inputs.features, inputs.boxes, indices, inputs.offsets)?;
        Ok(output.into_data())
    }

    fn check_output(&self, output: &TensorData, device: &Device) -> Result<(), String> {
        bounded(output)?;
        // The orientation of a whole number of turns is decided by its last bit.
        if matches!(self.problem.operator, PointOperator::RiRotated(_)) {
            return Ok(());
        }
        let Some(expected) = self.problem.expected(device, DType::F32, SINGLE) else {
            return Ok(());
        };
        // Features and output are rounded.
        let most = match self.change {
            Change::Half(FloatDType::F16) => 2e-3,
            Change::Half(_) => 1.6e-2,
            _ => 2e-5,
        };
        let pairs = output.iter::<f64>().zip(&expected.numbers).enumerate();
        for (element, (found, expected)) in pairs {
            if (found - expected).abs() > most {
                return Err(format!("element {element} is {found}, not {expected}"));
            }
        }
        Ok(())
    }

    /// An output is linear in the features: `<G, J F> = <Jᵀ G, F>`.
    fn check_gradient(&self, output: &TensorData, device: &Device) -> Result<(), String> {
        let features = self.problem.inputs(device, DType::F32).features.into_data();
        let found = self.problem.gradients(device, DType::F32);
        let (weights, output) = (self.problem.weights(output), numbers(output));
        let (left, right) = (
            dot(&weights, &output),
            dot(&numbers(&found.features), &numbers(&features)),
        );
        let most = 1e-4 * output.iter().map(|number| number.abs()).sum::<f64>().max(1.0);
        if (left - right).abs() > most || right.is_nan() {
            return Err(format!("the gradient of features gives {right}, not {left}"));
        }
        let of_regions = [Some(&found.boxes), found.offsets.as_ref()];
        let mut of_regions = of_regions.into_iter().flatten().flat_map(numbers);
        match of_regions.find(|number| !number.is_finite()) {
            Some(number) => Err(format!("a gradient of a box or an offset is {number}")),
            None => Ok(()),
        }
    }
}

/// An element is a mean of numbers from -1 to 1, by weights that may sum to 1 twice where orientations mix.
fn bounded(output: &TensorData) -> Result<(), String> {
    match output
        .iter::<f64>()
        .find(|number| number.is_nan() || number.abs() > 1.01)
    {
        Some(number) => Err(format!("an element is {number}")),
        None => Ok(()),
    }
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
        Change::BoxDType(_) => Some(|error| matches!(error, RoiError::DType { .. })),
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
        Change::None | Change::Columns(_) | Change::BoxDType(_) | Change::Half(_) => {}
    }
}
