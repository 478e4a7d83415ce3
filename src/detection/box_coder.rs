//! [`BoxCoder`]: boxes as offsets from other boxes.

use burn::tensor::Tensor;

use super::arguments;
use super::boxes::{column, length};
use crate::error::{RoiError, or_panic};

/// Encodes boxes as offsets from other boxes and decodes them; torchvision's `BoxCoder`.
///
/// A code is `[dx, dy, dw, dh]`: how far the centre is off, in widths and heights of the other box, and the
/// logarithms of the ratios of widths and heights, each times a weight. A region proposal network has the
/// weights 1, a box head those of [`DetectionConfig`](super::DetectionConfig).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::detection::BoxCoder;
///
/// let device = Device::default();
/// let coder = BoxCoder::new([10.0, 10.0, 5.0, 5.0]);
/// let proposals = Tensor::<2>::from_floats([[0.0, 0.0, 10.0, 20.0]], &device);
/// // One width to the right.
/// let codes = Tensor::<2>::from_floats([[10.0, 0.0, 0.0, 0.0]], &device);
/// let boxes = coder.decode(codes, proposals);
/// assert_eq!(boxes.try_into_vec_as::<f32>().unwrap(), [10.0, 0.0, 20.0, 20.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxCoder {
    /// The weights of dx, dy, dw and dh.
    pub weights: [f64; 4],
    /// What dw and dh are at most when decoded, once without weight: no box grows by more than its
    /// exponential. By default the logarithm of 1000 / 16.
    pub bbox_xform_clip: f64,
}

impl BoxCoder {
    /// A coder with the weights of dx, dy, dw and dh.
    pub fn new(weights: [f64; 4]) -> Self {
        Self {
            weights,
            bbox_xform_clip: (1000.0f64 / 16.0).ln(),
        }
    }

    /// Sets what dw and dh are at most when decoded.
    pub fn with_bbox_xform_clip(self, bbox_xform_clip: f64) -> Self {
        Self {
            bbox_xform_clip,
            ..self
        }
    }

    /// The codes of `reference` boxes as seen from `proposals`: both `[K, 4]`, `[x1, y1, x2, y2]`, to
    /// `[K, 4]`. A proposal without width or height gives infinite or NaN codes.
    ///
    /// # Panics
    ///
    /// Where [`try_encode`](BoxCoder::try_encode) gives an error, with its text.
    pub fn encode(&self, reference: Tensor<2>, proposals: Tensor<2>) -> Tensor<2> {
        or_panic(self.try_encode(reference, proposals))
    }

    /// [`encode`](BoxCoder::encode) for arguments that may be wrong.
    ///
    /// # Errors
    ///
    /// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::Device`], [`RoiError::DType`]: `reference`
    ///   is not `[K, 4]`, or `proposals` is not like it.
    /// - [`RoiError::Option`]: a weight is 0 or not finite, or the clip is NaN.
    pub fn try_encode(&self, reference: Tensor<2>, proposals: Tensor<2>) -> Result<Tensor<2>, RoiError> {
        self.check()?;
        let count = arguments::boxes("reference", &reference)?;
        let rows = arguments::boxes("proposals", &proposals)?;
        arguments::length("proposals", rows, count, "row of `reference`")?;
        arguments::device("proposals", &proposals.device(), "reference", &reference.device())?;
        arguments::dtype("proposals", proposals.dtype(), "reference", reference.dtype())?;
        if count == 0 {
            return Ok(reference);
        }
        let shift = |axis| {
            let distance = centre(&reference, axis) - centre(&proposals, axis);
            distance * self.weights[axis] / length(&proposals, axis)
        };
        let growth = |axis| {
            let ratio = length(&reference, axis) / length(&proposals, axis);
            ratio.log() * self.weights[axis + 2]
        };
        Ok(Tensor::cat(vec![shift(0), shift(1), growth(0), growth(1)], 1))
    }

    /// The boxes that codes mean: C codes for each of K boxes, `[K, 4 * C]` and `[K, 4]`, to `[K, C, 4]`,
    /// `[x1, y1, x2, y2]` in the codes' dtype. A code that is NaN gives coordinates that are NaN.
    ///
    /// # Panics
    ///
    /// Where [`try_decode`](BoxCoder::try_decode) gives an error, with its text.
    pub fn decode(&self, codes: Tensor<2>, boxes: Tensor<2>) -> Tensor<3> {
        or_panic(self.try_decode(codes, boxes))
    }

    /// [`decode`](BoxCoder::decode) for arguments that may be wrong.
    ///
    /// # Errors
    ///
    /// - [`RoiError::Shape`], [`RoiError::Length`], [`RoiError::Device`]: `boxes` is not `[K, 4]`, or `codes`
    ///   is not `[K, 4 * C]` on its device.
    /// - [`RoiError::Option`]: a weight is 0 or not finite, or the clip is NaN.
    pub fn try_decode(&self, codes: Tensor<2>, boxes: Tensor<2>) -> Result<Tensor<3>, RoiError> {
        self.check()?;
        let count = arguments::boxes("boxes", &boxes)?;
        let [rows, columns] = codes.dims();
        arguments::length("codes", rows, count, "row of `boxes`")?;
        if !columns.is_multiple_of(4) {
            return Err(RoiError::Shape {
                argument: "codes",
                shape: vec![rows, columns],
                expected: "[K, 4 * C]",
            });
        }
        arguments::device("codes", &codes.device(), "boxes", &boxes.device())?;
        let shape = [count, columns / 4, 4];
        if count == 0 || columns == 0 {
            return Ok(Tensor::zeros(shape, (&codes.device(), codes.dtype())));
        }
        let boxes = match codes.dtype() {
            dtype if dtype == boxes.dtype() => boxes,
            dtype => boxes.cast(dtype),
        };
        let codes = codes.reshape(shape);
        let (x, y) = (self.decode_axis(&codes, &boxes, 0), self.decode_axis(&codes, &boxes, 1));
        let ([x1, x2], [y1, y2]) = (x, y);
        Ok(Tensor::cat(vec![x1, y1, x2, y2], 2))
    }

    /// Where boxes begin and end along an axis, each `[K, C, 1]`.
    fn decode_axis(&self, codes: &Tensor<3>, boxes: &Tensor<2>, axis: usize) -> [Tensor<3>; 2] {
        let code = |column: usize| codes.clone().slice_dim(2, column..column + 1) / self.weights[column];
        let lengths = length(boxes, axis).unsqueeze_dim::<3>(2);
        let centres = centre(boxes, axis).unsqueeze_dim::<3>(2);

        let growth = code(axis + 2);
        let too_large = growth.clone().greater_elem(self.bbox_xform_clip);
        // Not a minimum: what a device's minimum makes of NaN differs.
        let growth = growth.mask_fill(too_large, self.bbox_xform_clip);

        let centre = code(axis) * lengths.clone() + centres;
        let half = growth.exp() * lengths * 0.5;
        [centre.clone() - half.clone(), centre + half]
    }

    fn check(&self) -> Result<(), RoiError> {
        arguments::threshold("bbox_xform_clip", self.bbox_xform_clip)?;
        arguments::weights("weights", &self.weights)
    }
}

/// The centre of each box along an axis, `[K, 1]`.
fn centre(boxes: &Tensor<2>, axis: usize) -> Tensor<2> {
    column(boxes, axis) + length(boxes, axis) * 0.5
}
