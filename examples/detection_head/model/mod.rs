//! Mask R-CNN. The fields have the names of torchvision's weights.

mod backbone;
mod feature_pyramid;
mod mask_rcnn;
mod region_proposals;
mod roi_heads;

pub use mask_rcnn::MaskRcnn;
pub use region_proposals::RegionPredictions;
pub use roi_heads::RoiHeads;
