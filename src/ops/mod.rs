//! The operators. Each is a function, a `try_` function and a module on Burn's `Tensor`, and is there by backend type
//! parameter too, in [`primitive`](crate::primitive).
//!
//! An operator is a file of its own here: its options become a
//! [`RegionOperator`](crate::geometry::operator::RegionOperator), and `call` does the rest.

pub(crate) mod arguments;
mod backward;
mod call;
mod crop_and_resize;
mod deform_ps_roi_pool;
mod deform_roi_pool;
mod infer_scales;
mod module;
mod multi_scale_roi_align;
pub(crate) mod operator_config;
pub(crate) mod options;
mod prelude;
pub mod primitive;
mod prroi_pool;
mod ps_crop_and_resize;
mod ps_roi_align;
mod ps_roi_pool;
mod pyramid;
mod riroi_align_rotated;
mod roi_align;
mod roi_align_rotated;
mod roi_pool;
mod turn;
pub(crate) mod volume;

pub use crop_and_resize::{CropAndResize, CropAndResizeConfig, crop_and_resize, try_crop_and_resize};
pub use deform_ps_roi_pool::{DeformPsRoiPool, DeformPsRoiPoolConfig, deform_ps_roi_pool, try_deform_ps_roi_pool};
pub use deform_roi_pool::{DeformRoiPool, DeformRoiPoolConfig, deform_roi_pool, try_deform_roi_pool};
pub use infer_scales::{infer_scales, try_infer_scales};
pub use module::Pool;
pub use multi_scale_roi_align::{
    MultiScaleRoiAlign, MultiScaleRoiAlignConfig, multi_scale_roi_align, try_multi_scale_roi_align,
};
pub use operator_config::OperatorConfig;
pub use prroi_pool::{PrRoiPool, PrRoiPoolConfig, prroi_pool, try_prroi_pool};
pub use ps_crop_and_resize::{PsCropAndResize, PsCropAndResizeConfig, ps_crop_and_resize, try_ps_crop_and_resize};
pub use ps_roi_align::{PsRoiAlign, PsRoiAlignConfig, ps_roi_align, try_ps_roi_align};
pub use ps_roi_pool::{PsRoiPool, PsRoiPoolConfig, ps_roi_pool, try_ps_roi_pool};
pub use pyramid::{PyramidConfig, multi_scale_pool, try_multi_scale_pool};
pub use riroi_align_rotated::{
    RiRoiAlignRotated, RiRoiAlignRotatedConfig, riroi_align_rotated, try_riroi_align_rotated,
};
pub use roi_align::{RoiAlign, RoiAlignConfig, roi_align, try_roi_align};
pub use roi_align_rotated::{RoiAlignRotated, RoiAlignRotatedConfig, roi_align_rotated, try_roi_align_rotated};
pub use roi_pool::{RoiPool, RoiPoolConfig, roi_pool, try_roi_pool};
pub use volume::{
    CropAndResize3d, CropAndResize3dConfig, Pool3d, RoiAlign3d, RoiAlign3dConfig, RoiPool3d, RoiPool3dConfig,
    crop_and_resize_3d, roi_align_3d, roi_pool_3d, try_crop_and_resize_3d, try_roi_align_3d, try_roi_pool_3d,
    try_tube_align, tube_align,
};
