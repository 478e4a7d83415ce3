//! The operators by backend type parameter, over a backend's own tensors, without dynamic dispatch.
//!
//! The arguments are those of [`Rois`](crate::Rois), one by one: `features` `[N, C, H, W]`, `boxes`
//! `[K, 4]` of the same dtype, `batch_indices` `[K]` of any integer dtype, all on one device. What they
//! compute, and the errors, are those of the functions of the same names on `Tensor`.
//!
//! For [`crop_and_resize`] a box is TensorFlow's `[y1, x1, y2, x2]`, for the others `[x1, y1, x2, y2]`.
//!
//! `Dispatch` is a backend too, so one generic function serves both. All CubeCL runtimes are one type:
//! `Wgpu` and `Cuda` are names of it, and a tensor's device says which is meant.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Scalar, Shape};

use crate::backend::{RoiBackend, host, output_shape};
use crate::error::{RoiError, or_panic};
use crate::ops::{CropAndResizeConfig, RoiAlignConfig, RoiPoolConfig};

/// [`roi_align`](crate::roi_align()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_roi_align`] gives an error.
pub fn roi_align<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiAlignConfig>,
) -> FloatTensor<B> {
    or_panic(try_roi_align::<B>(features, boxes, batch_indices, config))
}

/// [`try_roi_align`](crate::try_roi_align) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_roi_align`](crate::try_roi_align), and those of [`Rois`](crate::Rois).
pub fn try_roi_align<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiAlignConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let sampling = config.into().sampling()?;
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    call.run(sampling.output_size, sampling.out_of_bounds_value, |call| {
        B::sample_regions(call.features, call.boxes, call.batch_indices, sampling)
    })
}

/// [`roi_pool`](crate::roi_pool()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_roi_pool`] gives an error.
pub fn roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiPoolConfig>,
) -> FloatTensor<B> {
    or_panic(try_roi_pool::<B>(features, boxes, batch_indices, config))
}

/// [`try_roi_pool`](crate::try_roi_pool) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_roi_pool`](crate::try_roi_pool), and those of [`Rois`](crate::Rois).
pub fn try_roi_pool<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<RoiPoolConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let bins = config.into().bins()?;
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    call.run(bins.output_size, 0.0, |call| {
        B::pool_regions(call.features, call.boxes, call.batch_indices, bins)
    })
}

/// [`crop_and_resize`](crate::crop_and_resize()) on a backend's own tensors.
///
/// # Panics
///
/// Where [`try_crop_and_resize`] gives an error.
pub fn crop_and_resize<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<CropAndResizeConfig>,
) -> FloatTensor<B> {
    or_panic(try_crop_and_resize::<B>(
        features,
        boxes,
        batch_indices,
        config,
    ))
}

/// [`try_crop_and_resize`](crate::try_crop_and_resize) on a backend's own tensors.
///
/// # Errors
///
/// Those of [`try_crop_and_resize`](crate::try_crop_and_resize), and those of [`Rois`](crate::Rois).
pub fn try_crop_and_resize<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    config: impl Into<CropAndResizeConfig>,
) -> Result<FloatTensor<B>, RoiError> {
    let config = config.into();
    let call = Call::<B>::check(features, boxes, batch_indices)?;
    let [_, _, height, width] = call.features.shape().dims();
    let sampling = config.sampling([height, width])?;
    call.run(sampling.output_size, sampling.out_of_bounds_value, |call| {
        B::sample_regions(call.features, call.boxes, call.batch_indices, sampling)
    })
}

/// The tensors of a call.
struct Call<B: RoiBackend> {
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
}

impl<B: RoiBackend> Call<B> {
    /// Checks shapes, dtypes and devices.
    fn check(
        features: FloatTensor<B>,
        boxes: FloatTensor<B>,
        batch_indices: IntTensor<B>,
    ) -> Result<Self, RoiError> {
        rank("features", features.shape(), 4, "[N, C, H, W]")?;
        rank("boxes", boxes.shape(), 2, "[K, 4]")?;
        rank("batch_indices", batch_indices.shape(), 1, "[K]")?;
        let (shape, count) = (boxes.shape(), batch_indices.shape()[0]);
        if shape[1] != 4 {
            return Err(RoiError::Shape {
                argument: "boxes",
                shape: shape.to_vec(),
                expected: "[K, 4]",
            });
        }
        if shape[0] != count {
            return Err(RoiError::Count {
                boxes: shape[0],
                batch_indices: count,
            });
        }
        same_device::<B>("boxes", &boxes.device(), &features.device())?;
        same_device::<B>("batch_indices", &batch_indices.device(), &features.device())?;
        dtype::<B>(&features)?;
        if boxes.dtype() != features.dtype() {
            return Err(RoiError::DType {
                argument: "boxes",
                dtype: boxes.dtype(),
                expected: format!("{:?}, as `features` is", features.dtype()),
            });
        }
        Ok(Self {
            features,
            boxes,
            batch_indices,
        })
    }

    /// Answers a call that reads no pixel, checks the values of regions on a host, and leaves the rest
    /// to the backend. `outside` is the value of a region that names no image.
    fn run(
        self,
        output_size: [usize; 2],
        outside: f64,
        kernel: impl FnOnce(Self) -> FloatTensor<B>,
    ) -> Result<FloatTensor<B>, RoiError> {
        let [batch, channels, height, width] = self.features.shape().dims();
        let regions = self.boxes.shape()[0];
        let device = self.features.device();
        if regions > 0 {
            if height == 0 || width == 0 {
                return Err(RoiError::EmptyMap {
                    shape: [batch, channels, height, width],
                });
            }
            if B::is_host(&device) {
                host::validate::<B>(self.boxes.clone(), self.batch_indices.clone(), batch)?;
            }
        }
        if regions == 0 || channels == 0 || batch == 0 {
            let shape = output_shape(&self.features.shape(), &self.boxes.shape(), output_size);
            let dtype = self.features.dtype().into();
            return Ok(B::float_full(shape, Scalar::from(outside), &device, dtype));
        }
        Ok(kernel(self))
    }
}

fn rank(
    argument: &'static str,
    shape: Shape,
    rank: usize,
    expected: &'static str,
) -> Result<(), RoiError> {
    if shape.num_dims() == rank {
        return Ok(());
    }
    Err(RoiError::Shape {
        argument,
        shape: shape.to_vec(),
        expected,
    })
}

fn same_device<B: RoiBackend>(
    argument: &'static str,
    device: &B::Device,
    expected: &B::Device,
) -> Result<(), RoiError> {
    if device == expected {
        return Ok(());
    }
    Err(RoiError::Device {
        argument,
        device: format!("{device:?}"),
        like: "features",
        expected: format!("{expected:?}"),
    })
}

fn dtype<B: RoiBackend>(features: &FloatTensor<B>) -> Result<(), RoiError> {
    let host = B::is_host(&features.device());
    let expected = match (features.dtype(), host) {
        (DType::F32 | DType::F16 | DType::BF16, _) | (DType::F64, true) => return Ok(()),
        (_, true) => "F64, F32, F16 or BF16",
        (_, false) => "F32, F16 or BF16 on this device",
    };
    Err(RoiError::DType {
        argument: "features",
        dtype: features.dtype(),
        expected: expected.to_string(),
    })
}
