//! detectron2's files: checkpoints, and the configs beside them.
//!
//! - [`read_config`] turns the `config.yaml` beside a checkpoint into a
//!   [`DetectorConfig`](crate::models::DetectorConfig), and [`named`] has the configs of the model zoo.
//! - [`Checkpoint::read`] reads a `.pkl` or `.pth` file. Both are data: nothing that a file names is run.
//! - [`names`] are detectron2's names of the weights.
//!
//! Tests compare narrow FPN models (Faster, Mask and Keypoint R-CNN) layer by layer with mayaku 2.0.1, which runs
//! detectron2's models in torch, and Cascade Mask R-CNN and ViTDet with references after detectron2's source. C4 and
//! DC5 follow the source and were compared with nothing.
//!
//! ```no_run
//! use burn::tensor::Device;
//! use burn_roi_detection::models::Detector;
//! use burn_roi_detection::weights::detectron2::{self, Checkpoint};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let name = "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x";
//!     let config = detectron2::named(name).ok_or("no such model")?;
//!     let mut detector = Detector::try_new(config, &Device::default())?;
//!     let checkpoint = Checkpoint::read("model_final_f10217.pkl")?;
//!     checkpoint.into_state_dict().load_into(&mut detector, detectron2::names)?;
//!     Ok(())
//! }
//! ```

mod caffe2;
mod checkpoint;
mod config;
mod error;
mod names;

pub use crate::weights::pickle::{PickleError, PickleReason};
pub use checkpoint::Checkpoint;
pub use config::{ConfigError, NAMES, config_from_yaml, named, read_config};
pub use error::CheckpointError;
pub(super) use names::body;
pub use names::names;
