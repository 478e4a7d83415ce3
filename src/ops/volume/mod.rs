//! Region operators on volumes, `[N, C, D, H, W]`.
//!
//! Each is an operator of two axes, applied twice: first to all slices along the depth, then along the depth, where the
//! output of the slices is a map with a row for each slice. An average of averages over two axes and one is the average
//! over three, and so is a maximum of maxima of voxels. So a volume has the rules, kernels and gradients of maps.

mod crop_and_resize_3d;
mod maximum;
mod module;
pub(crate) mod operators;
mod pool;
mod roi_align_3d;
mod roi_pool_3d;
mod tube_align;

pub use crop_and_resize_3d::{CropAndResize3d, CropAndResize3dConfig, crop_and_resize_3d, try_crop_and_resize_3d};
pub use module::Pool3d;
pub use roi_align_3d::{RoiAlign3d, RoiAlign3dConfig, roi_align_3d, try_roi_align_3d};
pub use roi_pool_3d::{RoiPool3d, RoiPool3dConfig, roi_pool_3d, try_roi_pool_3d};
pub use tube_align::{try_tube_align, tube_align};
