//! Two-stage detectors around the region operators, with torchvision's names and results, and their parts: boxes, NMS,
//! box deltas, anchors, proposals, the heads of Faster R-CNN, Mask R-CNN and Keypoint R-CNN, detections, masks, and the
//! heads' training.
//!
//! The feature `models`, which is on by default, adds whole detectors. The module `models` has torchvision's seven
//! models by name. The module `weights` reads the weight files of torchvision and detectron2, and detectron2's configs.
//! The feature adds burn-store and its dependencies to a build.
//!
//! The feature `pictures` adds the module `pictures`, which decodes picture files and draws detections. It adds the
//! crate `image` to a build.
//!
//! The feature `train` adds the training of whole detectors, in the module `train`. [`data`] reads COCO's annotations,
//! and [`evaluate`] computes COCO's metrics.
//!
//! # Conventions
//!
//! - A *picture* is an image as you pass it, of any size. An *image* is a picture that was resized for the model. A
//!   *truth* is an annotated object, also called ground truth. The *backbone* computes the feature maps; in the code it
//!   is named `body`, without its feature pyramid.
//! - Boxes are `[x1, y1, x2, y2]` in pixels, in tensors `[K, 4]`. Sizes are `[height, width]` in pixels.
//! - Functions with torchvision's names have the semantics of torchvision 0.29.
//! - Boxes of three axes are `[x1, y1, x2, y2, z1, z2]`, in tensors `[K, 6]`. In a volume `[N, C, D, H, W]`, x is along
//!   W, y along H and z along D. [`box_iou_3d`], [`nms_3d`] and [`AnchorGenerator3d`] follow nnDetection.
//! - Rotated boxes are `[cx, cy, w, h, angle]`, in tensors `[K, 5]`. [`box_iou_rotated`] and [`nms_rotated`] have the
//!   semantics of detectron2 and mmcv. An [`AngleConvention`](burn_roi::AngleConvention) selects the unit and direction
//!   of angles.
//! - A tensor's device decides the backend, as for the region operators. If values decide how many rows a result has,
//!   the function copies them to the host, and its documentation says so.
//! - An empty input, such as no proposals, returns empty tensors. On an autodiff device, the losses of no regions are
//!   0, and the gradients of the heads and the features are 0 too.
//! - A function that copies from the device to the host also has an async form, such as [`nms_async`] beside [`nms`]
//!   and [`try_nms`]. Use it on WebGPU in a browser, which cannot block: there the `try_` form returns
//!   [`DetectionError::Roi`] with [`RoiError::SynchronousRead`](burn_roi::RoiError::SynchronousRead), which names the
//!   async form. If the device fails, both return `DetectionError::Roi` with
//!   [`RoiError::DeviceRead`](burn_roi::RoiError::DeviceRead).
//! - A `try_` function returns a [`DetectionError`]. Its variant `Roi` holds an error that region operators return too:
//!   a [`RoiError`](burn_roi::RoiError) of a shape, a dtype, a device or an option.
//! - A config that creates a module has `with_` functions, like Burn's configs. Change other configs by their fields:
//!   `DetectionConfig { score_threshold: 0.3, ..DetectionConfig::new() }`.
//! - A native program on an asynchronous executor sets Burn's `RuntimeKind::Async`. Without it CubeCL devices copy data
//!   when it is used, which blocks a thread of the executor.
//!
//! # From feature maps to detections
//!
//! 1. A region proposal network, built from [`ConvBlock`] and Burn's layers, computes objectness and box deltas for the
//!    anchors of an [`AnchorGenerator`]. [`BoxCoder`] applies the box deltas to the anchors, and [`filter_proposals`]
//!    keeps the best boxes.
//! 2. [`multi_scale_roi_align`](burn_roi::multi_scale_roi_align()) pools the proposals.
//!    [`FastRcnnConvFcHead`], then [`FastRcnnPredictor`], classify them and refine their boxes.
//!    [`postprocess_detections`] turns that into [`Detections`].
//! 3. [`multi_scale_roi_align`](burn_roi::multi_scale_roi_align()) pools the detections. [`MaskRcnnHeads`] and
//!    [`MaskRcnnPredictor`] compute a mask for each class. [`maskrcnn_inference`] selects the mask of the detection's
//!    class, and [`paste_masks_in_image`] pastes it into the image. [`paste_binary_masks_in_image`] and
//!    [`paste_masks_as_run_lengths`] do that for the pixels above a threshold, in less memory.
//!
//! For Keypoint R-CNN, [`KeypointRcnnHeads`] and [`KeypointRcnnPredictor`] compute a heatmap for each keypoint of a
//! detection, and [`heatmaps_to_keypoints`] finds the keypoints in them.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_roi_detection::{
//!     DetectionConfig, FastRcnnConvFcHeadConfig, FastRcnnPredictorConfig, postprocess_detections,
//! };
//! use burn_roi::{RoiAlignConfig, Rois, roi_align};
//!
//! let device = Device::default();
//! let head = FastRcnnConvFcHeadConfig::new(8, [7, 7], vec![], vec![32, 32]).init(&device);
//! let predictor = FastRcnnPredictorConfig::new(32, 5).init(&device);
//!
//! // A feature map of a quarter of the image's size, and a proposal in pixels of the image.
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
//!
//! # Training the heads
//!
//! 1. [`assign_targets_to_anchors`] compares the anchors with the ground truth by a [`Matcher`], [`BoxCoder::encode`]
//!    computes their box deltas, and [`rpn_loss`] computes the losses of the region proposal network.
//! 2. [`select_training_samples`] compares the proposals with the ground truth and draws samples from them by a
//!    [`BalancedPositiveNegativeSampler`]. [`fastrcnn_loss`] computes the losses of the box head.
//! 3. [`maskrcnn_loss`] computes the loss of the mask head for the samples that are not background,
//!    [`TrainingSamples::positive`]. [`project_masks_on_boxes`] crops their masks from the ground truth.
//!    [`MaskTargets`] selects torchvision's, detectron2's or mmdetection's way to crop.
//! 4. [`keypointrcnn_loss`] computes the loss of a keypoint head for the same samples. [`keypoints_to_heatmap`] finds
//!    the pixels of their keypoints.
//!
//! On an autodiff device the losses have gradients for the outputs of the heads. Targets have no gradients, and may be
//! on the device with or without autodiff. The caller passes the random choice: [`random_permutations`] of a seed, or
//! the recorded choice of another run.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_roi_detection::{
//!     FastRcnnConvFcHeadConfig, FastRcnnPredictorConfig, TrainingSamplesConfig, fastrcnn_loss,
//!     random_permutations, select_training_samples,
//! };
//! use burn_roi::{RoiAlignConfig, Rois, roi_align};
//!
//! let device = Device::default();
//! let head = FastRcnnConvFcHeadConfig::new(8, [7, 7], vec![], vec![32, 32]).init(&device.clone().autodiff());
//! let predictor = FastRcnnPredictorConfig::new(32, 5).init(&device.clone().autodiff());
//!
//! let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
//! let proposals = vec![Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 100.0]], &device)];
//! let gt_boxes = vec![Tensor::<2>::from_floats([[44.0, 36.0, 150.0, 90.0]], &device)];
//! let gt_labels = vec![Tensor::<1, Int>::from_ints([3], &device)];
//! let config = TrainingSamplesConfig::new();
//! let permutation = &mut random_permutations(0);
//! let samples = select_training_samples(&proposals, &gt_boxes, &gt_labels, &config, permutation);
//!
//! let rois = Rois::from_images(samples.proposals.clone());
//! let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
//! let pooled = roi_align(features, &rois, config);
//! let (class_logits, box_regression) = predictor.forward(head.forward(pooled));
//! let (classification_loss, box_loss) =
//!     fastrcnn_loss(class_logits, box_regression, &samples.labels, &samples.regression_targets);
//! let gradients = (classification_loss + box_loss).backward();
//! assert!(head.fcs[0].weight.val().grad(&gradients).is_some());
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod anchor_grid;
mod anchors;
mod anchors_3d;
pub(crate) mod arguments;
mod base_anchors;
mod binary_masks;
mod box_coder;
mod boxes;
mod class_masks;
mod configs;
mod cubic;
pub mod data;
mod error;
pub mod evaluate;
mod forms;
mod heads;
pub(crate) mod host;
mod integers;
mod json_values;
mod keypoints;
mod losses;
mod mask_window;
#[cfg(feature = "models")]
pub mod models;
mod nms;
// Hidden, since code that burn-roi-onnx generates is its only caller.
#[doc(hidden)]
pub mod onnx;
mod paste_masks;
#[cfg(feature = "pictures")]
pub mod pictures;
mod post_processing;
mod proposals;
mod random;
mod rotated;
mod run_lengths;
mod suppression;
mod targets;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "models")]
pub mod weights;
mod zeros;

pub use anchors::{AnchorGenerator, AnchorGeneratorConfig};
pub use anchors_3d::{AnchorGenerator3d, AnchorGenerator3dConfig, AnchorGenerator3dSConfig};
pub use base_anchors::BaseAnchors;
pub use binary_masks::*;
pub use box_coder::BoxCoder;
pub(crate) use boxes::upcast_dtype;
pub use boxes::{
    box_area, box_iou, box_iou_3d, box_volume, clip_boxes_to_image, remove_small_boxes, remove_small_boxes_async,
    try_box_area, try_box_iou, try_box_iou_3d, try_box_volume, try_clip_boxes_to_image, try_remove_small_boxes,
};
pub use class_masks::{maskrcnn_inference, try_maskrcnn_inference};
pub use error::DetectionError;
pub use heads::*;
pub use keypoints::{heatmaps_to_keypoints, heatmaps_to_keypoints_async, try_heatmaps_to_keypoints};
pub use losses::*;
pub use nms::*;
pub use paste_masks::{paste_masks_in_image, paste_masks_in_image_async, try_paste_masks_in_image};
pub use post_processing::*;
pub use proposals::{ProposalConfig, filter_proposals, filter_proposals_async, try_filter_proposals};
pub use random::random_permutations;
pub use rotated::*;
pub use run_lengths::RunLengths;
pub(crate) use suppression::greedy_nms;
pub use targets::*;

/// The examples of documents are compiled.
#[cfg(all(doctest, feature = "models"))]
#[doc = include_str!("../../docs/detectors.md")]
struct Detectors;
#[cfg(all(doctest, feature = "train"))]
#[doc = include_str!("../../docs/training.md")]
struct Training;
