//! Where samples fall, and how they become plans.

use proptest::prelude::*;

use super::{run, shares};
use crate::frameworks::{openvino, torchvision};
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::{AxisPlan, Coordinate, Run};
use crate::geometry::real::single::rules::Rules;
use crate::geometry::real::single::samples::{self, SampleRule};
use crate::ops::operator_config::Operates;
use crate::ops::{CropAndResizeConfig, RoiAlignConfig};
use crate::{Arithmetic, Interpolation, Sampling};

/// The rule of x of an operator on a map of `size` pixels.
fn rule_on_map(operator: RegionOperator, size: usize) -> SampleRule {
    match f32::rules(&operator.elements, [size; 2]) {
        Rules::Samples(_, x) => x,
        _ => panic!("the operator has no samples"),
    }
}

fn rule(config: impl Into<RoiAlignConfig>) -> SampleRule {
    let operator = config.into().operator(false).expect("the options are right");
    rule_on_map(operator, 1)
}

/// Positions of all samples of a region, element by element.
fn positions(rule: &SampleRule, ends: [f32; 2], elements: u32) -> Vec<Vec<f32>> {
    let axis = samples::axis(rule, ends[0], ends[1], elements);
    let of_element = |element| {
        let of_sample = |sample| samples::position(rule, &axis, element, sample);
        (0..axis.samples).map(of_sample).collect()
    };
    (0..elements).map(of_element).collect()
}

/// How many samples of each element are in bounds.
fn counts_in_bounds(rule: &SampleRule, ends: [f32; 2], elements: u32, size: u32) -> Vec<u32> {
    let axis = samples::axis(rule, ends[0], ends[1], elements);
    let count = |element| {
        let in_bounds = samples::in_bounds(rule, &axis, element, size);
        in_bounds.end - in_bounds.first
    };
    (0..elements).map(count).collect()
}

/// The pixel that each sample of one-sample elements takes.
fn nearest(config: impl Into<RoiAlignConfig>, ends: [f32; 2], elements: u32, size: u32) -> Vec<u32> {
    let rule = rule(config.into().with_interpolation(Interpolation::Nearest));
    let positions = positions(&rule, ends, elements);
    let taps = |samples: &Vec<f32>| samples::taps(&rule, samples[0], size).low;
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
        assert_eq!(samples::axis(&rule, 0.0, length, 7).samples, samples, "{length}");
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

/// The offset is subtracted last: 15.5 stays 15.5, whose nearest pixel is 15.
#[test]
fn directml_subtracts_the_input_pixel_offset_last() {
    let config = RoiAlignConfig::new([1, 1])
        .with_aligned(true)
        .with_sampling_ratio(1)
        .with_arithmetic(Arithmetic::FromRegion);
    let (mut ties, mut moved) = (0, 0);
    for step in 0..100_000 {
        let start = step as f32 / 7.0;
        let end = 32.0 - start;
        let found = positions(&rule(config.clone()), [start, end], 1)[0][0];
        assert_eq!(found, (0.5 * (end - start) + start) - 0.5);
        ties += (found == 15.5) as u32;
        moved += ((start - 0.5) + 0.5 * (end - start) != found) as u32;
    }
    assert!(ties > 0 && moved > 0);
}

#[test]
fn nearest_of_crops_rounds_a_half_up() {
    let config = CropAndResizeConfig::new([3, 3]).with_method(Interpolation::Nearest);
    let rule = rule_on_map(config.operator(false).expect("the options are right"), 2);
    // From the first pixel to the second: the middle of three is halfway.
    let positions = positions(&rule, [0.0, 1.0], 3);
    assert_eq!(positions, [[0.0], [0.5], [1.0]]);
    let taps: Vec<u32> = positions.iter().map(|p| samples::taps(&rule, p[0], 2).low).collect();
    assert_eq!(taps, [0, 1, 1]);
}

/// DirectML gives 25 at position -0.9375 where pixel 0 is 25: it clamps, and blends with nothing.
#[test]
fn one_pixel_beyond_the_map_is_held_within_it() {
    let rule = rule(RoiAlignConfig::new([1, 1]));
    let taps = samples::taps(&rule, -0.9375, 5);
    assert_eq!((taps.low, taps.fraction), (0, 0.0));
    let taps = samples::taps(&rule, 5.0, 5);
    assert_eq!((taps.low, taps.high, taps.fraction), (4, 4, 0.0));
}

#[test]
fn bounds_are_one_pixel_beyond_or_the_pixels_centres() {
    let one = RoiAlignConfig::new([1, 1]).with_sampling_ratio(1);
    let rule_at = |position: f32| counts_in_bounds(&rule(one.clone()), [position, position], 1, 5)[0];
    // An empty legacy region of a pixel: its sample lies half a pixel after its start.
    assert_eq!([-1.5, -1.500001, 4.5, 4.500001].map(rule_at), [1, 0, 1, 0]);

    let crop = CropAndResizeConfig::new([1, 1]).operator(false);
    let crop = rule_on_map(crop.expect("the options are right"), 5);
    let crop_at = |position: f32| counts_in_bounds(&crop, [position, position], 1, 5)[0];
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
        let count = |config: RoiAlignConfig| counts_in_bounds(&rule(config), ends, elements as u32, size)[element];
        assert_eq!(count(config.clone()), by_steps, "{mode:?}");
        assert_eq!(
            count(config.with_arithmetic(Arithmetic::FromElements)),
            by_shares,
            "{mode:?}"
        );
    }
    let torchvision = torchvision::RoiAlign::new([2, 2]).with_spatial_scale(0.0625);
    assert_eq!(counts_in_bounds(&rule(torchvision), [-65.333_336, 116.0], 2, 3), [3, 2]);
}

/// A run of elements is planned as it is among all of them.
#[test]
fn a_run_is_part_of_the_whole_axis() {
    let config = torchvision::RoiAlign::new([5, 5]).with_aligned(true);
    let operator = RoiAlignConfig::from(config)
        .operator(false)
        .expect("the options are right");
    let rules = f32::rules(&operator.elements, [10; 2]);
    let whole = f32::weights(&run(&rules, [0.3, 9.1], 5, 10));
    for (element, (pixels, weights, share)) in whole.elements(0..5).enumerate() {
        let only = Run {
            elements: element as u32..element as u32 + 1,
            ..run(&rules, [0.3, 9.1], 5, 10)
        };
        let part = f32::weights(&only);
        assert_eq!(
            (&part.reads[0].pixels, part.weights.as_slice(), &part.reads[0].share),
            (&pixels, weights, share)
        );
        let (of_part, ..) = whole.elements(element..5).next().expect("there are five elements");
        assert_eq!(of_part, pixels);
        assert_eq!(whole.window_of(element..element + 1), pixels);
    }
}

#[test]
fn weights_sum_to_the_share_in_bounds_and_samples_agree_with_them() {
    let config = RoiAlignConfig::from(torchvision::RoiAlign::new([4, 4]).with_aligned(true));
    let elements = config.operator(false).expect("the options are right").elements;
    let rules = f32::rules(&elements, [10; 2]);
    let weights = f32::weights(&run(&rules, [-4.0, 13.0], 4, 10));
    let samples = f32::sample_taps(&run(&rules, [-4.0, 13.0], 4, 10));
    for ((pixels, of_pixels, share), (taps, complete)) in weights.elements(0..4).zip(samples.elements(0..4)) {
        assert!((of_pixels.iter().sum::<f32>() - share).abs() < 1e-6);
        assert_eq!(*share == 1.0, complete);
        assert!(
            taps.iter()
                .all(|taps| pixels.contains(&taps.low) && pixels.contains(&taps.high))
        );
    }
    assert_eq!(shares(&weights), [0.2, 1.0, 1.0, 0.4]);
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
            Arithmetic::FromRegionInElements,
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
        let axis = samples::axis(&rule, ends[0], ends[1], elements);
        for element in 0..elements {
            let in_bounds = samples::in_bounds(&rule, &axis, element, size);
            for sample in 0..axis.samples {
                let position = samples::position(&rule, &axis, element, sample);
                let inside = (-1.0..=size as f32).contains(&position);
                prop_assert_eq!(inside, (in_bounds.first..in_bounds.end).contains(&sample));
            }
        }
    }
}
