//! A point plan: each pixel of an element gets the element's gradient times its weight.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, Scatter};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::sum_rows::SumRows;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{ChannelGroup, PointWeights};

pub struct ScatterPoints;

impl<S: Sum> Scatter<S> for ScatterPoints {
    type Plan = PointWeights<S>;

    /// 4 MiB of f32.
    const PLAN_NUMBERS: usize = 1 << 20;

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        _simd: impl Simd,
        plan: &PointWeights<S>,
        band: &ChannelGroup,
        _columns: Range<usize>,
        gradient: &[[S; L]],
        _features: &impl Rows<S, L>,
        _scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        // A copy, which the compiler keeps in a register.
        for (read, gradient) in plan.elements(band).zip(gradient.iter().copied()) {
            let mut weights = &plan.weights[read.weights];
            for span in read.spans {
                let (span_weights, rest) = weights.split_at(span.count as usize);
                weights = rest;
                for (&weight, sum) in span_weights.iter().zip(sums.row(span.row as usize, span.columns())) {
                    S::add_weighted(sum, weight, &gradient);
                }
            }
        }
    }
}
