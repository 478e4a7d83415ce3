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

pub use self::{crop_and_resize_3d::*, roi_align_3d::*, roi_pool_3d::*, tube_align::*};
pub use module::Pool3d;
