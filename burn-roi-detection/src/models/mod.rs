//! Two-stage detectors: Faster R-CNN, Mask R-CNN and Keypoint R-CNN.
//!
//! A [`DetectorConfig`] describes a detector. [`DetectorConfig::named`] returns torchvision's models; other configs are
//! JSON files. [`Detector`] detects in pictures of any sizes, as one batch; [`weights`](crate::weights) reads
//! torchvision's checkpoints. Inference with torchvision's published files:
//!
//! ```no_run
//! use burn::tensor::Device;
//! use burn_roi_detection::models::{Detector, DetectorConfig, Picture};
//! use burn_roi_detection::weights::{NameTable, StateDict};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let config = DetectorConfig::named("maskrcnn_resnet50_fpn").ok_or("no such model")?;
//!     let mut detector = Detector::try_new(config, &Device::default())?;
//!     let state = StateDict::read("maskrcnn_resnet50_fpn_coco-bf2d0c1e.pth")?;
//!     state.load_into(&mut detector, NameTable::torchvision)?;
//!
//!     // Two rows of two pixels; an image library reads files.
//!     let pixels = vec![128; 2 * 2 * 3];
//!     let picture = Picture::try_from_rgb([2, 2], &pixels)?;
//!     for instances in detector.try_detect(&[picture])? {
//!         for (row, corners) in instances.boxes.iter().enumerate() {
//!             let label = detector.config().label(instances.labels[row]);
//!             let pixels = instances.masks[row].area();
//!             println!("{label} {:.2} {corners:?} {pixels} pixels", instances.scores[row]);
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A detector's steps can be called one by one: [`Detector::prepare`], [`Detector::body`],
//! [`Detector::feature_pyramid`], [`Detector::region_predictions`], [`Detector::proposals`], and for a head
//! [`pool_regions`] and [`RoiHeads`].

mod body;
mod class_order;
pub(crate) mod config;
mod detector;
mod feature_pyramid;
mod image_list;
mod instances;
mod layers_dtype;
mod picture;
mod pillow;
mod pixel_centres;
mod pooling;
mod proposing;
mod rcnn;
mod region_proposals;
mod rescaling;
mod roi_heads;
mod snapshot;
mod stage;

pub use body::CustomBody;
#[cfg(feature = "train")]
pub(crate) use class_order::background_first;
pub use config::{
    Background, BodyConfig, BodyMap, BoxHeadConfig, ChannelOrder, CustomBodyConfig, DetectorConfig,
    FeaturePyramidConfig, InvertedResidualConfig, KeypointHeadConfig, KeypointScores, MaskHeadConfig, MaskPaste,
    MobileNetV3Config, PreprocessingConfig, RegionProposalsConfig, ResNetConfig, Resize, ViTConfig,
};
pub use detector::{Detector, FasterRcnn, KeypointRcnn, MaskRcnn};
#[cfg(feature = "train")]
pub(crate) use detector::{check_weights, refined_boxes};
pub use image_list::ImageList;
pub use instances::{Instances, Keypoint};
#[cfg(feature = "train")]
pub(crate) use layers_dtype::{check_dtype, with_layers_dtype};
pub use picture::Picture;
pub use pooling::{Head, pool_regions, try_pool_regions};
#[cfg(feature = "train")]
pub(crate) use proposing::AnchorPredictions;
pub(crate) use rcnn::GeneralizedRcnn;
pub use region_proposals::RegionPredictions;
pub use roi_heads::RoiHeads;
pub(crate) use snapshot::{collected, field_of, shapes};
pub use stage::{Stage, StageObserver};
