//! An average, as two products: `W_y · F`, then `W_x` times each of its rows.

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Shape;

use super::channels_last::ChannelsLast;
use super::matrices::{product, weight_matrices};
use super::planned::{PlannedGroup, Values};
use super::schedule::PoolPlan;
use super::tensors::Number;
use crate::geometry::plan::{AxisPlan, Read, Weights};

impl<R: Number> PoolPlan<R> for Weights<R> {
    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, regions: &[PlannedGroup<Self>]) -> FloatTensor<B> {
        let [y, x] = &regions[0].plan;
        let (rows, columns, channels) = (y.count(), x.count(), pixels.channels);
        let axes = [y, x].map(weight_matrices);
        let inside = product(pixels, axes.each_ref(), &axes[0].weights, &axes[1].weights);
        let inside = B::float_reshape(inside, Shape::new([1, rows * columns, channels]));
        if values.outside == 0.0 {
            return inside;
        }
        let outside = outside(y, x, values.outside);
        B::float_add(inside, pixels.constant(outside, [1, rows * columns, 1]))
    }
}

/// What samples out of bounds add to each output element: `v * (1 - m_y mᵀ_x)`.
fn outside<R: Number>(y: &Weights<R>, x: &Weights<R>, value: f64) -> Vec<R> {
    let row = |read_y: &Read<R>| {
        let share_y: f64 = read_y.share.into();
        let element = move |read_x: &Read<R>| R::from_f64(value * (1.0 - share_y * read_x.share.into()));
        x.reads.iter().map(element)
    };
    y.reads.iter().flat_map(row).collect()
}
