//! [`Backward`] and [`PyramidBackward`]: the gradients of a call, by hand.

use std::ops::Range;

use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{Shape, Slice};

use super::arguments::{Arguments, check_like_output, check_pyramid, joined, of_part, reads_nothing, with_offsets};
use super::operator_config::Operates;
use super::turn::Turn;
use crate::backend::{RegionCall, RoiBackend, of_channels};
use crate::error::RoiError;
use crate::geometry::operator::RegionOperator;
use crate::memory;
use crate::regions::Regions;

/// The gradients of a call. Its functions compute them; the arguments are already checked.
/// [`primitive::backward`](crate::primitive::backward()) returns it.
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
    /// The gradient of the output.
    gradient: FloatTensor<B>,
    /// What a backend pools by itself: one part, or one for each class of `deform_ps_roi_pool`.
    parts: Vec<PartBackward<B>>,
    turn: Option<Turn<B>>,
    /// The shape of the features.
    shape: Shape,
}

impl<B: RoiBackend> Backward<B> {
    /// The gradient of the features, `[N, C, H, W]`, in their dtype.
    pub fn features(&self) -> FloatTensor<B> {
        let of_parts = self.parts.iter().map(PartBackward::features);
        let mut gradient = joined::<B>(of_parts.collect());
        let mut unread = self.shape.clone();
        unread[1] -= gradient.shape()[1];
        if unread[1] > 0 {
            let zeros = B::float_zeros(unread, &gradient.device(), gradient.dtype().into());
            gradient = B::float_cat(vec![gradient, zeros], 1);
        }
        match &self.turn {
            Some(turn) => turn.features_gradient(gradient),
            None => gradient,
        }
    }

    /// The gradient of the boxes, in the order of their columns and in their dtype: `[K, 4]`, or `[K, 5]` for rotated
    /// boxes. It is 0 for an operator that reads nearest or whole pixels, which do not move with a box.
    pub fn boxes(&self) -> FloatTensor<B> {
        let of_parts = self.parts.iter().map(PartBackward::boxes);
        let gradient = of_parts.reduce(B::float_add).expect("there is a part");
        match &self.turn {
            Some(turn) => turn.boxes_gradient(gradient, self.gradient.clone(), self.parts[0].pooled()),
            None => gradient,
        }
    }

    /// The gradient of the offsets, `[K, 2, rows, columns]`, or `[K, 2 * classes, rows, columns]` for
    /// [`DeformPsRoiPoolConfig`](crate::DeformPsRoiPoolConfig). `None` if the call had no offsets.
    pub fn offsets(&self) -> Option<FloatTensor<B>> {
        let of_parts = self.parts.iter().map(PartBackward::offsets);
        of_parts.collect::<Option<_>>().map(joined::<B>)
    }
}

/// The gradients of what a backend pools by itself.
#[derive(Debug)]
struct PartBackward<B: RoiBackend> {
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    call: RegionCall<B>,
    /// Whether there is no image to read, or no output.
    reads_nothing: bool,
}

impl<B: RoiBackend> PartBackward<B> {
    fn features(&self) -> FloatTensor<B> {
        if self.reads_nothing {
            return zeros_like::<B>(&self.features);
        }
        let call = self.call.clone();
        call.features_gradient(self.gradient.clone(), Some(self.features.clone()))
    }

    fn boxes(&self) -> FloatTensor<B> {
        self.columns(0..self.call.operator.region_kind().box_columns())
    }

    fn offsets(&self) -> Option<FloatTensor<B>> {
        let kind = self.call.operator.region_kind();
        let columns = kind.box_columns()..kind.columns();
        let [rows, of_a_row] = kind.offset_parts();
        let shape = Shape::new([self.call.boxes.shape()[0], 2, rows, of_a_row]);
        (!columns.is_empty()).then(|| B::float_reshape(self.columns(columns), shape))
    }

    /// Columns of the gradient of regions.
    fn columns(&self, columns: Range<usize>) -> FloatTensor<B> {
        let (call, features) = (&self.call, &self.features);
        let gradient = match self.reads_nothing {
            true => zeros_like::<B>(&call.boxes),
            false => call
                .clone()
                .boxes_gradient(self.gradient.clone(), Some(features.clone())),
        };
        if columns.len() == call.operator.region_kind().columns() {
            return gradient;
        }
        B::float_slice(gradient, &[Slice::full(), Slice::from(columns)])
    }

    /// What the call pools. Regions of other levels of a pyramid give 0.
    fn pooled(&self) -> FloatTensor<B> {
        let zeros = zeros_like::<B>(&self.gradient);
        if self.reads_nothing {
            return zeros;
        }
        B::pool_level(zeros, self.features.clone(), self.call.clone())
    }
}

/// The gradients of a call on a feature pyramid.
/// [`primitive::multi_scale_backward`](crate::primitive::multi_scale_backward) returns it. There is no gradient of
/// offsets.
#[derive(Debug)]
pub struct PyramidBackward<B: RoiBackend> {
    levels: Vec<Backward<B>>,
}

impl<B: RoiBackend> PyramidBackward<B> {
    /// The gradients of the features, `[N, C, Hᵢ, Wᵢ]` for each level, in their dtype.
    pub fn features(&self) -> Vec<FloatTensor<B>> {
        self.levels.iter().map(Backward::features).collect()
    }

    /// The gradient of the boxes in their dtype: `[K, 4]`, or `[K, 5]` for rotated boxes.
    pub fn boxes(&self) -> FloatTensor<B> {
        // A box belongs to one level; those of other levels give it 0.
        let of_levels = self.levels.iter().map(Backward::boxes);
        of_levels.reduce(B::float_add).expect("there is a level")
    }

    /// The gradients of one map.
    pub(super) fn of_one_map(mut self) -> Backward<B> {
        self.levels.remove(0)
    }
}

/// The gradients of a call from that of its output: one operator for each level of a pyramid.
pub fn of_call<B: RoiBackend>(
    gradient: FloatTensor<B>,
    arguments: Arguments<B>,
    config: &impl Operates,
    operators: &[RegionOperator],
) -> Result<PyramidBackward<B>, RoiError> {
    refuse_second_derivatives::<B>(&gradient, &arguments)?;
    let given: Vec<_> = arguments.features.iter().map(TensorMetadata::shape).collect();
    let (device, dtype) = (arguments.features[0].device(), arguments.features[0].dtype());
    let (arguments, turn) = Turn::of(arguments, config)?;
    let parts = config.parts(arguments)?;
    let parts = parts.into_iter().map(|part| with_offsets(part, &operators[0]));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let output = check_parts::<B>(&parts, operators)?;
    check_like_output::<B>("output_gradient", &gradient, &output, ("features", &device), dtype)?;
    for shape in &given {
        // Expanded features have less memory than their gradient will have.
        memory::check::<B>("gradient of `features`", shape, dtype, &device)?;
    }
    let of_turned = turn.as_ref().map(|turn| turn.pooled_gradient(gradient.clone()));
    let of_pooled = of_turned.unwrap_or_else(|| gradient.clone());
    let mut levels: Vec<_> = given
        .into_iter()
        .map(|shape| Backward {
            gradient: gradient.clone(),
            parts: Vec::new(),
            turn: turn.clone(),
            shape,
        })
        .collect();
    let channels = output[1] / parts.len();
    for (number, (features, regions)) in parts.into_iter().enumerate() {
        let on_host = regions.on_host(features[0].shape()[0]);
        let on_host = on_host.map_err(|error| of_part(error, number, &operators[0]))?;
        let first = number * channels;
        let gradient = of_channels::<B>(&of_pooled, first..first + channels);
        for ((level, features), &operator) in levels.iter_mut().zip(features).zip(operators) {
            level.parts.push(PartBackward {
                reads_nothing: reads_nothing(&features.shape(), &gradient.shape()),
                gradient: gradient.clone(),
                call: regions.call(on_host.clone(), operator, &features.shape()),
                features,
            });
        }
    }
    Ok(PyramidBackward { levels })
}

fn refuse_second_derivatives<B: RoiBackend>(
    gradient: &FloatTensor<B>,
    arguments: &Arguments<B>,
) -> Result<(), RoiError> {
    let others = [("output_gradient", gradient), ("boxes", &arguments.regions.boxes)];
    let others = others
        .into_iter()
        .chain(arguments.offsets.as_ref().map(|offsets| ("offsets", offsets)));
    let mut all = others.chain(arguments.features.iter().map(|level| ("features", level)));
    match all.find(|(_, tensor)| B::is_autodiff(tensor)) {
        Some((argument, _)) => Err(RoiError::SecondDerivative { argument }),
        None => Ok(()),
    }
}

/// Checks the parts of a call, and returns the shape of the output, which has the channels of all.
fn check_parts<B: RoiBackend>(
    parts: &[(Vec<FloatTensor<B>>, Regions<B>)],
    operators: &[RegionOperator],
) -> Result<Shape, RoiError> {
    let mut output = Shape::new([0; 4]);
    for (features, regions) in parts {
        let of_part = check_pyramid::<B>(features, regions, operators)?;
        output = Shape::new([of_part[0], output[1] + of_part[1], of_part[2], of_part[3]]);
    }
    Ok(output)
}

fn zeros_like<B: RoiBackend>(tensor: &FloatTensor<B>) -> FloatTensor<B> {
    B::float_zeros(tensor.shape(), &tensor.device(), tensor.dtype().into())
}
