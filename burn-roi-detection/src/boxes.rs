//! Areas and IoU of boxes, clipping, and the removal of small boxes.

use burn::tensor::{DType, Int, Tensor, TensorData};

use super::{arguments, host};
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::internal::{check_memory, or_panic};

/// The area of each box. Same semantics as `torchvision.ops.box_area`.
///
/// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]`, in any unit and of any float dtype.
/// - Returns `[K]`, in the square of the unit. The dtype is the boxes' dtype, or f32 for boxes of f16 and bf16, whose
///   products would overflow or lose precision. The area of a box that is inverted along one axis, x2 < x1 or y2 < y1,
///   is negative.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::box_area;
///
/// let boxes = Tensor::<2>::from_floats([[1.0, 2.0, 4.0, 6.0]], &Device::default());
/// assert_eq!(box_area(boxes).try_into_vec_as::<f32>().unwrap(), [12.0]);
/// ```
///
/// # Panics
///
/// If [`try_box_area`] returns an error, with its text.
pub fn box_area(boxes: Tensor<2>) -> Tensor<1> {
    or_panic(try_box_area(boxes))
}

/// Fallible form of [`box_area`].
///
/// # Errors
///
/// `RoiError::Shape`: `boxes` is not `[K, 4]`.
pub fn try_box_area(boxes: Tensor<2>) -> Result<Tensor<1>, DetectionError> {
    measures::<4>(boxes)
}

/// The volume of each box of three axes.
///
/// - `boxes`: `[K, 6]`, each `[x1, y1, x2, y2, z1, z2]`, in any unit and of any float dtype. In a volume
///   `[N, C, D, H, W]`, x is along W, y along H and z along D.
/// - Returns `[K]`, in the cube of the unit. The dtype is the boxes' dtype, or f32 for boxes of f16 and bf16. The
///   volume of a box that is inverted along one axis or along all three is negative.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::box_volume;
///
/// let boxes = Tensor::<2>::from_floats([[1.0, 2.0, 4.0, 6.0, 0.0, 2.0]], &Device::default());
/// assert_eq!(box_volume(boxes).try_into_vec_as::<f32>().unwrap(), [24.0]);
/// ```
///
/// # Panics
///
/// If [`try_box_volume`] returns an error, with its text.
pub fn box_volume(boxes: Tensor<2>) -> Tensor<1> {
    or_panic(try_box_volume(boxes))
}

/// Fallible form of [`box_volume`].
///
/// # Errors
///
/// `RoiError::Shape`: `boxes` is not `[K, 6]`.
pub fn try_box_volume(boxes: Tensor<2>) -> Result<Tensor<1>, DetectionError> {
    measures::<6>(boxes)
}

/// The intersection over union (IoU) of each box of `left` with each box of `right`. Same semantics as
/// `torchvision.ops.box_iou`.
///
/// - `left`, `right`: `[N, 4]` and `[M, 4]`, each box `[x1, y1, x2, y2]`, in the same unit, of the same float dtype.
/// - Returns `[N, M]`, from 0 to 1. The dtype is the boxes' dtype, or f32 for boxes of f16 and bf16. The IoU of two
///   boxes without area is 0 / 0, which is NaN.
///
/// As in torchvision, the width and height of an intersection are rounded to the dtype of the boxes. In bf16 the IoU of
/// `[3, 0, 1004, 10]` with itself is 0.998, since its width of 1001 becomes 1000.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::box_iou;
///
/// let device = Device::default();
/// let left = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0]], &device);
/// let right = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 1.0], [4.0, 4.0, 5.0, 5.0]], &device);
/// assert_eq!(box_iou(left, right).try_into_vec_as::<f32>().unwrap(), [0.5, 0.0]);
/// ```
///
/// # Panics
///
/// If [`try_box_iou`] returns an error, with its text.
pub fn box_iou(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    or_panic(try_box_iou(left, right))
}

/// Fallible form of [`box_iou`].
///
/// # Errors
///
/// - `RoiError::Shape`: `left` or `right` is not `[K, 4]`.
/// - `RoiError::Device`, `RoiError::DType`: `right` differs from `left` in its device or its dtype.
/// - `RoiError::Memory`: the result does not fit into memory.
pub fn try_box_iou(left: Tensor<2>, right: Tensor<2>) -> Result<Tensor<2>, DetectionError> {
    overlaps::<4>(left, right)
}

/// The intersection over union (IoU) of each box of `left` with each box of `right`, for boxes of three axes. Same
/// semantics as the `box_iou` of nnDetection with its `eps` of 0.
///
/// - `left`, `right`: `[N, 6]` and `[M, 6]`, each box `[x1, y1, x2, y2, z1, z2]`, in the same unit, of the same float
///   dtype. In a volume `[N, C, D, H, W]`, x is along W, y along H and z along D.
/// - Returns `[N, M]`, from 0 to 1: the volume of the intersection divided by the volume of the union. The dtype is the
///   boxes' dtype, or f32 for boxes of f16 and bf16. The IoU of two boxes without volume is 0 / 0, which is NaN.
///
/// Boxes of f16 and bf16 are cast to f32 before their sides are computed, unlike in [`box_iou`].
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::box_iou_3d;
///
/// let device = Device::default();
/// let left = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0, 0.0, 4.0]], &device);
/// let right = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 1.0, 0.0, 2.0], [0.0, 0.0, 2.0, 2.0, 4.0, 5.0]], &device);
/// assert_eq!(box_iou_3d(left, right).try_into_vec_as::<f32>().unwrap(), [0.25, 0.0]);
/// ```
///
/// # Panics
///
/// If [`try_box_iou_3d`] returns an error, with its text.
pub fn box_iou_3d(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    or_panic(try_box_iou_3d(left, right))
}

/// Fallible form of [`box_iou_3d`].
///
/// # Errors
///
/// Those of [`try_box_iou`], with a shape of `[K, 6]`.
pub fn try_box_iou_3d(left: Tensor<2>, right: Tensor<2>) -> Result<Tensor<2>, DetectionError> {
    arguments::dtype("right", &right, "left", &left)?;
    overlaps::<6>(upcast(left), upcast(right))
}

/// The IoU of boxes of two axes, which have 4 columns, or of three, which have 6.
fn overlaps<const COLUMNS: usize>(left: Tensor<2>, right: Tensor<2>) -> Result<Tensor<2>, DetectionError> {
    let rows = arguments::rows::<COLUMNS>("left", &left)?;
    let columns = arguments::rows::<COLUMNS>("right", &right)?;
    arguments::device_and_dtype("right", &right, "left", &left)?;
    let shape = [rows, columns];
    check_memory("table of overlaps", &shape, upcast_dtype(left.dtype()), &left.device())?;
    if rows == 0 || columns == 0 {
        let dtype = upcast_dtype(left.dtype());
        return Ok(Tensor::zeros(shape, (&left.device(), dtype)));
    }
    let intersection = product::<COLUMNS>(|axis| overlap(&left, &right, axis, shape));
    let left = measures::<COLUMNS>(left)?.reshape([rows, 1]).expand(shape);
    let right = measures::<COLUMNS>(right)?.reshape([1, columns]).expand(shape);
    Ok(intersection.clone() / (left + right - intersection))
}

/// Clips boxes to an image: a coordinate below 0 becomes 0, and one beyond the image becomes its width or height. Same
/// semantics as `torchvision.ops.clip_boxes_to_image`.
///
/// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]` in pixels, of any float dtype.
/// - `image_size`: `[height, width]` in pixels.
/// - Returns `[K, 4]`, in the order, unit and dtype of `boxes`. A coordinate that is NaN stays NaN. The width and
///   height are rounded to this dtype, as in torchvision: a width of 1333 is 1336 in bf16.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::clip_boxes_to_image;
///
/// let boxes = Tensor::<2>::from_floats([[-3.0, 4.0, 50.0, 60.0]], &Device::default());
/// let clipped = clip_boxes_to_image(boxes, [30, 40]);
/// assert_eq!(clipped.try_into_vec_as::<f32>().unwrap(), [0.0, 4.0, 40.0, 30.0]);
/// ```
///
/// # Panics
///
/// If [`try_clip_boxes_to_image`] returns an error, with its text.
pub fn clip_boxes_to_image(boxes: Tensor<2>, image_size: [usize; 2]) -> Tensor<2> {
    or_panic(try_clip_boxes_to_image(boxes, image_size))
}

/// Fallible form of [`clip_boxes_to_image`].
///
/// # Errors
///
/// `RoiError::Shape`: `boxes` is not `[K, 4]`.
pub fn try_clip_boxes_to_image(boxes: Tensor<2>, image_size: [usize; 2]) -> Result<Tensor<2>, DetectionError> {
    let count = arguments::boxes("boxes", &boxes)?;
    if count == 0 {
        return Ok(boxes);
    }
    let [height, width] = image_size.map(|size| size as f64);
    let limits = TensorData::new(vec![width, height, width, height], [1, 4]);
    let limits = Tensor::<2>::from_data(limits, (&boxes.device(), boxes.dtype())).expand([count, 4]);
    // A minimum and a maximum would not do: of a number and NaN, backends return different ones.
    let below = boxes.clone().lower_elem(0.0);
    let boxes = boxes.mask_fill(below, 0.0);
    let above = boxes.clone().greater(limits.clone());
    Ok(boxes.mask_where(above, limits))
}

blocking_forms!(
    /// The indices of the boxes whose width and height are both at least `min_size`. Same semantics as
    /// `torchvision.ops.remove_small_boxes`.
    ///
    /// - `boxes`: `[K, 4]`, each `[x1, y1, x2, y2]`, of any float dtype.
    /// - `min_size`: in the unit of `boxes`. It and the sides are rounded to the dtype of `boxes`, as in torchvision.
    /// - Returns the indices of these boxes, ascending, in the device's integer dtype. A box with a NaN coordinate is
    ///   not among them.
    ///
    /// The boxes are read back to the host.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::remove_small_boxes;
    ///
    /// let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 0.5, 9.0], [0.0, 0.0, 1.0, 1.0]], &Device::default());
    /// let large = remove_small_boxes(boxes.clone(), 1.0);
    /// assert_eq!(boxes.select(0, large).dims(), [1, 4]);
    /// ```
    pub async fn remove_small_boxes(boxes: Tensor<2>, min_size: f64) -> Result<Tensor<1, Int>, DetectionError> {
        //! Async form of [`remove_small_boxes`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! - `RoiError::Shape`: `boxes` is not `[K, 4]`.
        //! - `RoiError::Option`: `min_size` is NaN.

        arguments::boxes("boxes", &boxes)?;
        arguments::not_nan("min_size", min_size)?;
        let dtype = boxes.dtype();
        let host_boxes = host::read_boxes(&boxes).await?;
        let large: Vec<usize> = (0..host_boxes.len())
            .filter(|&index| host::is_large(&host_boxes[index], min_size, dtype))
            .collect();
        Ok(host::indices(&large, &boxes.device()))
    }
);

/// The columns of a box's two coordinates along an axis: 0 for x, 1 for y, 2 for z. Boxes are `[x1, y1, x2, y2]` or
/// `[x1, y1, x2, y2, z1, z2]`.
pub(crate) const fn ends(axis: usize) -> [usize; 2] {
    [[0, 2], [1, 3], [4, 5]][axis]
}

/// One coordinate of each box, `[K, 1]`: 0 to 5 for x1, y1, x2, y2, z1 and z2.
pub(super) fn column(boxes: &Tensor<2>, column: usize) -> Tensor<2> {
    boxes.clone().slice_dim(1, column..column + 1)
}

/// The length of each box along an axis, `[K, 1]`.
pub(super) fn length(boxes: &Tensor<2>, axis: usize) -> Tensor<2> {
    let [start, end] = ends(axis);
    column(boxes, end) - column(boxes, start)
}

/// The area of each box of 4 columns, or the volume of each box of 6, `[K]`.
fn measures<const COLUMNS: usize>(boxes: Tensor<2>) -> Result<Tensor<1>, DetectionError> {
    let count = arguments::rows::<COLUMNS>("boxes", &boxes)?;
    let boxes = upcast(boxes);
    Ok(product::<COLUMNS>(|axis| length(&boxes, axis)).reshape([count]))
}

/// The product of the lengths along all axes of boxes that have this many columns.
fn product<const COLUMNS: usize>(length: impl Fn(usize) -> Tensor<2>) -> Tensor<2> {
    (1..COLUMNS / 2).fold(length(0), |product, axis| product * length(axis))
}

/// The length of the intersection along an axis, of each box of `left` with each of `right`, `[N, M]`.
fn overlap(left: &Tensor<2>, right: &Tensor<2>, axis: usize, shape: [usize; 2]) -> Tensor<2> {
    let of_left = |index| column(left, index).expand(shape);
    let of_right = |index| column(right, index).reshape([1, shape[1]]).expand(shape);
    let [start, end] = ends(axis);
    let start = of_left(start).max_pair(of_right(start));
    let end = of_left(end).min_pair(of_right(end));
    upcast(end - start).clamp_min(0.0)
}

/// Boxes in the dtype that areas are computed in.
fn upcast(boxes: Tensor<2>) -> Tensor<2> {
    let dtype = upcast_dtype(boxes.dtype());
    cast(boxes, dtype)
}

/// The dtype that boxes of these two dtypes are computed in together.
pub(super) fn common_dtype(left: DType, right: DType) -> DType {
    match (left, right) {
        (DType::F64, _) | (_, DType::F64) => DType::F64,
        _ if left == right => upcast_dtype(left),
        _ => DType::F32,
    }
}

/// A tensor in another dtype.
pub(super) fn cast<const D: usize>(tensor: Tensor<D>, dtype: DType) -> Tensor<D> {
    if tensor.dtype() == dtype {
        return tensor;
    }
    tensor.cast(dtype)
}

/// The dtype of what is computed from boxes of `dtype`, such as areas and IoU.
pub(crate) fn upcast_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ => dtype,
    }
}
