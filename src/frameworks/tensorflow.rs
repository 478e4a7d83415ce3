//! TensorFlow's `tf.image.crop_and_resize`, as release 2.21 computes it, on `[N, C, H, W]`.
//!
//! Its `boxes` and `box_indices` are [`Rois::new`](crate::Rois::new).

/// The arguments of `tf.image.crop_and_resize`.
pub type CropAndResize = crate::ops::CropAndResizeConfig;
