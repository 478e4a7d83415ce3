//! NMS and the best rows where the boxes and scores are, on devices of CubeCL.

use std::ops::Range;

use burn::backend::{Dispatch, DispatchDevice};
use burn::tensor::{DType, Device, Int, Tensor};

use super::axis_aligned::Real;
use super::choice::{Candidates, Choice};
use super::cube::{GROUP, LEAST_THRESHOLD_3D, Least, Midpoint, NmsKernels};
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

impl Choice {
    /// For each image the indices of its chosen candidates, by decreasing score; more of them than the limit of the
    /// choice. None where the host must find them. The device is read once.
    pub(super) async fn on_device(&self, images: &[Candidates]) -> Result<Vec<Option<Vec<usize>>>, DetectionError> {
        let kept: Vec<_> = images.iter().map(|of_image| self.started(of_image)).collect();
        let started: Vec<_> = kept.iter().flatten().cloned().collect();
        if started.is_empty() {
            return Ok(vec![None; images.len()]);
        }
        let read = host::read_ints(&host::concatenate(&started)).await?;
        let mut read = read.into_iter().map(|integer| integer as usize);
        let chosen = kept.iter().map(|kept| {
            // The number of kept boxes precedes the indices. If it is above the count, the host must find them.
            let count = kept.as_ref()?.dims()[0] - 1;
            let of_image: Vec<usize> = read.by_ref().take(1 + count).collect();
            (of_image[0] <= count).then(|| of_image[1..=of_image[0]].to_vec())
        });
        Ok(chosen.collect())
    }

    /// What the device finds of an image, before it is read.
    fn started(&self, Candidates { boxes, scores, classes }: &Candidates) -> Option<Tensor<1, Int>> {
        let device = boxes.device().inner();
        if !has_kernels(&device) {
            return None;
        }
        let least = Least {
            side: host::rounded(self.min_size, boxes.dtype()) as f32,
            score: host::rounded(self.lowest_score, scores.dtype()) as f32,
        };
        let classes = host::indices(classes, &device);
        start(boxes, scores, classes, self.iou_threshold, least)
    }
}

/// More rows of a group are left to the host: a device ranks the best ones by comparing each with all others.
const MOST_BEST: usize = 1 << 15;

/// Larger groups are left to the host: Mesa's llvmpipe ends all loops of a unit after 65,535 rounds together, and each
/// of 256 units reads its share of a group 18 times.
const LARGEST_GROUP: usize = 1 << 19;

/// WebGPU has no more cubes along an axis.
const MOST_GROUPS: usize = u16::MAX as usize;

/// The rows of the `count` largest values of each group, group after group, by decreasing value. Of equal values the
/// lower row comes first; NaN comes last. None where the host must find them.
pub fn best_on_device(values: &Tensor<1>, groups: &[Range<usize>], count: usize) -> Option<Tensor<1, Int>> {
    let device = values.device().inner();
    let most = groups.iter().map(|group| group.len().min(count)).max()?;
    let largest = groups.iter().map(Range::len).max()?;
    let fits = (1..=MOST_BEST).contains(&most)
        && largest <= LARGEST_GROUP
        && groups.len() <= MOST_GROUPS
        && values.dims()[0] <= i32::MAX as usize;
    let dtype = DType::from(device.settings().int_dtype);
    if !fits || !has_kernels(&device) || !in_f32(values.dtype()) || !is_wide(dtype) {
        return None;
    }
    let mut total = 0;
    let mut table = Vec::with_capacity(GROUP * groups.len());
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let taken = group.len().min(count);
        table.extend([group.start, group.len(), taken, total]);
        total += taken;
    }
    let table = host::indices(&table, &device).into_dispatch();
    let rows = Dispatch::best_rows(values.clone().inner().into_dispatch(), table, most, total);
    Some(Tensor::from_dispatch(rows))
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
    let fits = has_kernels(&device)
        && (1..=MOST_BOXES).contains(&count)
        && [boxes.dtype(), scores.dtype()].into_iter().all(in_f32)
        && [classes.dtype(), dtype].into_iter().all(is_wide);
    if !fits {
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

/// Whether kernels compute in f32 with values of this dtype.
fn in_f32(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
}

/// Whether integers of this dtype can be indices.
fn is_wide(dtype: DType) -> bool {
    matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64)
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
