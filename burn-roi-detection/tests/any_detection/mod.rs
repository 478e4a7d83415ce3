//! Any call of the detection module, right or wrong: what the fuzz target and the tests' random calls are made of.
//!
//! Three of four calls are right: they must succeed. The others have lengths that do not match, values that are NaN or
//! infinite, and options out of range: they are refused or give results that are consistent, and never panic.

use std::fmt::Debug;

use burn::tensor::{DType, Device, Tensor};
use burn_roi_detection::DetectionError;

mod boxes;
mod bytes;
mod masks;
mod selection;
mod targets;
mod training;

use bytes::{Bytes, Floats};

/// A call, and what must become of it.
#[derive(Debug)]
pub struct AnyDetection {
    call: Box<dyn Call>,
    /// The call is right in everything, and must succeed.
    faultless: bool,
    /// The call has a fault that must be refused.
    wrong: bool,
}

/// What a function was asked to do.
trait Call: Debug {
    /// Makes the call: the error that it is refused with, if it is. The outer error says what is wrong with a result.
    /// A faultless call has finite results.
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String>;

    /// The float tensors that decide whether a backend can make the call.
    fn floats(&self) -> Vec<&Floats>;
}

impl AnyDetection {
    /// Reads a call; where the bytes end, zeros follow.
    pub fn read(bytes: &[u8]) -> Self {
        let mut bytes = Bytes::new(bytes);
        let call: Box<dyn Call> = match bytes.int(0..=13) {
            0 | 1 => Box::new(selection::Suppression::read(&mut bytes)),
            2 => Box::new(selection::Proposals::read(&mut bytes)),
            3 | 4 => Box::new(selection::PostProcessing::read(&mut bytes)),
            5 => Box::new(boxes::Boxes::read(&mut bytes)),
            6 => Box::new(boxes::Coder::read(&mut bytes)),
            7 => Box::new(boxes::Anchors::read(&mut bytes)),
            8 | 9 => Box::new(masks::Pasting::read(&mut bytes)),
            10 => Box::new(masks::Heatmaps::read(&mut bytes)),
            11 => Box::new(training::HeadLosses::read(&mut bytes)),
            12 => Box::new(training::MaskLoss::read(&mut bytes)),
            _ => Box::new(targets::Targets::read(&mut bytes)),
        };
        Self {
            call,
            faultless: !bytes.careless,
            wrong: bytes.wrong,
        }
    }

    /// The dtypes of its float tensors.
    pub fn dtypes(&self) -> Vec<DType> {
        self.call.floats().into_iter().map(|floats| floats.dtype).collect()
    }

    /// Makes the call. The error says what is wrong with its outcome.
    pub fn check(&self, device: &Device) -> Result<(), String> {
        match self.call.run(device, self.faultless)? {
            Ok(()) if self.wrong => Err("it should be refused".to_string()),
            Err(error) if self.faultless => Err(format!("it should not be refused: {error}")),
            _ => Ok(()),
        }
    }
}

/// Turns a refusal inside out: the outer error then says what is wrong with a result.
fn swapped(checked: Result<Result<(), String>, DetectionError>) -> Result<Result<(), DetectionError>, String> {
    match checked {
        Ok(checked) => checked.map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// An error with this text where something does not hold.
fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(text()) }
}

fn read<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

fn all_finite<const D: usize>(tensor: &Tensor<D>) -> bool {
    read(tensor).iter().all(|value| value.is_finite())
}

/// Checks that scores decrease and are no NaN.
fn ensure_sorted(scores: &[f64]) -> Result<(), String> {
    let sorted = scores.is_sorted_by(|left, right| left >= right) && !scores.iter().any(|score| score.is_nan());
    ensure(sorted, || format!("scores are not sorted: {scores:?}"))
}

/// Checks that boxes are in bounds of an image. Sizes of images here are exact in every dtype.
fn ensure_in_image(boxes: &Tensor<2>, [height, width]: [usize; 2]) -> Result<(), String> {
    let boxes = read(boxes);
    let limits = [width, height, width, height].map(|limit| limit as f64);
    let in_image = boxes
        .iter()
        .enumerate()
        .all(|(index, coordinate)| (0.0..=limits[index % 4]).contains(coordinate));
    ensure(in_image, || {
        format!("boxes are not in the image of {height} x {width}: {boxes:?}")
    })
}
