//! `tube_align`: boxes that move from frame to frame.

use burn::tensor::{Int, IntDType, Tensor};

use crate::backend::is_host;
use crate::error::{RoiError, or_panic};
use crate::ops::{RoiAlignConfig, call};
use crate::regions::{Rois, reshaped, shape};

/// Samples tubes of videos: [`roi_align`](crate::roi_align()) of each frame, with a box of its own.
///
/// - `features`: `[N, C, T, H, W]`, the maps of T frames of N videos.
/// - `boxes`: `[K, T, 4]`, for each tube a box `[x1, y1, x2, y2]` in each frame, in pixels of the frame.
///   `spatial_scale` turns them into pixels of the map.
/// - `batch_indices`: `[K]`, the video of each tube, of any integer dtype.
/// - Returns `[K, C, T, P, Q]`.
///
/// Action detectors such as SlowFast take one box for all frames, and the mean of the maps over time before it:
/// `roi_align(features.mean_dim(2).squeeze_dim(2), &rois, config)`.
///
/// Devices, dtypes, precision and the treatment of wrong boxes are those of [`roi_align`](crate::roi_align()). In an
/// error about a box, row `k * T + t` is the box of tube k in frame t. The features are copied once, frame by frame.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi::{RoiAlignConfig, tube_align};
///
/// let device = Device::default();
/// let features = Tensor::<5>::ones([1, 8, 3, 16, 16], &device);
/// // A box that moves to the right.
/// let boxes = [[[0.0, 0.0, 64.0, 64.0], [16.0, 0.0, 80.0, 64.0], [32.0, 0.0, 96.0, 64.0]]];
/// let videos = Tensor::<1, Int>::from_ints([0], &device);
/// let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(1.0 / 16.0).with_aligned(true);
/// let tubes = tube_align(features, Tensor::from_floats(boxes, &device), videos, config);
/// assert_eq!(tubes.dims(), [1, 8, 3, 7, 7]);
/// ```
///
/// # Panics
///
/// If [`try_tube_align`] returns an error, with its text.
pub fn tube_align(
    features: Tensor<5>,
    boxes: Tensor<3>,
    batch_indices: Tensor<1, Int>,
    config: impl Into<RoiAlignConfig>,
) -> Tensor<5> {
    or_panic(try_tube_align(features, boxes, batch_indices, config))
}

/// Fallible form of [`tube_align`]: returns an error instead of panicking.
///
/// # Errors
///
/// - [`RoiError::Shape`]: `features` have no frame, or `boxes` is not `[K, T, 4]`, with the T of `features`.
/// - [`RoiError::Count`]: `batch_indices` does not have one index for each tube.
/// - All errors of [`try_roi_align`](crate::try_roi_align), for the same reasons.
pub fn try_tube_align(
    features: Tensor<5>,
    boxes: Tensor<3>,
    batch_indices: Tensor<1, Int>,
    config: impl Into<RoiAlignConfig>,
) -> Result<Tensor<5>, RoiError> {
    let [videos, channels, frames, height, width] = features.dims();
    let found = features.shape();
    shape("features", &found, "[N, C, T, H, W], with T above 0", frames > 0)?;
    let found = boxes.shape();
    let tubes = found[0];
    let fits = found[1] == frames && found[2] == 4;
    shape("boxes", &found, "[K, T, 4], with the T of `features`", fits)?;
    let device = batch_indices.device();
    // Checked before they become indices of frames, so that an error has the tube's row and index.
    let of_tubes = Rois::try_new(Tensor::<2>::zeros([tubes, 4], &device), batch_indices.clone())?;
    if is_host(&device) {
        of_tubes.validate(videos)?;
    }
    // A dtype below 32 bits does not hold the index of every frame.
    let batch_indices = match batch_indices.dtype().size() {
        ..4 => batch_indices.cast(IntDType::I32),
        _ => batch_indices,
    };
    let below = batch_indices.clone().lower_elem(0);
    let is_wrong = below.bool_or(batch_indices.clone().greater_equal_elem(videos as i64));
    // Frame t of video n is image n * T + t. The product of a wrong index could be a right one; video N does not exist.
    let in_video = Tensor::<1, Int>::arange(0..frames as i64, (&device, batch_indices.dtype()));
    let first = batch_indices
        .mask_fill(is_wrong, videos as i64)
        .mul_scalar(frames as i64);
    let first = first.unsqueeze_dim::<2>(1);
    let images = (first + in_video.unsqueeze_dim::<2>(0)).reshape([tubes * frames]);
    let rois = Rois::try_new(reshaped(boxes, [tubes * frames, 4]), images)?;
    let maps = reshaped(features.swap_dims(1, 2), [videos * frames, channels, height, width]);
    let config = config.into();
    let pooled = call::pool_tensor(maps, &rois, None, &config)?;
    let [rows, columns] = config.output_size;
    Ok(reshaped(pooled, [tubes, frames, channels, rows, columns]).swap_dims(1, 2))
}
