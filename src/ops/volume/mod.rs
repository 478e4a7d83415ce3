//! Region operators on volumes, `[N, C, D, H, W]`.
//!
//! Each is an operator of two axes, applied twice. First it pools each slice. Then it pools its own output along the
//! depth: a map with one row for each slice. A mean over y and x, and then over z, is the mean over all three axes; so
//! is a maximum of voxels. So a volume has the rules and gradients of maps. Flex does both at once, slice by slice.

mod crop_and_resize_3d;
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
