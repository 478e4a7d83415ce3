//! [`BoxCoder`]: box deltas.

use burn::tensor::Tensor;

use super::arguments;
use super::boxes::{cast, column, common_dtype, length};
use crate::error::DetectionError;
use burn_roi::internal::or_panic;

/// Encodes boxes as box deltas and decodes box deltas to boxes. Same semantics as torchvision's `BoxCoder`
/// (`torchvision.models.detection._utils`).
///
/// The box deltas `[dx, dy, dw, dh]` describe a box relative to another one, its proposal or anchor:
///
/// - dx and dy are the distance of the centres, divided by the width and the height of the proposal;
/// - dw and dh are the natural logarithms of the box's width and height divided by the proposal's width and height;
/// - each is then multiplied by its weight. The weights are 1 in a region proposal network; a box head uses the weights
///   of [`DetectionConfig`](super::DetectionConfig).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::BoxCoder;
///
/// let device = Device::default();
/// let coder = BoxCoder::new([10.0, 10.0, 5.0, 5.0]);
/// let proposals = Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 20.0]], &device);
/// // One width to the right: 10 / 10 = 1.
/// let deltas = Tensor::<2>::from_floats([[10.0, 0.0, 0.0, 0.0]], &device);
/// let boxes = coder.decode(deltas, proposals);
/// assert_eq!(boxes.try_into_vec_as::<f32>().unwrap(), [10.0, 0.0, 20.0, 20.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxCoder {
    /// The weights of dx, dy, dw and dh: finite and not 0.
    pub weights: [f64; 4],
    /// The upper limit of dw and dh when decoding, after the division by their weights. It limits the growth of a box
    /// to a factor of e to its power. Not NaN; ln(1000 / 16) in [`BoxCoder::new`], as in torchvision.
    pub bbox_xform_clip: f64,
}

impl BoxCoder {
    /// A coder with the weights of dx, dy, dw and dh, and with torchvision's `bbox_xform_clip`.
    pub fn new(weights: [f64; 4]) -> Self {
        Self {
            weights,
            bbox_xform_clip: (1000.0f64 / 16.0).ln(),
        }
    }

    /// Sets `bbox_xform_clip`, the upper limit of dw and dh when decoding.
    pub fn with_bbox_xform_clip(self, bbox_xform_clip: f64) -> Self {
        Self {
            bbox_xform_clip,
            ..self
        }
    }

    /// The box deltas of each `reference` box relative to the proposal in the same row.
    ///
    /// - `reference`, `proposals`: `[K, 4]`, each `[x1, y1, x2, y2]`, in the same unit, of the same float dtype.
    /// - Returns `[K, 4]`, each `[dx, dy, dw, dh]`, in the dtype of the boxes. A proposal without width or height has
    ///   infinite or NaN deltas.
    ///
    /// Boxes of f16 and bf16 are encoded in f32, and the deltas are rounded once. torchvision rounds after each
    /// operation.
    ///
    /// # Panics
    ///
    /// If [`try_encode`](BoxCoder::try_encode) returns an error, with its text.
    pub fn encode(&self, reference: Tensor<2>, proposals: Tensor<2>) -> Tensor<2> {
        or_panic(self.try_encode(reference, proposals))
    }

    /// Fallible form of [`encode`](BoxCoder::encode).
    ///
    /// # Errors
    ///
    /// - `RoiError::Shape`: `reference` or `proposals` is not `[K, 4]`.
    /// - [`DetectionError::Length`], `RoiError::Device`, `RoiError::DType`: `proposals` differs from `reference` in its
    ///   number of rows, its device or its dtype.
    /// - `RoiError::Option`: an element of `weights` is 0 or not finite, or `bbox_xform_clip` is NaN.
    pub fn try_encode(&self, reference: Tensor<2>, proposals: Tensor<2>) -> Result<Tensor<2>, DetectionError> {
        self.check()?;
        let count = arguments::boxes("reference", &reference)?;
        let rows = arguments::boxes("proposals", &proposals)?;
        arguments::length("proposals", rows, count, "row of `reference`")?;
        arguments::device_and_dtype("proposals", &proposals, "reference", &reference)?;
        if count == 0 {
            return Ok(reference);
        }
        let dtype = reference.dtype();
        let in_dtype = common_dtype(dtype, dtype);
        let (reference, proposals) = (cast(reference, in_dtype), cast(proposals, in_dtype));
        let shift = |axis| {
            let distance = centre(&reference, axis) - centre(&proposals, axis);
            distance * self.weights[axis] / length(&proposals, axis)
        };
        let growth = |axis| {
            let ratio = length(&reference, axis) / length(&proposals, axis);
            ratio.log() * self.weights[axis + 2]
        };
        let deltas = Tensor::cat(vec![shift(0), shift(1), growth(0), growth(1)], 1);
        Ok(cast(deltas, dtype))
    }

    /// The boxes that box deltas describe. Each row has deltas for C classes.
    ///
    /// - `deltas`: `[K, 4 * C]`, for each class in turn `[dx, dy, dw, dh]`, of any float dtype.
    /// - `boxes`: `[K, 4]`, the proposals or anchors that the deltas are relative to, each `[x1, y1, x2, y2]`, in any
    ///   unit and of any float dtype.
    /// - Returns `[K, C, 4]`, each `[x1, y1, x2, y2]` in the unit and the dtype of `boxes`. A delta that is NaN leads
    ///   to coordinates that are NaN.
    ///
    /// The boxes are computed in f64 if `deltas` or `boxes` are f64, and in f32 otherwise. They are rounded once, to
    /// the dtype of `boxes`. torchvision rounds `boxes` to the dtype of the deltas first: a coordinate of 1003 becomes
    /// 1004 in bf16.
    ///
    /// # Panics
    ///
    /// If [`try_decode`](BoxCoder::try_decode) returns an error, with its text.
    pub fn decode(&self, deltas: Tensor<2>, boxes: Tensor<2>) -> Tensor<3> {
        or_panic(self.try_decode(deltas, boxes))
    }

    /// Fallible form of [`decode`](BoxCoder::decode).
    ///
    /// # Errors
    ///
    /// - `RoiError::Shape`: `boxes` is not `[K, 4]`, or the columns of `deltas` are not a multiple of 4.
    /// - [`DetectionError::Length`], `RoiError::Device`: `deltas` differs from `boxes` in its number of rows or its
    ///   device.
    /// - `RoiError::Option`: an element of `weights` is 0 or not finite, or `bbox_xform_clip` is NaN.
    pub fn try_decode(&self, deltas: Tensor<2>, boxes: Tensor<2>) -> Result<Tensor<3>, DetectionError> {
        self.check()?;
        let count = arguments::boxes("boxes", &boxes)?;
        let [rows, columns] = deltas.dims();
        arguments::length("deltas", rows, count, "row of `boxes`")?;
        arguments::check_shape("deltas", columns.is_multiple_of(4), &[rows, columns], "[K, 4 * C]")?;
        arguments::device("deltas", &deltas, "boxes", &boxes)?;
        let shape = [count, columns / 4, 4];
        if count == 0 || columns == 0 {
            return Ok(Tensor::zeros(shape, (&deltas.device(), boxes.dtype())));
        }
        let dtype = boxes.dtype();
        let in_dtype = common_dtype(dtype, deltas.dtype());
        let (deltas, boxes) = (cast(deltas.reshape(shape), in_dtype), cast(boxes, in_dtype));
        let [x1, x2] = self.decode_axis(&deltas, &boxes, 0);
        let [y1, y2] = self.decode_axis(&deltas, &boxes, 1);
        Ok(cast(Tensor::cat(vec![x1, y1, x2, y2], 2), dtype))
    }

    /// The first and the last coordinate of each decoded box along an axis, each `[K, C, 1]`.
    fn decode_axis(&self, deltas: &Tensor<3>, boxes: &Tensor<2>, axis: usize) -> [Tensor<3>; 2] {
        let delta = |column: usize| deltas.clone().slice_dim(2, column..column + 1) / self.weights[column];
        let lengths = length(boxes, axis).unsqueeze_dim::<3>(2);
        let centres = centre(boxes, axis).unsqueeze_dim::<3>(2);

        let growth = delta(axis + 2);
        let too_large = growth.clone().greater_elem(self.bbox_xform_clip);
        // A minimum would not do: of a number and NaN, backends return different ones.
        let growth = growth.mask_fill(too_large, self.bbox_xform_clip);

        let centre = delta(axis) * lengths.clone() + centres;
        let half = growth.exp() * lengths * 0.5;
        [centre.clone() - half.clone(), centre + half]
    }

    fn check(&self) -> Result<(), DetectionError> {
        arguments::not_nan("bbox_xform_clip", self.bbox_xform_clip)?;
        arguments::weights("weights", &self.weights)
    }
}

/// The centre of each box along an axis, `[K, 1]`.
fn centre(boxes: &Tensor<2>, axis: usize) -> Tensor<2> {
    column(boxes, axis) + length(boxes, axis) * 0.5
}
