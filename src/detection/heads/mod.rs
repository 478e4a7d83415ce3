//! The networks behind the pooled regions, as Burn modules, with the weights of torchvision's.

mod box_heads;
mod conv_block;
mod mask_heads;

pub use box_heads::{
    FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor, FastRcnnPredictorConfig, TwoMlpHead,
    TwoMlpHeadConfig,
};
pub use conv_block::{ConvBlock, ConvBlockConfig};
pub use mask_heads::{MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor, MaskRcnnPredictorConfig};
