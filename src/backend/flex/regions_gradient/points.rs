//! The gradient of boxes and offsets by point plans.

use std::ops::Range;

use super::pass::{PullRegion, PullScratch};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::pixels::Rows;
use crate::geometry::plan::{ChannelGroup, Planner, PointWeights};

/// A sum for each weight: its pixel times its element's gradient.
pub struct PullPoints;

impl<S: Sum> PullRegion<S> for PullPoints {
    type Plan = PointWeights<S>;

    fn sum_count(plan: &PointWeights<S>) -> usize {
        plan.weights.len()
    }

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        plan: &PointWeights<S>,
        group: &ChannelGroup,
        _columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        _scratch: &mut PullScratch<S, L>,
        sums: &mut [f64],
    ) {
        for (read, element_gradient) in plan.elements(group).zip(gradient) {
            let mut sums = sums[read.weights].iter_mut();
            for span in read.spans {
                for pixel in features.row(span.row as usize, span.columns()) {
                    *sums.next().expect("each pixel has a weight") += dot(pixel, element_gradient).into();
                }
            }
        }
    }

    fn region_gradient(planner: &Planner<S>, plan: &PointWeights<S>, sums: &[f64]) -> Vec<f64> {
        planner.region_gradient(plan, sums)
    }
}

/// The sum of the products of two pixels' channels.
#[inline(always)]
fn dot<S: Sum, const L: usize>(left: &[S; L], right: &[S; L]) -> S {
    let mut sum = S::default();
    for (&left, &right) in left.iter().zip(right) {
        sum += left * right;
    }
    sum
}
