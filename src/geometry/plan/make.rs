//! Plans, made from the functions that kernels call. Compiled for both types of coordinates: `Real` is the parent's.

use std::ops::Range;

#[cfg(feature = "cube")]
use cubecl::prelude::*;

use super::Real;
use super::area::{self, AreaRule};
use super::bins::{self, BinRule};
use super::integrals::IntegralRule;
use super::samples::{self, SampleRule};
use super::{make_integrals, make_points, make_slopes};
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::{BinAxis, Bounds, Elements, IntegralAxis, RegionOperator, SampleAxis};
use crate::geometry::options::{Arithmetic, BinDivision, BoxRounding, Interpolation, Sampling};
use crate::geometry::plan::{
    Coordinate, POINTS, PixelRanges, PointWeights, Region, Run, SampleTaps, TapSlopes, Taps, WeightSlopes, Weights,
};
use crate::geometry::point_grid::PointGrid;

/// Where the elements of both axes read, in the type of coordinates.
#[cfg_attr(feature = "cube", derive(CubeType, CubeLaunch))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rules {
    /// At points between pixels, along y and along x.
    Samples(SampleRule, SampleRule),
    /// Whole pixels, along y and along x.
    Bins(BinRule, BinRule),
    /// Bins of the bilinear map, along y and along x.
    Integrals(IntegralRule, IntegralRule),
}

/// A range of areas in this type of coordinates.
pub fn area_rule(areas: &AreaRange) -> AreaRule {
    // Numbers for ends that are infinite: some device compilers take it that there are no infinities.
    AreaRule {
        from: (areas.from as Real).min(Real::MAX),
        below: (areas.below as Real).min(Real::MAX),
    }
}

/// The least position in bounds, and how far below the map's size the greatest lies.
pub fn bounds(bounds: Bounds) -> (Real, Real) {
    match bounds {
        Bounds::OnePixelBeyond => (-1.0, 0.0),
        Bounds::HalfPixelBeyond => (-0.5, 0.5),
        Bounds::FirstToLastPixel => (0.0, 1.0),
    }
}

fn sample_rule(axis: &SampleAxis, size: usize) -> SampleRule {
    let (minimum_samples, maximum_samples) = match axis.sampling {
        Sampling::Fixed(samples) => (samples as Real, samples as Real),
        Sampling::Adaptive | Sampling::AdaptiveFloor => (0.0, samples::MOST_SAMPLES),
        Sampling::Clamped { minimum, maximum } => (minimum as Real, maximum as Real),
    };
    let (lower_bound, upper_margin) = bounds(axis.bounds);
    SampleRule {
        spatial_scale: axis.spatial_scale.on_map(size) as Real,
        box_offset: axis.box_offset as Real,
        end_offset: axis.end_offset as Real,
        input_pixel_offset: axis.input_pixel_offset as Real,
        output_pixel_offset: axis.output_pixel_offset as Real,
        sample_at_end: axis.sample_at_end.map_or(-1.0, |sample| sample as Real),
        minimum_length: axis.minimum_length.map_or(-Real::MAX, |length| length as Real),
        minimum_samples,
        maximum_samples,
        lower_bound,
        upper_margin,
        rounds_down: (axis.sampling == Sampling::AdaptiveFloor) as u32,
        align_corners: axis.align_corners as u32,
        arithmetic: match axis.arithmetic {
            Arithmetic::FromElements => samples::FROM_ELEMENTS,
            Arithmetic::FromElementsBySteps => samples::FROM_ELEMENTS_BY_STEPS,
            Arithmetic::FromRegionInElements => samples::FROM_REGION_IN_ELEMENTS,
            Arithmetic::FromRegion => samples::FROM_REGION,
            Arithmetic::FromRegionUnscaled => samples::FROM_REGION_UNSCALED,
        },
        interpolation: match (axis.interpolation, axis.half_up) {
            (Interpolation::Bilinear, _) => samples::BILINEAR,
            (Interpolation::Nearest, false) => samples::NEAREST_HALF_DOWN,
            (Interpolation::Nearest, true) => samples::NEAREST_HALF_UP,
        },
    }
}

fn bin_rule(axis: &BinAxis) -> BinRule {
    BinRule {
        spatial_scale: axis.spatial_scale as Real,
        end_offset: axis.end_offset as Real,
        end_pixels: axis.inclusive_end as i32,
        minimum_length: axis.minimum_length as Real,
        division: match (axis.rounding, axis.division) {
            (BoxRounding::BeforeScaling, _) => bins::ROUNDED_BEFORE_SCALING,
            (BoxRounding::Never, _) => bins::NOT_ROUNDED,
            (BoxRounding::AfterScaling, BinDivision::Whole) => bins::WHOLE,
            (BoxRounding::AfterScaling, BinDivision::Rounded) => bins::ROUNDED,
        },
        unread_pixels: !axis.reaches_last_pixel as u32,
    }
}

fn integral_rule(axis: &IntegralAxis) -> IntegralRule {
    IntegralRule {
        spatial_scale: axis.spatial_scale as Real,
    }
}

impl Coordinate for Real {
    type Rules = Rules;

    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn rules(elements: &Elements, [height, width]: [usize; 2]) -> Rules {
        match elements {
            Elements::Samples([y, x]) => Rules::Samples(sample_rule(y, height), sample_rule(x, width)),
            Elements::Bins([y, x]) => Rules::Bins(bin_rule(y), bin_rule(x)),
            Elements::Points(_) => unreachable!("{POINTS}"),
            Elements::Integrals([y, x]) => Rules::Integrals(integral_rule(y), integral_rule(x)),
        }
    }

    fn maximum_from(operator: &RegionOperator) -> Self {
        let start = operator.maximum_from as Self;
        // A number beyond this type is its least one, and not infinite.
        if operator.maximum_from.is_finite() {
            start.max(Self::MIN)
        } else {
            start
        }
    }

    fn in_range(areas: &AreaRange, [y1, y2]: [Real; 2], [x1, x2]: [Real; 2]) -> bool {
        area::in_range(&area_rule(areas), y1, x1, y2, x2)
    }

    fn least_area(rule: &LevelRule, level: i32) -> Real {
        area::least_area(rule, level)
    }

    fn weights(rules: &Rules, axis: usize, ends: [Real; 2], run: Run) -> Weights<Real> {
        match rules {
            Rules::Samples(y, x) => weights_of_samples([y, x][axis], ends, run),
            Rules::Bins(y, x) => weights_of_bins(bins([y, x][axis], ends, run)),
            Rules::Integrals(y, x) => make_integrals::weights([y, x][axis], ends, run),
        }
    }

    fn sample_taps(rules: &Rules, axis: usize, ends: [Real; 2], run: Run, split: bool) -> SampleTaps<Real> {
        match rules {
            Rules::Samples(y, x) => sample_taps([y, x][axis], ends, run, split),
            Rules::Bins(..) => unreachable!("a maximum over bins is planned as pixel ranges"),
            Rules::Integrals(..) => unreachable!("an integral has no samples"),
        }
    }

    fn pixel_ranges(rules: &Rules, axis: usize, ends: [Real; 2], run: Run) -> PixelRanges {
        match rules {
            Rules::Bins(y, x) => bins([y, x][axis], ends, run).collect(),
            Rules::Samples(..) | Rules::Integrals(..) => unreachable!("what lies between pixels is no range of them"),
        }
    }

    fn weight_slopes(
        rules: &Rules,
        axis: usize,
        ends: [Real; 2],
        run: Run,
        flat_on_pixels: bool,
    ) -> WeightSlopes<Real> {
        match rules {
            Rules::Samples(y, x) => make_slopes::weight_slopes([y, x][axis], ends, run, flat_on_pixels),
            Rules::Integrals(y, x) => make_integrals::weight_slopes([y, x][axis], ends, run),
            Rules::Bins(..) => unreachable!("bins do not move with a box, so its gradient is not planned"),
        }
    }

    fn tap_slopes(
        rules: &Rules,
        axis: usize,
        ends: [Real; 2],
        run: Run,
        split: bool,
        flat_on_pixels: bool,
    ) -> TapSlopes<Real> {
        match rules {
            Rules::Samples(y, x) => make_slopes::tap_slopes([y, x][axis], ends, run, split, flat_on_pixels),
            Rules::Integrals(..) => unreachable!("an integral has no samples"),
            Rules::Bins(..) => unreachable!("bins do not move with a box, so its gradient is not planned"),
        }
    }

    fn point_weights(
        grid: &PointGrid,
        operator: &RegionOperator,
        map: [usize; 2],
        region: &Region,
        slopes: bool,
    ) -> PointWeights<Real> {
        make_points::point_weights(grid, operator, map, region, slopes)
    }
}

/// The weights of an average over samples.
pub fn weights_of_samples(rule: &SampleRule, ends: [Real; 2], run: Run) -> Weights<Real> {
    let elements = run.elements.len();
    let mut plan = Weights::with_capacity(elements);
    let axis = samples::axis(rule, ends[0], ends[1], run.count);
    for element in run.elements {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        let taps = (in_bounds.first..in_bounds.end)
            .map(|sample| samples::taps(rule, samples::position(rule, &axis, element, sample), run.size));
        let pixels = add_weights(taps, axis.samples as Real, &mut plan.weights);
        let share = match in_bounds.end - in_bounds.first {
            0 => 0.0,
            count => count as Real / axis.samples as Real,
        };
        plan.push(pixels, share);
    }
    plan
}

/// Every pixel of a bin has the same weight.
fn weights_of_bins(bins: impl ExactSizeIterator<Item = Range<usize>>) -> Weights<Real> {
    let mut plan = Weights::with_capacity(bins.len());
    for bin in bins {
        let weight = 1.0 / bin.len() as Real;
        plan.weights.resize(plan.weights.len() + bin.len(), weight);
        let share = !bin.is_empty() as u32 as Real;
        plan.push(bin, share);
    }
    plan
}

/// The samples of a maximum.
pub fn sample_taps(rule: &SampleRule, ends: [Real; 2], run: Run, split: bool) -> SampleTaps<Real> {
    let elements = run.elements.len();
    let mut plan = SampleTaps {
        samples: Vec::with_capacity(elements),
        taps: Vec::new(),
        complete: Vec::with_capacity(elements),
    };
    let axis = samples::axis(rule, ends[0], ends[1], run.count);
    for element in run.elements {
        let in_bounds = samples::in_bounds(rule, &axis, element, run.size);
        let start = plan.taps.len();
        for sample in in_bounds.first..in_bounds.end {
            let taps = samples::taps(rule, samples::position(rule, &axis, element, sample), run.size);
            let both = Taps {
                low: taps.low as usize,
                high: taps.high as usize,
                low_weight: 1.0 - taps.fraction,
                high_weight: taps.fraction,
            };
            if split {
                plan.taps.push(one_pixel(both.low, both.low_weight));
                plan.taps.push(one_pixel(both.high, both.high_weight));
            } else {
                plan.taps.push(both);
            }
        }
        plan.samples.push(start..plan.taps.len());
        plan.complete
            .push(axis.samples > 0 && in_bounds.end - in_bounds.first == axis.samples);
    }
    plan
}

fn one_pixel(pixel: usize, weight: Real) -> Taps<Real> {
    Taps {
        low: pixel,
        high: pixel,
        low_weight: weight,
        high_weight: 0.0,
    }
}

/// The pixels of each bin.
fn bins(rule: &BinRule, ends: [Real; 2], run: Run) -> impl ExactSizeIterator<Item = Range<usize>> {
    let extent = bins::extent(rule, ends[0], ends[1], run.count);
    let bin = move |element| {
        let bin = bins::bin(rule, &extent, element, run.count, run.size);
        // An empty bin may end before it starts.
        bin.start as usize..bin.end.max(bin.start) as usize
    };
    run.elements.map(bin)
}

/// Adds up the weights of an element's samples pixel by pixel, appends them, and returns the pixels.
fn add_weights(
    taps: impl DoubleEndedIterator<Item = samples::Taps> + ExactSizeIterator + Clone,
    count: Real,
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
        *weight /= count;
    }
    start as usize..end as usize
}
