//! What every operator does with its tensors before a backend sees them.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{DType, Scalar, Shape};

use crate::backend::{RoiBackend, host, output_shape};
use crate::error::RoiError;

/// The tensors of a call.
pub struct Call<B: RoiBackend> {
    pub features: FloatTensor<B>,
    pub boxes: FloatTensor<B>,
    pub batch_indices: IntTensor<B>,
}

impl<B: RoiBackend> Call<B> {
    /// Checks shapes, dtypes and devices.
    pub fn check(
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

    /// Checks that another level of a pyramid goes with its first.
    pub fn check_level_after(&self, first: Option<&Self>) -> Result<(), RoiError> {
        let Some(first) = first else {
            return Ok(());
        };
        let (shape, of_first) = (self.features.shape(), first.features.shape());
        if shape[0..2] != of_first[0..2] {
            return Err(RoiError::Shape {
                argument: "features",
                shape: shape.to_vec(),
                expected: "[N, C, H, W], with the N and C of the first level",
            });
        }
        self.check_not_empty()
    }

    /// A map without pixels can't be pooled.
    fn check_not_empty(&self) -> Result<(), RoiError> {
        let shape = self.features.shape().dims();
        let [_, _, height, width] = shape;
        if self.boxes.shape()[0] > 0 && (height == 0 || width == 0) {
            return Err(RoiError::EmptyMap { shape });
        }
        Ok(())
    }

    /// Answers a call that reads no pixel, checks the values of regions on a host, and leaves the rest
    /// to the backend. `outside` is the value of a region that names no image.
    pub fn run(
        self,
        output_size: [usize; 2],
        outside: f64,
        kernel: impl FnOnce(Self) -> FloatTensor<B>,
    ) -> Result<FloatTensor<B>, RoiError> {
        let [batch, channels, _, _] = self.features.shape().dims();
        let regions = self.boxes.shape()[0];
        let device = self.features.device();
        self.check_not_empty()?;
        if regions > 0 && B::is_host(&device) {
            host::validate::<B>(self.boxes.clone(), self.batch_indices.clone(), batch)?;
        }
        if regions == 0 || channels == 0 || batch == 0 {
            let shape = output_shape(&self.features.shape(), &self.boxes.shape(), output_size);
            let dtype = self.features.dtype().into();
            return Ok(B::float_full(shape, Scalar::from(outside), &device, dtype));
        }
        Ok(kernel(self))
    }
}

fn rank(argument: &'static str, shape: Shape, rank: usize, expected: &'static str) -> Result<(), RoiError> {
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
