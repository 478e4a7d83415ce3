//! Runs the cases of rotated boxes, by the framework's own attributes.

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::AngleConvention;
use burn_roi_detection::{DetectionError, OverlapMode, try_box_iou_rotated, try_box_iou_rotated_aligned};
use serde_json::Value;

use super::case::Case;

/// The output of this crate for a case on a device, or none where the case is of another operator.
pub fn run(case: &Case, device: &Device) -> Result<Option<TensorData>, String> {
    let output = match case.operator.as_str() {
        "detectron2.box_iou_rotated" => {
            only(case, &[])?;
            let [boxes1, boxes2] = boxes::<2>(case, device)?;
            data(try_box_iou_rotated(
                boxes1,
                boxes2,
                AngleConvention::DEGREES_COUNTER_CLOCKWISE,
                OverlapMode::Iou,
            ))
        }
        "mmcv.box_iou_rotated" => mmcv_box_iou_rotated(case, device),
        "mmcv.diff_iou_rotated_2d" => {
            only(case, &[])?;
            let [boxes1, boxes2] = boxes::<3>(case, device)?;
            let [batch, count, _] = boxes1.dims();
            let pairs = |boxes: Tensor<3>| boxes.reshape([batch * count, 5]);
            let (convention, mode) = (AngleConvention::RADIANS_CLOCKWISE, OverlapMode::Iou);
            let iou = try_box_iou_rotated_aligned(pairs(boxes1), pairs(boxes2), convention, mode);
            data(iou.map(|iou| iou.reshape([batch, count])))
        }
        _ => return Ok(None),
    };
    output.map(Some)
}

fn mmcv_box_iou_rotated(case: &Case, device: &Device) -> Result<TensorData, String> {
    only(case, &["mode", "aligned", "clockwise"])?;
    let convention = match flag(case, "clockwise", true)? {
        true => AngleConvention::RADIANS_CLOCKWISE,
        false => AngleConvention::RADIANS_COUNTER_CLOCKWISE,
    };
    let mode = match case.attributes.get("mode").and_then(Value::as_str) {
        None | Some("iou") => OverlapMode::Iou,
        Some("iof") => OverlapMode::Iof,
        Some(mode) => return Err(format!("mode {mode:?}")),
    };
    let [boxes1, boxes2] = boxes(case, device)?;
    match flag(case, "aligned", false)? {
        true => data(try_box_iou_rotated_aligned(boxes1, boxes2, convention, mode)),
        false => data(try_box_iou_rotated(boxes1, boxes2, convention, mode)),
    }
}

fn boxes<const D: usize>(case: &Case, device: &Device) -> Result<[Tensor<D>; 2], String> {
    Ok([case.tensor("boxes1", device)?, case.tensor("boxes2", device)?])
}

fn data<const D: usize>(output: Result<Tensor<D>, DetectionError>) -> Result<TensorData, String> {
    output.map(Tensor::into_data).map_err(|error| error.to_string())
}

fn flag(case: &Case, name: &str, default: bool) -> Result<bool, String> {
    match case.attributes.get(name) {
        None => Ok(default),
        Some(value) => value.as_bool().ok_or(format!("{name}: {value}")),
    }
}

/// Checks that a case has no attribute but these.
fn only(case: &Case, known: &[&str]) -> Result<(), String> {
    match case.attributes.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("unknown attribute {name:?}")),
        None => Ok(()),
    }
}
