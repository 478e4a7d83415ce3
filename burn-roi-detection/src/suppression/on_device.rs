//! NMS where the boxes are, on devices of CubeCL.

use burn::backend::{Dispatch, DispatchDevice};
use burn::tensor::{DType, Device, Int, Tensor};

use super::axis_aligned::Real;
use super::choice::{Candidates, Choice};
use super::cube::{LEAST_THRESHOLD_3D, Least, Midpoint, NmsKernels};
use crate::error::DetectionError;
use crate::host;

/// More boxes are left to the host: a device ranks boxes by comparing each score with all others.
pub const MOST_BOXES: usize = 1 << 16;

/// The indices of the boxes that NMS keeps, as [`nms`](crate::nms) and [`batched_nms`](crate::batched_nms) return them.
/// None where the host must find them.
pub async fn kept_on_device(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Option<&Tensor<1, Int>>,
    iou_threshold: f64,
) -> Result<Option<Tensor<1, Int>>, DetectionError> {
    let classes = match classes {
        Some(classes) => classes.clone().inner(),
        None => Tensor::zeros([scores.dims()[0]], &boxes.device().inner()),
    };
    let Some(kept) = start(boxes, scores, classes, iou_threshold, Least::NOTHING) else {
        return Ok(None);
    };
    let count = boxes.dims()[0];
    match host::read_ints(&kept.clone().slice_dim(0, 0..1)).await?[0] as usize {
        0 => Ok(Some(host::indices(&[], &boxes.device()))),
        number if number > count => Ok(None),
        number => Ok(Some(on_device_of(boxes, kept.slice_dim(0, 1..number + 1)))),
    }
}

/// For each image the indices of its chosen candidates, by decreasing score; more of them than the limit of the choice.
/// None where the host must find them. The device is read once.
pub async fn chosen_on_device(
    images: &[Candidates],
    choice: &Choice,
) -> Result<Vec<Option<Vec<usize>>>, DetectionError> {
    let kept = images.iter().map(|Candidates { boxes, scores, classes }| {
        let device = boxes.device().inner();
        if !has_kernels(&device) {
            return None;
        }
        let least = Least {
            side: host::rounded(choice.min_size, boxes.dtype()) as f32,
            score: host::rounded(choice.lowest_score, scores.dtype()) as f32,
        };
        start(
            boxes,
            scores,
            host::indices(classes, &device),
            choice.iou_threshold,
            least,
        )
    });
    let kept: Vec<_> = kept.collect();
    let started: Vec<_> = kept.iter().flatten().cloned().collect();
    if started.is_empty() {
        return Ok(vec![None; images.len()]);
    }
    let read = host::read_ints(&host::concatenate(&started)).await?;
    let mut read = read.into_iter().map(|integer| integer as usize);
    let chosen = kept.iter().map(|kept| {
        let count = kept.as_ref()?.dims()[0] - 1;
        let of_image: Vec<usize> = read.by_ref().take(1 + count).collect();
        (of_image[0] <= count).then(|| of_image[1..=of_image[0]].to_vec())
    });
    Ok(chosen.collect())
}

/// Starts NMS. Returns what [`NmsKernels::kept_boxes`] does, or None where there are no kernels for it.
fn start(
    boxes: &Tensor<2>,
    scores: &Tensor<1>,
    classes: Tensor<1, Int>,
    iou_threshold: f64,
    least: Least,
) -> Option<Tensor<1, Int>> {
    let device = boxes.device().inner();
    let dtype = DType::from(device.settings().int_dtype);
    let count = boxes.dims()[0];
    if !runs(
        &device,
        count,
        [boxes.dtype(), scores.dtype()],
        [classes.dtype(), dtype],
    ) {
        return None;
    }
    let threshold = f32::largest_not_above(iou_threshold);
    if boxes.dims()[1] == 6 && threshold < LEAST_THRESHOLD_3D {
        return None;
    }
    let midpoint = Midpoint::new(threshold)?;
    let kept = Dispatch::kept_boxes(
        boxes.clone().inner().into_dispatch(),
        scores.clone().inner().into_dispatch(),
        classes.into_dispatch(),
        midpoint,
        least,
        dtype,
    );
    Some(Tensor::from_dispatch(kept))
}

/// Whether there are kernels for so many boxes, for boxes and scores of two dtypes, and classes and indices of two.
fn runs(device: &Device, count: usize, floats: [DType; 2], ints: [DType; 2]) -> bool {
    let in_f32 = |dtype| matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
    let is_wide = |dtype| matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    has_kernels(device)
        && (1..=MOST_BOXES).contains(&count)
        && floats.into_iter().all(in_f32)
        && ints.into_iter().all(is_wide)
}

fn has_kernels(device: &Device) -> bool {
    // The units of CubeCL's CPU runtime wait for each other by spinning.
    matches!(device.as_dispatch(), DispatchDevice::Cube(runtime) if !matches!(runtime, cubecl::Device::Cpu(_)))
}

/// Integers on the device of the boxes, which is an autodiff device if theirs is.
fn on_device_of(boxes: &Tensor<2>, indices: Tensor<1, Int>) -> Tensor<1, Int> {
    let mut indices = indices.into_dispatch();
    indices.autodiff = boxes.clone().into_dispatch().autodiff;
    Tensor::from_dispatch(indices)
}
