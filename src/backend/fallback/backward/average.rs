//! An average: an element is one row of weights.

use burn::backend::Backend;
use burn::backend::tensor::FloatTensor;

use super::reads::{Linear, Reads};
use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::matrices::of_weights;
use crate::backend::fallback::planned::Values;
use crate::backend::fallback::tensors::Sum;
use crate::geometry::plan::Weights;

impl<R: Sum> Linear<R> for Weights<R> {
    const READS_FEATURES: bool = false;

    fn reads<B: Backend>(
        plan: &[Self; 2],
        _values: Values,
        _pixels: Option<&ChannelsLast<B>>,
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>> {
        let [y, x] = plan.each_ref().map(of_weights);
        vec![Reads { y, x, gradient }]
    }
}
