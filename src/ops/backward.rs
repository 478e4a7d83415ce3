//! [`Backward`] and [`PyramidBackward`]: the gradients of a call, by hand.

use std::ops::Range;

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{Shape, Slice};

use super::call::{check_pyramid, reads_nothing};
use crate::backend::{BackwardCall, RoiBackend};
use crate::error::RoiError;
use crate::geometry::operator::RegionOperator;
use crate::memory;
use crate::regions::{Regions, same_device, shape};

/// The gradients of a call whose arguments were checked: each is computed when it is asked for.
/// [`primitive::backward`](crate::primitive::backward()) makes it.
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
/// let backward = primitive::backward::<Dispatch>(
///     output_gradient.into_dispatch(),
///     features.into_dispatch(),
///     (&rois).into(),
///     RoiAlignConfig::new([7, 7]),
/// );
/// assert_eq!(Tensor::<4>::from_dispatch(backward.features()).dims(), [1, 8, 20, 30]);
/// assert_eq!(Tensor::<2>::from_dispatch(backward.boxes()).dims(), [1, 4]);
/// ```
#[derive(Debug)]
pub struct Backward<B: RoiBackend> {
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    call: BackwardCall<B>,
    /// Whether there is no image to read, or no output.
    reads_nothing: bool,
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

    /// The gradient of the boxes in the order of their columns: `[K, 4]`, or `[K, 5]` of rotated ones. It is 0 where an
    /// operator reads nearest or whole pixels, which do not move with a box.
    pub fn boxes(&self) -> FloatTensor<B> {
        self.columns(0..self.call.operator.region_kind().box_columns())
    }

    /// The gradient of the offsets, `[K, 2, rows, columns]`; none for an operator or a call without them.
    pub fn offsets(&self) -> Option<FloatTensor<B>> {
        let kind = self.call.operator.region_kind();
        let columns = kind.box_columns()..kind.columns();
        let [rows, of_a_row] = kind.offset_parts();
        let shape = Shape::new([self.call.boxes.shape()[0], 2, rows, of_a_row]);
        (!columns.is_empty()).then(|| B::float_reshape(self.columns(columns), shape))
    }

    /// Columns of the gradient of regions.
    fn columns(&self, columns: Range<usize>) -> FloatTensor<B> {
        let gradient = match self.reads_nothing {
            true => zeros_like::<B>(&self.call.boxes),
            false => self
                .call
                .boxes_gradient(self.gradient.clone(), Some(self.features.clone())),
        };
        if columns.len() == self.call.operator.region_kind().columns() {
            return gradient;
        }
        B::float_slice(gradient, &[Slice::full(), Slice::from(columns)])
    }
}

/// The gradients of a call on a feature pyramid, as [`Backward`] has those of a call on one map.
/// [`primitive::multi_scale_backward`](crate::primitive::multi_scale_backward) makes it.
#[derive(Debug)]
pub struct PyramidBackward<B: RoiBackend> {
    levels: Vec<Backward<B>>,
}

impl<B: RoiBackend> PyramidBackward<B> {
    /// The gradients of the features, `[N, C, Hᵢ, Wᵢ]` for each level.
    pub fn features(&self) -> Vec<FloatTensor<B>> {
        self.levels.iter().map(Backward::features).collect()
    }

    /// The gradient of the boxes, `[K, 4]`.
    pub fn boxes(&self) -> FloatTensor<B> {
        // A box belongs to one level; those of other levels give it 0.
        let of_levels = self.levels.iter().map(Backward::boxes);
        of_levels.reduce(B::float_add).expect("there is a level")
    }
}

/// The gradients of a call from that of its output.
pub fn of_call<B: RoiBackend>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    regions: Regions<B>,
    operator: RegionOperator,
) -> Result<Backward<B>, RoiError> {
    let PyramidBackward { mut levels } = of_pyramid(gradient, vec![features], regions, vec![operator])?;
    Ok(levels.remove(0))
}

/// The gradients of a call on a pyramid: one operator for each level, of which there is at least one.
pub fn of_pyramid<B: RoiBackend>(
    gradient: FloatTensor<B>,
    features: Vec<FloatTensor<B>>,
    regions: Regions<B>,
    operators: Vec<RegionOperator>,
) -> Result<PyramidBackward<B>, RoiError> {
    refuse_second_derivatives::<B>(&gradient, &features, &regions)?;
    let output = check_pyramid::<B>(&features, &regions, &operators)?;
    check_gradient::<B>(&gradient, &features[0], &output)?;
    for level in &features {
        // Expanded features have less memory than their gradient will have.
        memory::check::<B>("gradient of `features`", &level.shape(), level.dtype(), &level.device())?;
    }
    let on_host = regions.on_host(features[0].shape()[0])?;
    let levels = features
        .into_iter()
        .zip(operators)
        .map(|(features, operator)| Backward {
            reads_nothing: reads_nothing(&features.shape(), &output),
            gradient: gradient.clone(),
            call: BackwardCall {
                boxes: regions.boxes.clone(),
                batch_indices: regions.batch_indices.clone(),
                regions: on_host.clone(),
                operator,
                shape: features.shape().dims(),
            },
            features,
        });
    Ok(PyramidBackward {
        levels: levels.collect(),
    })
}

fn refuse_second_derivatives<B: RoiBackend>(
    gradient: &FloatTensor<B>,
    features: &[FloatTensor<B>],
    regions: &Regions<B>,
) -> Result<(), RoiError> {
    let features = features.iter().map(|level| ("features", level));
    let others = [("output_gradient", gradient), ("boxes", &regions.boxes)];
    match others
        .into_iter()
        .chain(features)
        .find(|(_, tensor)| B::is_autodiff(tensor))
    {
        Some((argument, _)) => Err(RoiError::SecondDerivative { argument }),
        None => Ok(()),
    }
}

/// Checks that a gradient goes with the output.
fn check_gradient<B: RoiBackend>(
    gradient: &FloatTensor<B>,
    features: &FloatTensor<B>,
    output: &Shape,
) -> Result<(), RoiError> {
    let found = gradient.shape();
    shape(
        "output_gradient",
        &found,
        "[K, channels, P, Q], that of the operator's output",
        found == *output,
    )?;
    same_device("output_gradient", &gradient.device(), "features", &features.device())?;
    let (dtype, expected) = (gradient.dtype(), features.dtype());
    if dtype != expected {
        return Err(RoiError::DType {
            argument: "output_gradient",
            dtype,
            expected: format!("{expected:?}, as `features` is"),
        });
    }
    Ok(())
}

fn zeros_like<B: RoiBackend>(tensor: &FloatTensor<B>) -> FloatTensor<B> {
    B::float_zeros(tensor.shape(), &tensor.device(), tensor.dtype().into())
}
