//! The operators of other frameworks: their attributes, under their names and with their defaults, and
//! what they are in this crate's options.

pub mod detectron2;
pub mod directml;
pub mod mindspore;
pub mod mmcv;
pub mod mxnet;
pub mod onnx;
pub mod openvino;
mod openvino_points;
pub mod paddle;
pub mod tensorflow;
pub mod torchvision;
