//! NMS where the boxes are, on devices of CubeCL.

use burn::backend::{Dispatch, DispatchDevice};
use burn::tensor::{DType, Device, Int, Tensor};

use super::axis_aligned::Real;
use super::cube::{Midpoint, NmsKernels};
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
    let device = boxes.device().inner();
    let count = boxes.dims()[0];
    let dtype = DType::from(device.settings().int_dtype);
    let classes_dtype = classes.map_or(dtype, Tensor::dtype);
    let runs = runs(&device, count, [boxes.dtype(), scores.dtype()], [classes_dtype, dtype]);
    let Some(midpoint) = Midpoint::new(f32::largest_not_above(iou_threshold)).filter(|_| runs) else {
        return Ok(None);
    };
    let classes = match classes {
        Some(classes) => classes.clone().inner(),
        None => Tensor::zeros([count], &device),
    };
    let kept = Dispatch::kept_boxes(
        boxes.clone().inner().into_dispatch(),
        scores.clone().inner().into_dispatch(),
        classes.into_dispatch(),
        midpoint,
        dtype,
    );
    let kept = Tensor::<1, Int>::from_dispatch(kept);
    match host::read_ints(&kept.clone().slice_dim(0, 0..1)).await?[0] as usize {
        0 => Ok(Some(host::indices(&[], &boxes.device()))),
        number if number > count => Ok(None),
        number => Ok(Some(on_device_of(boxes, kept.slice_dim(0, 1..number + 1)))),
    }
}

/// Whether there are kernels for so many boxes, for boxes and scores of two dtypes, and classes and indices of two.
fn runs(device: &Device, count: usize, floats: [DType; 2], ints: [DType; 2]) -> bool {
    let in_f32 = |dtype| matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
    let is_wide = |dtype| matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let has_kernels = match device.as_dispatch() {
        // Its units wait for each other by spinning.
        DispatchDevice::Cube(cubecl::Device::Cpu(_)) => false,
        DispatchDevice::Cube(_) => true,
        _ => false,
    };
    has_kernels && (1..=MOST_BOXES).contains(&count) && floats.into_iter().all(in_f32) && ints.into_iter().all(is_wide)
}

/// Integers on the device of the boxes, which is an autodiff device if theirs is.
fn on_device_of(boxes: &Tensor<2>, indices: Tensor<1, Int>) -> Tensor<1, Int> {
    let mut indices = indices.into_dispatch();
    indices.autodiff = boxes.clone().into_dispatch().autodiff;
    Tensor::from_dispatch(indices)
}
