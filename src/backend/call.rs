//! What kernels take of a call besides a map.

use ::burn::backend::tensor::{FloatTensor, IntTensor};
use ::burn::backend::{Backend, ExtensionType, TensorMetadata};
use ::burn::tensor::Shape;

use super::{HostRegions, RegionKernels, output_shape, with_fusion as burn};
use crate::geometry::operator::RegionOperator;
use crate::geometry::options::Reduction;

/// The regions of a call, what is computed of them, and the shape of the features that they lie on.
#[derive(Debug, Clone, ExtensionType)]
#[extension_type(fusion: cfg(feature = "cube"))]
pub struct RegionCall<B: Backend> {
    /// `[K, columns]`, with the columns of the operator, of f32 or of the dtype of the features.
    pub boxes: FloatTensor<B>,
    /// `[K]`.
    pub batch_indices: IntTensor<B>,
    /// Both of them, read to the host and checked. `None` if there are no regions, and on a device that is not of the
    /// kind `Host`.
    pub regions: Option<HostRegions>,
    pub operator: RegionOperator,
    /// `[N, C, H, W]`.
    pub features_shape: [usize; 4],
}

impl<B: Backend> RegionCall<B> {
    /// The call on another level of a pyramid.
    pub fn on_level(&self, features: &FloatTensor<B>, operator: RegionOperator) -> Self {
        Self {
            operator,
            features_shape: features.shape().dims(),
            ..self.clone()
        }
    }

    /// The shape `[K, channels, P, Q]` of the output.
    pub fn output_shape(&self) -> Shape {
        output_shape(self.features_shape, self.boxes.shape()[0], &self.operator)
    }

    /// The regions, on a device of the kind `Host`.
    pub fn host_regions(&self) -> &HostRegions {
        self.regions
            .as_ref()
            .expect("the regions of a call on the host are read")
    }
}

impl<B: RegionKernels> RegionCall<B> {
    /// The gradient of features from that of the output. `features` are there where the operator takes a maximum.
    pub fn features_gradient(mut self, gradient: FloatTensor<B>, features: Option<FloatTensor<B>>) -> FloatTensor<B> {
        self.operator = self.operator.gradient_operator();
        match self.operator.reduction {
            Reduction::Average => B::average_gradient(gradient, self),
            _ => B::maximum_gradient(gradient, features.expect("the features of a maximum are there"), self),
        }
    }

    /// The gradient `[K, columns]` of boxes from that of the output. `features` are there where what is read moves with
    /// boxes.
    pub fn boxes_gradient(self, gradient: FloatTensor<B>, features: Option<FloatTensor<B>>) -> FloatTensor<B> {
        if !self.operator.moves_with_boxes() {
            return B::float_zeros(self.boxes.shape(), &self.boxes.device(), self.boxes.dtype().into());
        }
        B::boxes_gradient(
            gradient,
            features.expect("the features of a tracked box are there"),
            self,
        )
    }
}

/// The levels of a feature pyramid after the finest one, for a kernel that takes all of them.
///
/// WebGPU promises eight buffers to a kernel: four maps, the boxes, the batch indices, the output, and CubeCL's own, of
/// shapes and scalars. It is an enum, since Burn's macro for fusion takes no list of tensors.
#[derive(Debug, Clone, ExtensionType)]
#[extension_type(fusion: cfg(feature = "cube"))]
pub enum CoarserLevels<B: Backend> {
    One(FloatTensor<B>),
    Two(FloatTensor<B>, FloatTensor<B>),
    Three(FloatTensor<B>, FloatTensor<B>, FloatTensor<B>),
}

impl<B: Backend> CoarserLevels<B> {
    /// The coarser of these levels, if one to three are.
    pub fn of(levels: &[FloatTensor<B>]) -> Option<Self> {
        match levels.get(1..)? {
            [first] => Some(Self::One(first.clone())),
            [first, second] => Some(Self::Two(first.clone(), second.clone())),
            [first, second, third] => Some(Self::Three(first.clone(), second.clone(), third.clone())),
            _ => None,
        }
    }

    /// All levels, from the finest to the coarsest.
    pub fn with(self, finest: FloatTensor<B>) -> Vec<FloatTensor<B>> {
        match self {
            Self::One(first) => vec![finest, first],
            Self::Two(first, second) => vec![finest, first, second],
            Self::Three(first, second, third) => vec![finest, first, second, third],
        }
    }
}

/// An element of a volume's output that is the largest of its samples. It is not a maximum of maxima of slices, since a
/// sample lies between slices. So the operators of a call have each sample as an element.
#[derive(Debug, Clone, Copy)]
pub struct MaximumOfSamples {
    /// Depth, height and width of the output.
    pub output_size: [usize; 3],
    /// How many samples an element has along z, y and x.
    pub samples: [usize; 3],
    /// `Max` or `MaxFromZero`.
    pub reduction: Reduction,
}
