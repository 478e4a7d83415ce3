//! The losses of the heads.

mod box_loss;
mod elementary;
mod keypoint_loss;
mod mask_loss;
mod region_loss;

#[cfg(feature = "train")]
pub(crate) use box_loss::box_head_losses;
pub use box_loss::{fastrcnn_loss, fastrcnn_loss_async, try_fastrcnn_loss};
#[cfg(feature = "train")]
pub(crate) use elementary::TORCHVISION_BETA;
pub use keypoint_loss::{keypointrcnn_loss, keypointrcnn_loss_async, try_keypointrcnn_loss};
pub use mask_loss::{maskrcnn_loss, maskrcnn_loss_async, try_maskrcnn_loss};
#[cfg(feature = "train")]
pub(crate) use region_loss::region_losses;
pub use region_loss::{rpn_loss, rpn_loss_async, try_rpn_loss};
