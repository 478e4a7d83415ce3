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

pub use self::{
    crop_and_resize::*, deform_ps_roi_pool::*, deform_roi_pool::*, infer_scales::*, multi_scale_roi_align::*,
    prroi_pool::*, ps_crop_and_resize::*, ps_roi_align::*, ps_roi_pool::*, pyramid::*, riroi_align_rotated::*,
    roi_align::*, roi_align_rotated::*, roi_pool::*, volume::*,
};
pub use module::Pool;
pub use operator_config::OperatorConfig;
