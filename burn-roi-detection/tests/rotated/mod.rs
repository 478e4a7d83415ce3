//! Rotated boxes: overlaps compared with polygons that are intersected in another way, the NMS of them, and errors.

mod bad_input;
mod box_iou;
mod nms;
mod slabs;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::{AngleConvention, RotationDirection};
use burn_roi_detection::{OverlapMode, box_iou_rotated};
use proptest::prelude::*;
use proptest::sample::select;

use crate::backends::{Backend, backends};

const DEGREES: AngleConvention = AngleConvention::DEGREES_COUNTER_CLOCKWISE;

const CLOCKWISE_DEGREES: AngleConvention = AngleConvention {
    unit: AngleConvention::DEGREES_COUNTER_CLOCKWISE.unit,
    direction: RotationDirection::Clockwise,
};

/// A device that computes in f64.
fn host() -> Device {
    let mut backends = backends().into_iter();
    let host = backends.find(|backend| backend.supports(DType::F64));
    host.map_or_else(Device::default, |Backend { device, .. }| device)
}

fn tensor<const COLUMNS: usize>(boxes: &[[f64; COLUMNS]], device: &Device, dtype: DType) -> Tensor<2> {
    let shape = [boxes.len(), COLUMNS];
    Tensor::from_data(TensorData::new(boxes.concat(), shape), (device, dtype))
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// The overlap of two boxes in f64.
fn overlap(left: [f64; 5], right: [f64; 5], convention: AngleConvention, mode: OverlapMode) -> f64 {
    let device = &host();
    let [left, right] = [left, right].map(|boxed| tensor(&[boxed], device, DType::F64));
    floats(box_iou_rotated(left, right, convention, mode))[0]
}

fn iou(left: [f64; 5], right: [f64; 5]) -> f64 {
    overlap(left, right, DEGREES, OverlapMode::Iou)
}

/// Boxes of which many overlap, with their angles in degrees: some at multiples of 45, long, thin and large ones.
fn rotated_box() -> impl Strategy<Value = [f64; 5]> {
    let side =
        || prop_oneof![4 => 0.5f64..8.0, 1 => 0.01f64..0.1, 1 => 20.0f64..100.0, 1 => (1u8..8).prop_map(f64::from)];
    let center = || prop_oneof![-5.0f64..5.0, (-4i8..4).prop_map(f64::from)];
    let angle = prop_oneof![
        -400.0f64..400.0,
        -1e-3f64..1e-3,
        select(vec![0.0, 45.0, 90.0, 135.0, 180.0, 270.0, -90.0, 360.0]),
    ];
    (center(), center(), side(), side(), angle).prop_map(|(x, y, width, height, angle)| [x, y, width, height, angle])
}
