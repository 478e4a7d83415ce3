//! Orientation channels that turn with their box, as those of `riroi_align_rotated`.

use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{TensorMetadata, get_or_init_device_settings};
use burn::tensor::{FloatDType, IntDType, Scalar, Shape, Slice};

use super::arguments::{Arguments, check_features};
use super::operator_config::Operates;
use crate::backend::{RoiBackend, cast, wide};
use crate::error::RoiError;
use crate::regions::{same_dtype, shape};

/// How the orientation channels of a call turn. A backend computes the call in the dtype of `boxes`.
#[derive(Debug, Clone)]
pub struct Turn<B: RoiBackend> {
    orientations: usize,
    /// `[K, 5]`, of f32 for features of f16 and bf16.
    boxes: FloatTensor<B>,
    /// The dtypes of the features and of the boxes that were given.
    dtype: FloatDType,
    boxes_dtype: FloatDType,
}

/// Which orientations each orientation of a region is mixed from, as rows of `[K * C * O, P * Q]`.
struct Mix<B: RoiBackend> {
    first: IntTensor<B>,
    next: IntTensor<B>,
    /// The share of `next`, `[K, 1, 1, 1]`.
    fraction: FloatTensor<B>,
}

impl<B: RoiBackend> Turn<B> {
    /// The call that a backend computes; and how its channels turn, if they do.
    pub fn of(mut arguments: Arguments<B>, config: &impl Operates) -> Result<(Arguments<B>, Option<Self>), RoiError> {
        let Some(orientations) = config.orientations() else {
            return Ok((arguments, None));
        };
        for level in &arguments.features {
            shape(
                "features",
                &level.shape(),
                "[N, C, H, W]",
                level.shape().num_dims() == 4,
            )?;
            let channels = level.shape()[1];
            if !channels.is_multiple_of(orientations) {
                return Err(RoiError::ChannelGroups {
                    channels,
                    divisor: orientations,
                    of: "orientation",
                });
            }
            // Checked in its own dtype: what a device does not pool is an error, even if it converts it.
            check_features::<B>(level, &arguments.regions)?;
            same_dtype("features", level.dtype(), "features[0]", arguments.features[0].dtype())?;
        }
        let (dtype, boxes_dtype) = (arguments.features[0].dtype(), arguments.regions.boxes.dtype());
        for level in &mut arguments.features {
            *level = cast::<B>(level.clone(), wide(level.dtype()));
        }
        arguments.regions.boxes = cast::<B>(arguments.regions.boxes, wide(boxes_dtype));
        let turn = Self {
            orientations,
            boxes: arguments.regions.boxes.clone(),
            dtype: dtype.into(),
            boxes_dtype: boxes_dtype.into(),
        };
        Ok((arguments, Some(turn)))
    }

    /// The output of the call from what a backend pooled.
    pub fn apply(&self, pooled: FloatTensor<B>) -> FloatTensor<B> {
        cast::<B>(self.mixed(pooled, false), self.dtype)
    }

    /// The gradient of what the backend pooled from that of the output.
    pub fn pooled_gradient(&self, gradient: FloatTensor<B>) -> FloatTensor<B> {
        self.mixed(cast::<B>(gradient, wide(self.dtype.into())), true)
    }

    /// The gradient of the features in their own dtype.
    pub fn features_gradient(&self, gradient: FloatTensor<B>) -> FloatTensor<B> {
        cast::<B>(gradient, self.dtype)
    }

    /// The gradient of the boxes in their own dtype, from that of what a backend pooled, and what the angle adds to it
    /// by the shares of both orientations.
    pub fn boxes_gradient(
        &self,
        boxes: FloatTensor<B>,
        output_gradient: FloatTensor<B>,
        pooled: FloatTensor<B>,
    ) -> FloatTensor<B> {
        if pooled.shape().num_elements() == 0 {
            return cast::<B>(boxes, self.boxes_dtype);
        }
        let gradient = cast::<B>(output_gradient, pooled.dtype().into());
        let mix = self.mix(&pooled.shape(), false);
        let sum = |rows: IntTensor<B>| {
            let product = B::float_mul(select::<B>(pooled.clone(), rows), gradient.clone());
            B::float_sum_dims(product, &[1, 2, 3])
        };
        let of_fraction = B::float_sub(sum(mix.next), sum(mix.first));
        let count = boxes.shape()[0];
        let of_angle = B::float_reshape(of_fraction, Shape::new([count, 1]));
        let of_angle = B::float_div_scalar(of_angle, Scalar::from(std::f64::consts::TAU));
        let of_angle = B::float_mul_scalar(of_angle, Scalar::from(self.orientations as f64));
        let of_angle = B::float_mask_fill(of_angle, self.unknown_angles(), Scalar::from(0.0));
        let column = [Slice::full(), Slice::from(4..5)];
        let sum = B::float_add(B::float_slice(boxes.clone(), &column), of_angle);
        cast::<B>(B::float_slice_assign(boxes, &column, sum), self.boxes_dtype)
    }

    /// Mixes the orientations of `[K, C * O, P, Q]`, or those that an orientation is part of.
    fn mixed(&self, tensor: FloatTensor<B>, transposed: bool) -> FloatTensor<B> {
        if tensor.shape().num_elements() == 0 {
            return tensor;
        }
        let Mix { first, next, fraction } = self.mix(&tensor.shape(), transposed);
        let rest = B::float_add_scalar(B::float_neg(fraction.clone()), Scalar::from(1.0));
        B::float_add(
            B::float_mul(select::<B>(tensor.clone(), first), rest),
            B::float_mul(select::<B>(tensor, next), fraction),
        )
    }

    fn mix(&self, shape: &Shape, transposed: bool) -> Mix<B> {
        let ([count, channels, ..], orientations) = (shape.dims::<4>(), self.orientations);
        let device = self.boxes.device();
        let dtype: IntDType = get_or_init_device_settings::<B>(&device).int_dtype;
        let scalar = |number: usize| Scalar::from(number as i64);
        let numbers = |count: usize| B::int_arange(0..count as i64, &device, dtype);

        let angles = B::float_mask_fill(self.angles(), self.unknown_angles(), Scalar::from(0.0));
        let turns = B::float_mul_scalar(angles, Scalar::from(orientations as f64));
        let turns = B::float_div_scalar(turns, Scalar::from(std::f64::consts::TAU));
        let whole = B::float_floor(turns.clone());
        let fraction = B::float_reshape(B::float_sub(turns, whole.clone()), Shape::new([count, 1, 1, 1]));
        // Held within the orientations, since the remainder of a large number may be rounded up to O.
        let whole = B::float_remainder_scalar(whole, Scalar::from(orientations as f64));
        let whole = B::float_clamp(whole, Scalar::from(0.0), Scalar::from((orientations - 1) as f64));
        let whole = B::float_into_int(whole, dtype);

        let own = B::int_reshape(numbers(orientations), Shape::new([1, orientations]));
        let (first, step) = match transposed {
            false => (B::int_add_scalar(B::int_sub(own, whole), scalar(orientations)), 1),
            true => (B::int_add(own, whole), orientations - 1),
        };
        let first = B::int_remainder_scalar(first, scalar(orientations));
        let next = B::int_add_scalar(first.clone(), scalar(step));
        let next = B::int_remainder_scalar(next, scalar(orientations));

        let groups = channels / orientations;
        let starts = B::int_mul_scalar(numbers(count * groups), scalar(orientations));
        let starts = B::int_reshape(starts, Shape::new([count, groups, 1]));
        let rows = |of_region: IntTensor<B>| {
            let of_region = B::int_reshape(of_region, Shape::new([count, 1, orientations]));
            B::int_reshape(B::int_add(of_region, starts.clone()), Shape::new([count * channels]))
        };
        Mix {
            first: rows(first),
            next: rows(next),
            fraction,
        }
    }

    /// The angles, `[K, 1]`.
    fn angles(&self) -> FloatTensor<B> {
        B::float_slice(self.boxes.clone(), &[Slice::full(), Slice::from(4..5)])
    }

    /// Where an angle is NaN, whose region counts as invalid, or above 1e30, where no bits are left for the fraction of
    /// a turn.
    fn unknown_angles(&self) -> BoolTensor<B> {
        let bool_dtype = get_or_init_device_settings::<B>(&self.boxes.device()).bool_dtype;
        let known = B::float_lower_elem(B::float_abs(self.angles()), Scalar::from(1e30), bool_dtype);
        B::bool_not(known)
    }
}

/// The rows of `[K * C * O, P * Q]`, as `[K, C * O, P, Q]`.
fn select<B: RoiBackend>(tensor: FloatTensor<B>, rows: IntTensor<B>) -> FloatTensor<B> {
    let shape = tensor.shape();
    let [count, channels, height, width] = shape.dims();
    let flat = B::float_reshape(tensor, Shape::new([count * channels, height * width]));
    B::float_reshape(B::float_select(flat, 0, rows), shape)
}
