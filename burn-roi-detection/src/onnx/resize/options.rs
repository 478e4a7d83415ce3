//! The attributes of `Resize`, and its output's size.

use burn_roi::config;
use serde::{Deserialize, Serialize};

/// The attribute `mode`: what a position between elements reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResizeMode {
    /// The element that [`NearestMode`] says.
    Nearest,
    /// A weighted mean of two elements along each axis.
    Linear,
    /// A cubic through four elements along each axis.
    Cubic,
}

/// The attribute `coordinate_transformation_mode`: the position in the input that an element of the output reads.
///
/// Below, `o` is the index of an element, `in` and `out` are the sizes of the axis, and `scale` is `out / in`, or as
/// the input `scales` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResizeTransformation {
    /// `(o + 0.5) / scale - 0.5`.
    HalfPixel,
    /// The same, moved so that the centre of the input is the centre of the output.
    HalfPixelSymmetric,
    /// [`Self::HalfPixel`], but 0 if `out` is 1.
    PytorchHalfPixel,
    /// `o * (in - 1) / (out - 1)`, and 0 if `out` is 1.
    AlignCorners,
    /// `o / scale`.
    Asymmetric,
    /// `(o + 0.5) / scale`, of opsets 11 and 12.
    TfHalfPixelForNn,
    /// `start * (in - 1) + o * (end - start) * (in - 1) / (out - 1)` for the region `start` to `end` of the input
    /// `roi`. If `out` is 1, the middle of the region.
    TfCropAndResize,
}

/// The attribute `nearest_mode`: the element that a position reads if the mode is [`ResizeMode::Nearest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NearestMode {
    /// The nearest; of two, the one with the lower index.
    RoundPreferFloor,
    /// The nearest; of two, the one with the higher index.
    RoundPreferCeil,
    /// The one before.
    Floor,
    /// The one behind.
    Ceil,
    /// The one before if the axis is enlarged, and the one behind if it is reduced: ONNX Runtime's rule of opset 10.
    Simple,
}

/// The attribute `keep_aspect_ratio_policy`: what the input `sizes` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AspectRatioPolicy {
    /// The sizes of the output.
    Stretch,
    /// Sizes that the output, of the input's aspect ratio, does not exceed.
    NotLarger,
    /// Sizes that the output, of the input's aspect ratio, reaches.
    NotSmaller,
}

config! {
/// The attributes of ONNX `Resize`, of opsets 10 to 19, with their defaults.
#[derive(Debug, PartialEq)]
pub struct Resize {
    /// What a position between elements reads.
    pub mode: ResizeMode = ResizeMode::Nearest,
    /// The position that an element of the output reads.
    pub transformation: ResizeTransformation = ResizeTransformation::HalfPixel,
    /// The element that a position reads if the mode is nearest.
    pub nearest_mode: NearestMode = NearestMode::RoundPreferFloor,
    /// What an element of [`ResizeTransformation::TfCropAndResize`] is whose position is outside of the input.
    pub extrapolation_value: f32 = 0.0,
    /// The coefficient of the cubic.
    pub cubic_coefficient: f32 = -0.75,
    /// Whether a cubic leaves out elements beyond the ends. It repeats the outermost element otherwise.
    pub exclude_outside: bool = false,
    /// What the input `sizes` means.
    pub aspect_ratio: AspectRatioPolicy = AspectRatioPolicy::Stretch,
    /// The axes that the inputs `sizes`, `scales` and `roi` are about. Without it, all in order.
    pub axes: Option<Vec<usize>> = None,
}
}

/// The size of the output: ONNX `Resize` has one of two inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResizeTo<'a> {
    /// The input `sizes`.
    Sizes(&'a [i64]),
    /// The input `scales`: the size along an axis is the product with the input's, rounded down.
    Scales(&'a [f32]),
}
