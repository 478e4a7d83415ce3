//! Mask R-CNN, with its parts under the names that torchvision's weights have.

mod backbone;
mod feature_pyramid;
mod mask_rcnn;
mod region_proposals;
mod roi_heads;

pub use mask_rcnn::MaskRcnn;
pub use region_proposals::RegionPredictions;
