//! Plans for host executors, from the same functions that kernels call.

use std::ops::Range;

use super::Real;
use super::area::{self, AreaRule};
use super::axis::{self, AxisRule};
use super::bins::{self, BinRule};
use crate::geometry::convention::{
    AreaRange, Arithmetic, AxisConvention, BinDivision, Bounds, Interpolation, LevelConvention, RegionBins, Sampling,
};
use crate::geometry::plan::{Coordinate, Samples, WeightedTaps, Weights};

impl WeightedTaps<Real> {
    /// One pixel.
    fn one(pixel: usize, weight: Real) -> Self {
        Self {
            low: pixel,
            high: pixel,
            low_weight: weight,
            high_weight: 0.0,
        }
    }
}

impl Coordinate for Real {
    type AxisRule = AxisRule;
    type BinRule = BinRule;
    type AreaRule = AreaRule;

    fn area_rule(areas: &AreaRange) -> AreaRule {
        // Numbers for ends that are infinite: some device compilers take it that there are no infinities.
        AreaRule {
            from: (areas.from as Real).min(Real::MAX),
            below: (areas.below as Real).min(Real::MAX),
        }
    }

    fn in_range(areas: &AreaRange, [y1, y2]: [Real; 2], [x1, x2]: [Real; 2]) -> bool {
        area::in_range(&Self::area_rule(areas), y1, x1, y2, x2)
    }

    fn least_area(convention: &LevelConvention, level: i32) -> Real {
        area::least_area(convention, level)
    }

    fn axis_rule(convention: &AxisConvention) -> AxisRule {
        let (minimum_samples, maximum_samples) = match convention.sampling {
            Sampling::Fixed(samples) => (samples as Real, samples as Real),
            Sampling::Adaptive => (0.0, axis::MOST_SAMPLES),
            Sampling::Clamped { minimum, maximum } => (minimum as Real, maximum as Real),
        };
        let (lower_bound, upper_margin) = match convention.bounds {
            Bounds::OnePixelBeyond => (-1.0, 0.0),
            Bounds::FirstToLastPixel => (0.0, 1.0),
        };
        AxisRule {
            scale: convention.scale as Real,
            box_offset: convention.box_offset as Real,
            input_offset: convention.input_offset as Real,
            output_offset: convention.output_offset as Real,
            minimum_length: if convention.at_least_one_pixel { 1.0 } else { -Real::MAX },
            minimum_samples,
            maximum_samples,
            lower_bound,
            upper_margin,
            corners: convention.corners as u32,
            order: match convention.arithmetic {
                Arithmetic::FromElements => axis::FROM_ELEMENTS,
                Arithmetic::FromElementsBySteps => axis::FROM_ELEMENTS_BY_STEPS,
                Arithmetic::FromRegion => axis::FROM_REGION,
                Arithmetic::FromRegionUnscaled => axis::FROM_REGION_UNSCALED,
            },
            interpolation: match (convention.interpolation, convention.half_up) {
                (Interpolation::Bilinear, _) => axis::BILINEAR,
                (Interpolation::Nearest, false) => axis::NEAREST_HALF_DOWN,
                (Interpolation::Nearest, true) => axis::NEAREST_HALF_UP,
            },
        }
    }

    fn bin_rules(bins: &RegionBins) -> [BinRule; 2] {
        bins.scale.map(|scale| BinRule {
            scale: scale as Real,
            division: match bins.division {
                BinDivision::Whole => bins::WHOLE,
                BinDivision::Rounded => bins::ROUNDED,
            },
        })
    }

    fn weigh(rule: &AxisRule, ends: [Real; 2], elements: usize, size: usize, plan: &mut Weights<Real>) {
        plan.pixels.clear();
        plan.weights.clear();
        plan.share.clear();
        let size = size as u32;
        let axis = axis::axis(rule, ends[0], ends[1], elements as u32);
        for element in 0..elements as u32 {
            let visible = axis::visible(rule, &axis, element, size);
            let taps = (visible.first..visible.end)
                .map(|sample| axis::taps(rule, axis::position(rule, &axis, element, sample), size));
            let pixels = add_weights(taps, axis.samples as Real, &mut plan.weights);
            plan.pixels.push(pixels);
            plan.share.push(match visible.end - visible.first {
                0 => 0.0,
                count => count as Real / axis.samples as Real,
            });
        }
    }

    fn sample(rule: &AxisRule, ends: [Real; 2], elements: usize, size: usize, apart: bool, plan: &mut Samples<Real>) {
        plan.samples.clear();
        plan.taps.clear();
        plan.complete.clear();
        let size = size as u32;
        let axis = axis::axis(rule, ends[0], ends[1], elements as u32);
        for element in 0..elements as u32 {
            let visible = axis::visible(rule, &axis, element, size);
            let start = plan.taps.len();
            for sample in visible.first..visible.end {
                let taps = axis::taps(rule, axis::position(rule, &axis, element, sample), size);
                let both = WeightedTaps {
                    low: taps.low as usize,
                    high: taps.high as usize,
                    low_weight: 1.0 - taps.fraction,
                    high_weight: taps.fraction,
                };
                if apart {
                    plan.taps.push(WeightedTaps::one(both.low, both.low_weight));
                    plan.taps.push(WeightedTaps::one(both.high, both.high_weight));
                } else {
                    plan.taps.push(both);
                }
            }
            plan.samples.push(start..plan.taps.len());
            plan.complete
                .push(axis.samples > 0 && visible.end - visible.first == axis.samples);
        }
    }

    fn bin(rule: &BinRule, ends: [Real; 2], elements: usize, size: usize, plan: &mut Vec<Range<usize>>) {
        plan.clear();
        let extent = bins::extent(rule, ends[0], ends[1]);
        plan.extend((0..elements as u32).map(|element| {
            let bin = bins::bin(rule, &extent, element, elements as u32, size as u32);
            bin.start as usize..bin.end as usize
        }));
    }
}

/// Adds up the weights of an element's samples pixel by pixel, appends them, and returns the pixels.
fn add_weights(
    taps: impl DoubleEndedIterator<Item = axis::Taps> + ExactSizeIterator + Clone,
    samples: Real,
    weights: &mut Vec<Real>,
) -> Range<usize> {
    // Positions never turn back, so the first and the last sample are the outermost.
    let (Some(first), Some(last)) = (taps.clone().next(), taps.clone().next_back()) else {
        return 0..0;
    };
    let start = first.low.min(last.low);
    let end = first.high.max(last.high) + 1;
    let base = weights.len();
    weights.resize(base + (end - start) as usize, 0.0);
    for sample in taps {
        weights[base + (sample.low - start) as usize] += 1.0 - sample.fraction;
        weights[base + (sample.high - start) as usize] += sample.fraction;
    }
    for weight in &mut weights[base..] {
        *weight /= samples;
    }
    start as usize..end as usize
}
