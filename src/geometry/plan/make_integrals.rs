//! Plans of averages over bins of the bilinear map, made from the functions that kernels call. Compiled for both types
//! of coordinates: `Real` is the parent's.

use super::Real;
use super::integrals::{self, IntegralRule};
use crate::geometry::plan::{Run, WeightSlopes, Weights};

/// Plans an average.
pub fn weights(rule: &IntegralRule, ends: [Real; 2], run: Run) -> Weights<Real> {
    let mut plan = Weights::with_capacity(run.elements.len());
    let extent = integrals::extent(rule, ends[0], ends[1], run.count);
    for element in run.elements {
        let bin = integrals::bin(&extent, element);
        let pixels = integrals::pixels(&bin, run.size);
        let first = plan.weights.len();
        let weights = (pixels.first..pixels.end).map(|pixel| integrals::weight(&bin, pixel));
        plan.weights.extend(weights);
        let share = plan.weights[first..].iter().sum();
        plan.push(pixels.first as usize..pixels.end.max(pixels.first) as usize, share);
    }
    plan
}

/// Plans an average, and how its weights move with the region.
pub fn weight_slopes(rule: &IntegralRule, ends: [Real; 2], run: Run) -> WeightSlopes<Real> {
    let weights = weights(rule, ends, run.clone());
    let mut moved = [0, 1].map(|_| Vec::with_capacity(weights.weights.len()));
    let extent = integrals::extent(rule, ends[0], ends[1], run.count);
    for (element, read) in run.elements.zip(&weights.reads) {
        let bin = integrals::bin(&extent, element);
        for pixel in read.pixels.clone() {
            let slope = integrals::weight_slope(rule, &bin, element, run.count, pixel as u32);
            moved[0].push(slope.low);
            moved[1].push(slope.high);
        }
    }
    WeightSlopes { weights, slopes: moved }
}
