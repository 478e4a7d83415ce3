//! The heads of Faster R-CNN and Mask R-CNN as Burn modules. Their weights are those of torchvision's modules.

mod box_heads;
mod conv_block;
mod mask_heads;

pub use box_heads::{
    FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, FastRcnnPredictorConfig, TwoMlpHead,
    TwoMlpHeadConfig,
};
pub use conv_block::{ConvBlock, ConvBlockConfig};
pub use mask_heads::{MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor, MaskRcnnPredictorConfig};
