//! Worked examples, on the host alone: where samples and bins fall, from the documents and from
//! measured outputs of the frameworks.

use proptest::prelude::*;

use super::convention::{AreaRange, AxisConvention, BinDivision, LevelConvention, RegionBins};
use super::plan::{Coordinate, Samples, Weights};
use super::single::axis::{self, AxisRule};
use crate::conventions::{openvino, torchvision};
use crate::ops::{CropAndResizeConfig, RoiAlignConfig};
use crate::{Arithmetic, Interpolation, Sampling};

fn convention(config: impl Into<RoiAlignConfig>) -> AxisConvention {
    config.into().sampling().expect("the options are right").x
}

fn rule(config: impl Into<RoiAlignConfig>) -> AxisRule {
    f32::axis_rule(&convention(config))
}

/// Positions of all samples of a region, element by element.
fn positions(rule: &AxisRule, ends: [f32; 2], elements: u32) -> Vec<Vec<f32>> {
    let axis = axis::axis(rule, ends[0], ends[1], elements);
    let of_element = |element| {
        let of_sample = |sample| axis::position(rule, &axis, element, sample);
        (0..axis.samples).map(of_sample).collect()
    };
    (0..elements).map(of_element).collect()
}

/// How many samples of each element are in bounds.
fn visible(rule: &AxisRule, ends: [f32; 2], elements: u32, size: u32) -> Vec<u32> {
    let axis = axis::axis(rule, ends[0], ends[1], elements);
    let count = |element| {
        let visible = axis::visible(rule, &axis, element, size);
        visible.end - visible.first
    };
    (0..elements).map(count).collect()
}

/// The pixel that each sample of one-sample elements takes.
fn nearest(config: impl Into<RoiAlignConfig>, ends: [f32; 2], elements: u32, size: u32) -> Vec<u32> {
    let rule = rule(config.into().with_interpolation(Interpolation::Nearest));
    let positions = positions(&rule, ends, elements);
    let taps = |samples: &Vec<f32>| axis::taps(&rule, samples[0], size).low;
    positions.iter().map(taps).collect()
}

#[test]
fn aligned_puts_the_first_pixels_centre_at_a_half() {
    // A region over the first two pixels, two elements: their centres, pixels 0 and 1.
    let aligned = torchvision::RoiAlign::new([2, 2])
        .with_aligned(true)
        .with_sampling_ratio(1);
    assert_eq!(positions(&rule(aligned.clone()), [0.0, 2.0], 2), [[0.0], [1.0]]);
    let legacy = aligned.with_aligned(false);
    assert_eq!(positions(&rule(legacy), [0.0, 2.0], 2), [[0.5], [1.5]]);
}

#[test]
fn a_region_on_the_grid_has_whole_counts() {
    let rule = rule(torchvision::RoiAlign::new([7, 7]).with_aligned(true));
    for (length, samples) in [(7.0, 1), (14.0, 2), (14.000001, 3), (13.999999, 2), (70.0, 10)] {
        assert_eq!(axis::axis(&rule, 0.0, length, 7).samples, samples, "{length}");
    }
}

#[test]
fn an_empty_region_has_one_pixel_one_sample_or_none() {
    let legacy = rule(torchvision::RoiAlign::new([1, 1]));
    assert_eq!(positions(&legacy, [3.0, 3.0], 1), [[3.5]]);
    let aligned = rule(torchvision::RoiAlign::new([1, 1]).with_aligned(true));
    assert_eq!(positions(&aligned, [3.0, 3.0], 1), [[]; 1] as [[f32; 0]; 1]);
    let between = Sampling::Clamped { minimum: 1, maximum: 4 };
    let directml = rule(RoiAlignConfig::new([1, 1]).with_aligned(true).with_sampling(between));
    assert_eq!(positions(&directml, [3.0, 3.0], 1), [[2.5]]);
}

#[test]
fn an_inverted_region_mirrors() {
    let config = RoiAlignConfig::new([2, 2]).with_aligned(true).with_sampling_ratio(1);
    for arithmetic in [Arithmetic::FromElements, Arithmetic::FromRegion] {
        let rule = rule(config.clone().with_arithmetic(arithmetic));
        assert_eq!(positions(&rule, [0.0, 4.0], 2), [[0.5], [2.5]]);
        assert_eq!(positions(&rule, [4.0, 0.0], 2), [[2.5], [0.5]]);
    }
}

#[test]
fn corners_are_reached_and_a_lone_sample_takes_the_middle() {
    let config = RoiAlignConfig::new([3, 3]).with_aligned(true).with_align_corners(true);
    let config = config.with_output_pixel_offset(0.0);
    let rule = rule(config.with_sampling_ratio(1));
    assert_eq!(positions(&rule, [0.5, 4.5], 3), [[0.0], [2.0], [4.0]]);
    assert_eq!(positions(&rule, [0.5, 4.5], 1), [[2.0]]);
}

/// The worked example in DirectML's document of `ROI_ALIGN_GRAD`: two pixels to three.
#[test]
fn nearest_rounds_a_half_down() {
    let config = RoiAlignConfig::new([1, 3]).with_aligned(true).with_sampling_ratio(1);
    let directml = config.with_arithmetic(Arithmetic::FromRegion);
    assert_eq!(nearest(directml, [0.0, 2.0], 3, 2), [0, 0, 1]);
}

#[test]
fn nearest_of_crops_rounds_a_half_up() {
    let config = CropAndResizeConfig::new([3, 3]).with_method(Interpolation::Nearest);
    let sampling = config.sampling([2, 2]).expect("the options are right");
    let rule = f32::axis_rule(&sampling.x);
    // From the first pixel to the second: the middle of three is halfway.
    let positions = positions(&rule, [0.0, 1.0], 3);
    assert_eq!(positions, [[0.0], [0.5], [1.0]]);
    let taps: Vec<u32> = positions.iter().map(|p| axis::taps(&rule, p[0], 2).low).collect();
    assert_eq!(taps, [0, 1, 1]);
}

/// DirectML gives 25 at position -0.9375 where pixel 0 is 25: it clamps, and blends with nothing.
#[test]
fn one_pixel_beyond_the_map_is_held_within_it() {
    let rule = rule(RoiAlignConfig::new([1, 1]));
    let taps = axis::taps(&rule, -0.9375, 5);
    assert_eq!((taps.low, taps.fraction), (0, 0.0));
    let taps = axis::taps(&rule, 5.0, 5);
    assert_eq!((taps.low, taps.high, taps.fraction), (4, 4, 0.0));
}

#[test]
fn bounds_are_one_pixel_beyond_or_the_pixels_centres() {
    let one = RoiAlignConfig::new([1, 1]).with_sampling_ratio(1);
    let rule_at = |position: f32| visible(&rule(one.clone()), [position, position], 1, 5)[0];
    // An empty legacy region of a pixel: its sample lies half a pixel after its start.
    assert_eq!([-1.5, -1.500001, 4.5, 4.500001].map(rule_at), [1, 0, 1, 0]);

    let crop = CropAndResizeConfig::new([1, 1])
        .sampling([5, 5])
        .expect("the options are right");
    let crop = f32::axis_rule(&crop.x);
    let crop_at = |position: f32| visible(&crop, [position, position], 1, 5)[0];
    assert_eq!([0.0, -1e-6, 1.0, 1.000001].map(crop_at), [1, 0, 1, 0]);
}

/// Boxes at which the frameworks disagree about a sample at the border, as measured.
#[test]
fn the_order_of_arithmetic_decides_a_sample_at_the_border() {
    use openvino::{AlignedMode, Mode, RoiAlign9};
    let table = [
        (
            AlignedMode::HalfPixelForNn,
            27,
            6,
            0.25,
            5,
            [-80.666_664, -0.666_666_7],
            5,
            1,
            0,
        ),
        (
            AlignedMode::Asymmetric,
            14,
            9,
            0.0625,
            7,
            [-154.807_79, 122.807_79],
            4,
            4,
            3,
        ),
        (
            AlignedMode::HalfPixel,
            26,
            9,
            1.0,
            5,
            [2.916_658_9, -4.916_659],
            4,
            2,
            3,
        ),
    ];
    for (mode, size, elements, scale, ratio, ends, element, by_shares, by_steps) in table {
        let attributes = RoiAlign9::new(elements, elements, ratio, scale, Mode::Avg);
        let config = RoiAlignConfig::from(attributes.with_aligned_mode(mode));
        let count = |config: RoiAlignConfig| visible(&rule(config), ends, elements as u32, size)[element];
        assert_eq!(count(config.clone()), by_steps, "{mode:?}");
        assert_eq!(
            count(config.with_arithmetic(Arithmetic::FromElements)),
            by_shares,
            "{mode:?}"
        );
    }
    let torchvision = torchvision::RoiAlign::new([2, 2]).with_spatial_scale(0.0625);
    assert_eq!(visible(&rule(torchvision), [-65.333_336, 116.0], 2, 3), [3, 2]);
}

#[test]
fn bins_of_57_pixels_in_7() {
    let mut bins = RegionBins {
        output_size: [7, 7],
        scale: [1.0, 1.0],
        division: BinDivision::Rounded,
    };
    let mut ranges = Vec::new();
    let mut last = |bins: &RegionBins| {
        f32::bin(&f32::bin_rules(bins)[0], [0.0, 56.0], 7, 100, &mut ranges);
        ranges[6].clone()
    };
    assert_eq!(last(&bins), 48..58);
    bins.division = BinDivision::Whole;
    assert_eq!(last(&bins), 48..57);
}

#[test]
fn bins_overlap_are_held_within_the_map_and_may_be_empty() {
    let bins = RegionBins {
        output_size: [3, 3],
        scale: [0.5, 0.5],
        division: BinDivision::Rounded,
    };
    let [rule, _] = f32::bin_rules(&bins);
    let mut ranges = Vec::new();
    // 0.5 and 3.5 round away from zero: pixels 1 to 4.
    f32::bin(&rule, [1.0, 7.0], 3, 10, &mut ranges);
    assert_eq!(ranges, [1..3, 2..4, 3..5]);
    // -0.5 rounds to -1.
    f32::bin(&rule, [-1.0, 3.0], 3, 10, &mut ranges);
    assert_eq!(ranges, [0..1, 0..2, 1..3]);
    f32::bin(&rule, [40.0, 60.0], 3, 10, &mut ranges);
    assert!(ranges.iter().all(|range| range.is_empty()));
    // An inverted region is one pixel here, and no pixel where whole numbers are divided.
    f32::bin(&rule, [9.0, 1.0], 3, 10, &mut ranges);
    assert_eq!(ranges, [5..6, 5..6, 5..6]);
    let [rule, _] = f32::bin_rules(&RegionBins {
        division: BinDivision::Whole,
        ..bins
    });
    f32::bin(&rule, [9.0, 1.0], 3, 10, &mut ranges);
    assert!(ranges.iter().all(|range| range.is_empty()));
}

#[test]
fn weights_sum_to_the_share_in_bounds_and_samples_agree_with_them() {
    let rule = rule(torchvision::RoiAlign::new([4, 4]).with_aligned(true));
    let (mut weights, mut samples) = (Weights::default(), Samples::default());
    f32::weigh(&rule, [-4.0, 13.0], 4, 10, &mut weights);
    f32::sample(&rule, [-4.0, 13.0], 4, 10, false, &mut samples);
    for ((pixels, of_pixels, share), (taps, complete)) in weights.elements().zip(samples.elements()) {
        assert!((of_pixels.iter().sum::<f32>() - share).abs() < 1e-6);
        assert_eq!(*share == 1.0, complete);
        assert!(
            taps.iter()
                .all(|taps| pixels.contains(&taps.low) && pixels.contains(&taps.high))
        );
    }
    assert_eq!(weights.share, [0.2, 1.0, 1.0, 0.4]);
}

proptest! {
    /// The run of samples in bounds is what looking at every sample finds.
    #[test]
    fn the_search_finds_every_sample_in_bounds(
        ends in [-40f32..40.0, -40f32..40.0],
        elements in 1u32..9,
        size in 1u32..20,
        samples in 1usize..9,
        order in prop::sample::select(vec![
            Arithmetic::FromElements,
            Arithmetic::FromElementsBySteps,
            Arithmetic::FromRegion,
            Arithmetic::FromRegionUnscaled,
        ]),
        corners in any::<bool>(),
    ) {
        let config = RoiAlignConfig::new([1, 1])
            .with_aligned(true)
            .with_sampling_ratio(samples)
            .with_arithmetic(order)
            .with_align_corners(corners);
        let rule = rule(config);
        let axis = axis::axis(&rule, ends[0], ends[1], elements);
        for element in 0..elements {
            let visible = axis::visible(&rule, &axis, element, size);
            for sample in 0..axis.samples {
                let position = axis::position(&rule, &axis, element, sample);
                let inside = (-1.0..=size as f32).contains(&position);
                prop_assert_eq!(inside, (visible.first..visible.end).contains(&sample));
            }
        }
    }
}

/// torchvision's levels, as its `LevelMapper` gave them for the floats around each of its borders.
#[test]
fn levels_begin_at_the_areas_where_torchvision_begins_them() {
    let torchvision = LevelConvention {
        canonical_scale: 224.0,
        canonical_level: 4,
        ratio_epsilon: 0.0,
        level_epsilon: 1e-6,
    };
    for (level, area) in [(2, 3135.9956), (3, 12543.98), (4, 50175.93), (8, 12845033.0)] {
        let found = f32::least_area(&torchvision, level);
        assert_eq!(found, area, "level {level}");
    }
    // In f64 the epsilon, and not rounding, says how far below the canonical area a level begins.
    let found = f64::least_area(&torchvision, 4);
    assert!((found / 50176.0 - (1.0 - 2e-6 * std::f64::consts::LN_2)).abs() < 1e-11);
}

#[test]
fn every_area_is_in_one_range() {
    let ranges = [(0.0, 5.0), (5.0, 20.0), (20.0, f64::INFINITY)];
    let sides = [
        0.0,
        1.0,
        5.0,
        20.0,
        -5.0,
        1e-30,
        3e38,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    for side in sides {
        let of = |(from, below)| f32::in_range(&AreaRange { from, below }, [0.0, 1.0], [0.0, side]);
        assert_eq!(ranges.into_iter().filter(|&range| of(range)).count(), 1, "{side}");
    }
    let least = |side| f32::in_range(&AreaRange { from: 5.0, below: 20.0 }, [0.0, 1.0], [0.0, side]);
    assert!(least(5.0) && least(20.0f32.next_down()) && !least(5.0f32.next_down()) && !least(20.0));
}
