//! Imports ONNX models with region operators into [Burn](https://burn.dev).
//!
//! burn-onnx turns an ONNX model into Rust code in a build script. It has no code for `RoiAlign`, so it cannot import
//! two-stage detectors. This crate rewrites such a model so that burn-onnx takes it, and adds the region operators,
//! whose code calls `burn_roi`:
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), burn_roi_onnx::Error> {
//!     let mut model = burn_onnx::ModelGen::new();
//!     burn_roi_onnx::input(&mut model, "model/detector.onnx")?;
//!     burn_roi_onnx::register(&mut model);
//!     burn_roi_onnx::generate(model.out_dir("model/"))
//! }
//! ```
//!
//! The generated code calls `burn_roi` and `burn_roi_detection`, so the package needs both as dependencies, beside
//! `burn` and `burn-store`. The feature `vision` of `burn` is needed only for a `NonMaxSuppression` inside an `If`, a
//! `Loop` or a `Scan`, where burn-onnx allows no custom operator.
//!
//! # Operators
//!
//! In the last column `detection` stands for `burn_roi_detection`. All other names are in `burn_roi`.
//!
//! | operator set | operator | what the generated code calls |
//! |---|---|---|
//! | `""` (ONNX) | `RoiAlign` 10; 16 and 22 | `roi_align`, `onnx::RoiAlign10`; `onnx::RoiAlign16` |
//! | `""` (ONNX) | `MaxRoiPool` 1 and 22 | `roi_pool`, `onnx::MaxRoiPool` |
//! | `""` (ONNX) | `NonMaxSuppression` 10 and 11 | `detection::onnx::non_max_suppression` |
//! | `""` (ONNX) | `TopK` | `detection::onnx::top_k` |
//! | `""` (ONNX) | `Resize` 10 to 19, `Upsample` 7 and 9 | `detection::onnx::resize` |
//! | `""` (ONNX) | `GatherND`, `ScatterND` | `detection::onnx::gather_nd`, `detection::onnx::scatter_nd` |
//! | `""` (ONNX) | `ReduceMax`, `ReduceMin` | `detection::onnx::extreme` |
//! | `""` (ONNX) | `Softmax`, `LogSoftmax` before 13 | `detection::onnx::softmax_of_all_from`, `log_…` |
//! | `com.microsoft` | `CropAndResize` | `crop_and_resize`, `onnx::CropAndResize` |
//! | `mmcv`, `mmdeploy` | `MMCVRoiAlign` | `roi_align`, `mmcv::RoiAlign` |
//! | `mmcv`, `mmdeploy` | `MMCVRoIAlignRotated` | `roi_align_rotated`, `mmcv::RoiAlignRotated` |
//! | `mmdeploy` | `MMCVMultiLevelRoiAlign` | `multi_scale_roi_align`, `mmcv::MultiLevelRoiAlign` |
//! | `mmdeploy` | the same with `roi_scale_factor` above 1 | `onnx::mmdeploy::multi_level_roi_align` |
//! | `mmdeploy` | `MMCVMultiLevelRotatedRoiAlign` | `multi_scale_pool`, `mmcv::MultiLevelRotatedRoiAlign` |
//! | `mmdeploy` | `NMSRotated` | `detection::onnx::mmdeploy::nms_rotated` |
//! | `""`, `trt.plugins` | `ROIAlign_TRT` | `roi_align`, `onnx::RoiAlign16` |
//! | same | `CropAndResize`, `CropAndResizeDynamic`, `CropAndResize_TRT` | `detection::onnx::tensorrt::CropAndResize` |
//! | same | `PyramidROIAlign_TRT` | `detection::onnx::tensorrt::PyramidRoiAlign` |
//! | `org.openvinotoolkit` | `ExperimentalDetectronROIFeatureExtractor` | `multi_scale_roi_align` |
//!
//! `trt.plugins` is TensorRT's. An attribute that is unknown, out of range or of a wrong type is an error.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod generate;
mod operators;
mod prepare;
mod read;

use std::path::{Path, PathBuf};

use burn_onnx::ModelGen;

pub use error::{Error, NodeId};
pub use generate::generate;
pub use prepare::prepare;

/// Adds the ONNX file at `path` to the models that `model` generates code for, as
/// [`ModelGen::input`](burn_onnx::ModelGen::input) does, rewritten so that burn-onnx takes it.
///
/// The rewritten file is in the folder `burn_roi_onnx` of `OUT_DIR`, under the same name. Cargo runs the build script
/// again when the ONNX file or its external data changes. [`Input`] has settings.
///
/// # Errors
///
/// An [`Error`] if a file cannot be read or written, if the file is no ONNX model, if a value has no producer or two,
/// if a region operator's node is malformed, or if burn-onnx refuses the rewritten model.
pub fn input(model: &mut ModelGen, path: impl AsRef<Path>) -> Result<&mut ModelGen, Error> {
    Input::new(path).add_to(model)
}

/// An ONNX file and how it is imported.
///
/// ```no_run
/// # fn main() -> Result<(), burn_roi_onnx::Error> {
/// let mut model = burn_onnx::ModelGen::new();
/// // A model of images of any size, for images of 240 x 320.
/// burn_roi_onnx::Input::new("model/detector.onnx")
///     .with_sizes("image", &[3, 240, 320])
///     .with_name("detector_240x320")
///     .add_to(&mut model)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Input {
    path: PathBuf,
    settings: prepare::Settings,
    name: Option<String>,
}

impl Input {
    /// The file at `path`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_path_buf(),
            settings: prepare::Settings::default(),
            name: None,
        }
    }

    /// Fixes the sizes of an input of the model. The build script then computes what follows from them, such as the
    /// anchors of a detector.
    pub fn with_sizes(mut self, input: &str, sizes: &[usize]) -> Self {
        self.settings.sizes.push((input.to_string(), sizes.to_vec()));
        self
    }

    /// Pools from a feature pyramid in one call of `burn_roi::multi_scale_roi_align` instead of one call for each level
    /// and a scatter of the results. A box whose size is exactly between two levels can then get the other level, since
    /// its logarithm is rounded differently.
    pub fn with_joined_levels(mut self, joins: bool) -> Self {
        self.settings.joins_levels = joins;
        self
    }

    /// The name of the generated file, without `.rs`. The default is the name of the ONNX file.
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = Some(name.to_string());
        self
    }

    /// The rewritten model with these settings. [`prepare()`] rewrites a model in memory, without settings.
    ///
    /// # Errors
    ///
    /// The errors of [`prepare()`]. Also an error if the file can't be read, or if the model has no input of a name
    /// whose sizes are fixed, or does not allow these sizes.
    pub fn prepare(&self) -> Result<Vec<u8>, Error> {
        generate::to_bytes(&self.path, &self.settings)
    }

    /// Adds the file to the models that `model` generates code for, as [`input`] does.
    ///
    /// # Errors
    ///
    /// As [`input`], and if the model has no input of a name whose sizes are fixed, or does not allow these sizes.
    pub fn add_to(self, model: &mut ModelGen) -> Result<&mut ModelGen, Error> {
        let prepared = generate::to_build_folder(&self.path, self.name.as_deref(), &self.settings)?;
        Ok(model.input(&prepared))
    }
}

/// Registers the operators that [`input`](crate::input()) writes into a model: the region operators,
/// those that Burn refuses for tensors without elements, `TopK`, `Resize`, and those that replace loops and branches.
///
/// # Panics
///
/// If one of them is registered already, as [`ModelGen::register_custom_op`](burn_onnx::ModelGen::register_custom_op)
/// does.
pub fn register(model: &mut ModelGen) -> &mut ModelGen {
    for operator in operators::region::all() {
        model.register_custom_op(operator);
    }
    for operator in operators::own::all() {
        model.register_custom_op(operator);
    }
    model
}
