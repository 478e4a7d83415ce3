//! TensorFlow's `tf.image.crop_and_resize` and its gradients, as release 2.21 computes them, on `[N, C, H, W]`.
//!
//! For its `boxes` and `box_indices`, use [`Rois::new`](crate::Rois::new).

use crate::geometry::options::Interpolation;
use crate::ops::CropAndResizeConfig;

/// The arguments of `tf.image.crop_and_resize`.
pub type CropAndResize = CropAndResizeConfig;

framework! {
/// The attributes of `CropAndResizeGradImage`.
///
/// Convert it to a [`CropAndResizeConfig`] and pass that to [`primitive::backward`](crate::primitive::backward()):
/// `features()` then returns the operator's output. If there is no image, pass zeros of `image_size`: the result is the
/// same.
///
/// ```
/// use burn::backend::Dispatch;
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{CropAndResizeConfig, Rois, primitive, tensorflow};
///
/// let device = Device::default();
/// let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[0.1, 0.2, 0.6, 0.9]], &device)]);
/// let backward = primitive::backward::<Dispatch>(
///     Tensor::<4>::ones([1, 8, 14, 14], &device).into_dispatch(),
///     Tensor::<4>::zeros([1, 8, 50, 76], &device).into_dispatch(),
///     (&rois).into(),
///     CropAndResizeConfig::from(tensorflow::CropAndResizeGradImage::new([14, 14])),
/// );
/// assert_eq!(Tensor::<4>::from_dispatch(backward.features()).dims(), [1, 8, 50, 76]);
/// ```
pub struct CropAndResizeGradImage {
    /// Height and width of `grads`.
    pub crop_size: [usize; 2],
    /// What a point between pixels read.
    pub method: Interpolation = Interpolation::Bilinear,
}
CropAndResizeConfig::new(crop_size) with method
}

framework! {
/// The attributes of `CropAndResizeGradBoxes`, whose `method` is always bilinear.
///
/// Convert it to a [`CropAndResizeConfig`] and pass that to [`primitive::backward`](crate::primitive::backward()):
/// `boxes()` then returns the operator's output.
pub struct CropAndResizeGradBoxes {
    /// Height and width of `grads`.
    pub crop_size: [usize; 2],
}
CropAndResizeConfig: CropAndResizeConfig::new(crop_size)
}
