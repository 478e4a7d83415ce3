//! What a two-stage detector needs around the region operators, as torchvision computes it: boxes and their
//! suppression, anchors and proposals, the heads of Faster R-CNN and Mask R-CNN, and what their numbers mean.
//!
//! Boxes are `[x1, y1, x2, y2]` in pixels, `[K, 4]`; sizes are height and width. Names are torchvision's.
//! Everything works on any of Burn's backends; where values decide how many rows a result has, a function reads
//! them back to the host, and says so. Nothing to work on, no proposals or no detections, gives empty tensors.
//! What is computed for inference has no losses and no sampling.
//!
//! From feature maps to detections, the parts are used in this order:
//!
//! 1. [`AnchorGenerator`] and [`BoxCoder`] turn the codes of a region proposal network, which [`ConvBlock`] and
//!    Burn's layers make, into boxes; [`filter_proposals`] chooses from them.
//! 2. [`multi_scale_roi_align`](crate::multi_scale_roi_align()) pools the proposals; [`TwoMlpHead`] or [`FastRcnnConvFcHead`] and
//!    [`FastRcnnPredictor`] classify them; [`postprocess_detections`] gives [`Detections`].
//! 3. [`multi_scale_roi_align`](crate::multi_scale_roi_align()) pools the detections; [`MaskRcnnHeads`] and [`MaskRcnnPredictor`] draw
//!    masks; [`maskrcnn_inference`] chooses each detection's own, and [`paste_masks_in_image`] puts it into the
//!    image.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_roi::detection::{
//!     DetectionConfig, FastRcnnPredictorConfig, TwoMlpHeadConfig, postprocess_detections,
//! };
//! use burn_roi::{RoiAlignConfig, Rois, roi_align};
//!
//! let device = Device::default();
//! let head = TwoMlpHeadConfig::new(8 * 7 * 7, 32).init(&device);
//! let predictor = FastRcnnPredictorConfig::new(32, 5).init(&device);
//!
//! // A feature map of a quarter of the image's size, and what a region proposal network proposed.
//! let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
//! let proposals = vec![Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 100.0]], &device)];
//!
//! let rois = Rois::from_images(proposals.clone());
//! let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
//! let pooled = roi_align(features, &rois, config);
//! let (class_logits, box_regression) = predictor.forward(head.forward(pooled));
//! let image_sizes = [[200, 304]];
//! let config = DetectionConfig::new();
//! let images = postprocess_detections(class_logits, box_regression, proposals, &image_sizes, &config);
//! assert_eq!(images.len(), 1);
//! ```

mod anchors;
mod arguments;
mod box_coder;
mod boxes;
mod class_masks;
mod heads;
mod host;
mod mask_window;
mod masks;
mod nms;
mod post_processing;
mod proposals;

pub use anchors::{AnchorGenerator, AnchorGeneratorConfig};
pub use box_coder::BoxCoder;
pub use boxes::{
    box_area, box_iou, clip_boxes_to_image, remove_small_boxes, try_box_area, try_box_iou, try_clip_boxes_to_image,
    try_remove_small_boxes,
};
pub use class_masks::{maskrcnn_inference, try_maskrcnn_inference};
pub use heads::{
    ConvBlock, ConvBlockConfig, FastRcnnConvFcHead, FastRcnnConvFcHeadConfig, FastRcnnPredictor,
    FastRcnnPredictorConfig, MaskRcnnHeads, MaskRcnnHeadsConfig, MaskRcnnPredictor, MaskRcnnPredictorConfig,
    TwoMlpHead, TwoMlpHeadConfig,
};
pub use masks::{paste_masks_in_image, try_paste_masks_in_image};
pub use nms::{batched_nms, nms, try_batched_nms, try_nms};
pub use post_processing::{DetectionConfig, Detections, postprocess_detections, try_postprocess_detections};
pub use proposals::{ProposalConfig, filter_proposals, try_filter_proposals};
