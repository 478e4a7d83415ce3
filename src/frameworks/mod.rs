//! The operators of other frameworks: their attributes, under their names and with their defaults, and
//! what they are in this crate's options.

pub mod detectron2;
pub mod directml;
pub mod mindspore;
pub mod mmcv;
pub mod mxnet;
pub mod onnx;
mod onnx_shapes;
#[cfg(feature = "detection")]
mod onnx_suppression;
mod onnx_top_k;
pub mod openvino;
mod openvino_points;
pub mod paddle;
pub mod tensorflow;
pub mod tensorrt;
pub mod torchvision;
