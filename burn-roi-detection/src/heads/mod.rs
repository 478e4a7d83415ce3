//! The heads of Faster R-CNN, Mask R-CNN and Keypoint R-CNN as Burn modules. Their weights have the shapes of
//! torchvision's modules.

mod box_heads;
pub(crate) mod conv_block;
mod keypoint_heads;
mod mask_heads;
pub(crate) mod norm;

pub use box_heads::{FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, FastRcnnPredictorConfig};
pub use conv_block::{ConvBlock, ConvBlockConfig};
pub use keypoint_heads::{
    KeypointRcnnHeads, KeypointRcnnHeadsConfig, KeypointRcnnPredictor, KeypointRcnnPredictorConfig,
};
pub use mask_heads::{MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor, MaskRcnnPredictorConfig};
pub use norm::{Norm, NormKind};
