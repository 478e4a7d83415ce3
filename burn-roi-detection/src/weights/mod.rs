//! The files of detectors: torchvision's and detectron2's checkpoints, safetensors, and configs.
//!
//! - [`read_config`] and [`load`] read a detector from the files of torchvision, detectron2 or this crate, and [`save`]
//!   writes one.
//! - [`StateDict`] holds weights by name. [`StateDict::read`] reads a file, [`StateDict::load_into`] puts the weights
//!   into a [`Detector`](crate::models::Detector), [`StateDict::of`] takes them out, and [`StateDict::write`] writes a
//!   file.
//! - [`NameTable`] has a framework's names of the weights, such as [`NameTable::torchvision`].
//! - [`StateDict::load_backbone_into`] loads the backbone alone, such as that of an ImageNet classifier.
//!
//! A file must have exactly the model's tensors. [`WeightsError`] lists all that are missing, unknown or of another
//! shape.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig};
//! use burn_roi_detection::weights::{NameTable, StateDict};
//!
//! let mut config = DetectorConfig::named("fasterrcnn_resnet50_fpn").unwrap();
//! # if let BodyConfig::ResNet(body) = &mut config.body {
//! #     body.bottleneck_channels = [4; 4];
//! #     body.blocks = [1; 4];
//! # }
//! # config.feature_pyramid.as_mut().unwrap().channels = 4;
//! # config.box_head.fully_connected = vec![4];
//! let mut detector = Detector::new(config, &Device::default());
//!
//! let mut state = StateDict::of(&detector, NameTable::torchvision).unwrap();
//! state.tensors.remove("backbone.body.conv1.weight");
//! let error = state.load_into(&mut detector, NameTable::torchvision).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the weights do not fit the model fasterrcnn_resnet50_fpn:
//!   1 tensor missing from the file:
//!     backbone.body.conv1.weight"
//! );
//! ```

mod archive;
mod backbone;
pub mod detectron2;
mod error;
mod files;
mod load;
mod names;
mod pickle;
mod shortened;
mod state_dict;
mod torch_file;
mod write_whole;

pub use error::{Mismatch, Misshapen, WeightsError};
pub use files::{config_from_json, load, read_config, save};
pub use names::NameTable;
pub use state_dict::StateDict;
#[cfg(feature = "train")]
pub(crate) use write_whole::write_whole;
