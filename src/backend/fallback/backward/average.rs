//! An average: an element is one row of weights.

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;

use super::reads::{Axis, Linear, Reads};
use crate::backend::fallback::average::dense;
use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::planned::Values;
use crate::backend::fallback::tensors::Sum;
use crate::geometry::plan::{AxisPlan, Weights};

impl<R: Sum> Linear<R> for Weights<R> {
    const READS_FEATURES: bool = false;

    fn reads<B: Backend>(
        plan: &[Self; 2],
        _values: Values,
        _pixels: Option<&ChannelsLast<B>>,
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let [y, x] = plan.each_ref().map(matrices);
        vec![Reads { y, x, gradient }]
    }
}

fn matrices<R: Sum>(axis: &Weights<R>) -> Axis<R> {
    let window = axis.window();
    let matrix = |numbers: &Vec<R>| dense(axis, numbers, &window);
    let has_slopes = !axis.slopes[0].is_empty();
    Axis {
        weights: matrix(&axis.weights),
        slopes: has_slopes.then(|| axis.slopes.each_ref().map(matrix)),
        window,
    }
}
