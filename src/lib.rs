//! Region operators for [Burn](https://burn.dev): RoiAlign, RoiPool and their family, with the results of torchvision,
//! ONNX Runtime, OpenVINO, DirectML, TensorFlow and others.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_roi::{RoiAlignConfig, Rois, roi_align};
//!
//! let device = Device::default();
//! // A feature map of a quarter of the image's size, and two regions of the image.
//! let features = Tensor::<4>::ones([1, 256, 200, 304], &device);
//! let boxes = Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 200.0], [0.0, 8.0, 64.0, 72.0]], &device);
//! let rois = Rois::from_images(vec![boxes]);
//!
//! let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).with_sampling_ratio(2);
//! let pooled = roi_align(features, &rois, config.with_aligned(true));
//! assert_eq!(pooled.dims(), [2, 256, 7, 7]);
//! ```
//!
//! - [`roi_align`](roi_align()), [`roi_pool`](roi_pool()), [`crop_and_resize`](crop_and_resize()),
//!   [`ps_roi_align`](ps_roi_align()), [`ps_roi_pool`](ps_roi_pool()) and [`prroi_pool`](prroi_pool()), each with a
//!   `try_` function and a module, on Burn's `Tensor`, whose device decides the backend.
//! - [`roi_align_rotated`](roi_align_rotated()), [`riroi_align_rotated`](riroi_align_rotated()),
//!   [`deform_roi_pool`](deform_roi_pool()), [`deform_ps_roi_pool`](deform_ps_roi_pool()) and
//!   [`ps_crop_and_resize`](ps_crop_and_resize()), with a `try_` function and a module each: rotated regions, and
//!   regions whose elements move by offsets.
//! - [`multi_scale_roi_align`](multi_scale_roi_align()): `roi_align` on a feature pyramid.
//!   [`multi_scale_pool`](multi_scale_pool()): any operator on a feature pyramid.
//! - [`roi_align_3d`](roi_align_3d()), [`roi_pool_3d`](roi_pool_3d()) and
//!   [`crop_and_resize_3d`](crop_and_resize_3d()) on volumes `[N, C, D, H, W]`, with [`Rois3d`];
//!   [`tube_align`](tube_align()) on videos, with a box for each frame.
//! - [`primitive`]: the same operators on a backend's own tensors, with a type parameter `B: RoiBackend`.
//! - [`Rois`] and [`RotatedRois`]: boxes, and for each the index of its image.
//! - [`torchvision`], [`detectron2`], [`onnx`], [`openvino`], [`directml`], [`tensorflow`], [`paddle`], [`mxnet`],
//!   [`mmcv`], [`mindspore`]: each framework's attributes, with its names and defaults. `.into()` makes an operator's
//!   config.
//!
//! With the feature `autodiff` the operators have gradients on autodiff devices: of features and boxes, and of the
//! angles and offsets of operators that take them. [`primitive`] has functions that return the gradients, with or
//! without the feature.
//!
//! # Words
//!
//! - A region is divided into P x Q *bins*. Each *output element*, or element for short, is computed from one bin.
//! - A *host device* is a device of Flex or NdArray. On such a device every call checks the values of boxes.
//! - A box's *values* are its coordinates. A *batch index* is the index of its image in the batch.
//! - The *out-of-bounds value* is what a sample outside of the map reads: an option of some operators, and 0 in others.
//!
//! # Bad input
//!
//! `roi_align` panics on bad input, and `try_roi_align` returns a [`RoiError`] with the same text; so do the other
//! operators. Shapes, dtypes, devices and options are checked on every device. Values of boxes and batch indices are
//! checked on Flex and NdArray only. Other devices do not copy boxes back to check them: there the output of a box that
//! is not finite, or has an invalid batch index, is the out-of-bounds value. [`Rois::validate`] reads and checks the
//! boxes of any device.
//!
//! # Features
//!
//! `flex` and `ndarray` (both default), `wgpu`, `vulkan`, `metal`, `webgpu`, `cuda`, `rocm` and `cpu` each compile a
//! backend. On a device of any other backend the operators return an error. `x86-v4` lets Burn's convolutions and
//! matrix products on Flex use AVX-512 if the processor has it. `fusion` turns on Burn's kernel fusion; the operators
//! work with and without it. `autodiff` adds gradients. `remote` adds a module `remote`, and runs the operators on
//! devices that another machine serves; in a build with `fusion`, calls on such devices are an error.
//!
//! The crate `burn-roi-detection` has what a two-stage detector needs around the operators.

#![deny(unsafe_code)]
#![warn(missing_docs)]
// Burn deprecates its NdArray backend, and implementing the operators for it names it.
#![cfg_attr(feature = "ndarray", allow(deprecated))]

mod backend;
mod config;
mod error;
#[cfg(feature = "flex")]
pub mod flex;
mod frameworks;
mod geometry;
#[doc(hidden)]
pub mod internal;
mod memory;
mod ops;
mod read_back;
mod regions;
#[cfg(feature = "remote")]
pub mod remote;

pub use backend::RoiBackend;
pub use error::RoiError;
pub use frameworks::{detectron2, directml, mindspore, mmcv, mxnet, onnx, openvino, paddle, tensorflow, torchvision};
pub use geometry::angle::{AngleConvention, AngleUnit, RotationDirection};
#[doc(hidden)]
pub use geometry::options::Arithmetic;
pub use geometry::options::{
    BinDivision, BoxFormat, BoxRounding, Interpolation, MAXIMUM_FIXED_SAMPLES, MAXIMUM_OUTPUT_SIZE, MaximumFrom,
    Reduction, Sampling,
};
pub use ops::*;
pub use regions::{BoxFormat3d, Rois, Rois3d, RotatedRois};

/// The examples of the documents are compiled and run.
#[cfg(all(doctest, feature = "flex"))]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/from_torchvision.md")]
    struct FromTorchvision;
    #[doc = include_str!("../docs/operators.md")]
    struct Operators;
    #[doc = include_str!("../docs/volumes.md")]
    struct Volumes;
    #[doc = include_str!("../docs/batching.md")]
    struct Batching;
    #[cfg(feature = "autodiff")]
    #[doc = include_str!("../docs/gradients.md")]
    struct Gradients;
}
