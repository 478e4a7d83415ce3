//! [`Backward`]: the gradients of a call, by hand.

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;

use crate::backend::{BackwardCall, RoiBackend};

/// The gradients of a call whose arguments were checked: each is computed when it is asked for. Functions such as
/// [`primitive::roi_align_backward`](crate::primitive::roi_align_backward) make it.
///
/// ```
/// use burn::backend::Dispatch;
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlignConfig, Rois, primitive};
///
/// let device = Device::default();
/// let features = Tensor::<4>::ones([1, 8, 20, 30], &device);
/// let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[2.0, 3.0, 16.0, 12.0]], &device)]);
/// let output_gradient = Tensor::<4>::ones([1, 8, 7, 7], &device);
/// let backward = primitive::roi_align_backward::<Dispatch>(
///     output_gradient.into_dispatch(),
///     features.into_dispatch(),
///     rois.boxes().into_dispatch(),
///     rois.batch_indices().into_dispatch(),
///     RoiAlignConfig::new([7, 7]),
/// );
/// assert_eq!(Tensor::<4>::from_dispatch(backward.features()).dims(), [1, 8, 20, 30]);
/// assert_eq!(Tensor::<2>::from_dispatch(backward.boxes()).dims(), [1, 4]);
/// ```
#[derive(Debug)]
pub struct Backward<B: RoiBackend> {
    pub(super) gradient: FloatTensor<B>,
    pub(super) features: FloatTensor<B>,
    pub(super) call: BackwardCall<B>,
    /// Whether there is no image to read, or no output.
    pub(super) reads_nothing: bool,
}

impl<B: RoiBackend> Backward<B> {
    /// The gradient of the features, `[N, C, H, W]`.
    pub fn features(&self) -> FloatTensor<B> {
        if self.reads_nothing {
            return zeros_like::<B>(&self.features);
        }
        self.call
            .features_gradient(self.gradient.clone(), Some(self.features.clone()))
    }

    /// The gradient of the boxes, `[K, 4]` in the order of their columns. It is 0 where an operator reads nearest or
    /// whole pixels, which do not move with a box.
    pub fn boxes(&self) -> FloatTensor<B> {
        if self.reads_nothing {
            return zeros_like::<B>(&self.call.boxes);
        }
        self.call
            .boxes_gradient(self.gradient.clone(), Some(self.features.clone()))
    }
}

fn zeros_like<B: RoiBackend>(tensor: &FloatTensor<B>) -> FloatTensor<B> {
    B::float_zeros(tensor.shape(), &tensor.device(), tensor.dtype().into())
}
