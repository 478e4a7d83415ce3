//! Which pixels belong to a bin.

use std::ops::Range;

use super::{pixels, run, shares};
use crate::geometry::operator::{BinAxis, Elements};
use crate::geometry::options::{BinDivision, BoxRounding};
use crate::geometry::plan::Coordinate;

fn bins(axis: BinAxis, ends: [f32; 2], elements: u32, size: u32) -> Vec<Range<usize>> {
    let rules = f32::rules(&Elements::Bins([axis; 2]), [1; 2]);
    f32::pixel_ranges(&run(&rules, ends, elements, size))
}

/// torchvision's bins of `roi_pool`.
const ROUNDED: BinAxis = BinAxis {
    spatial_scale: 1.0,
    end_offset: 0.0,
    rounding: BoxRounding::AfterScaling,
    inclusive_end: true,
    minimum_length: 1.0,
    division: BinDivision::Rounded,
    reaches_last_pixel: true,
    gradient_reaches_last_pixel: true,
};

/// DirectML's.
const WHOLE: BinAxis = BinAxis {
    minimum_length: 0.0,
    division: BinDivision::Whole,
    ..ROUNDED
};

/// torchvision's bins of `ps_roi_pool`.
const POSITION_SENSITIVE: BinAxis = BinAxis {
    inclusive_end: false,
    reaches_last_pixel: false,
    gradient_reaches_last_pixel: false,
    ..ROUNDED
};

#[test]
fn bins_of_57_pixels_in_7() {
    assert_eq!(bins(ROUNDED, [0.0, 56.0], 7, 100)[6], 48..58);
    assert_eq!(bins(WHOLE, [0.0, 56.0], 7, 100)[6], 48..57);
}

#[test]
fn bins_overlap_are_held_within_the_map_and_may_be_empty() {
    let half = BinAxis {
        spatial_scale: 0.5,
        ..ROUNDED
    };
    // 0.5 and 3.5 round away from zero: pixels 1 to 4.
    assert_eq!(bins(half, [1.0, 7.0], 3, 10), [1..3, 2..4, 3..5]);
    // -0.5 rounds to -1.
    assert_eq!(bins(half, [-1.0, 3.0], 3, 10), [0..1, 0..2, 1..3]);
    let beyond = bins(half, [40.0, 60.0], 3, 10);
    assert!(beyond.iter().all(|range| range.is_empty()));
    // An inverted region is one pixel here, and no pixel where whole numbers are divided.
    assert_eq!(bins(half, [9.0, 1.0], 3, 10), [5..6, 5..6, 5..6]);
    let whole = BinAxis {
        spatial_scale: 0.5,
        ..WHOLE
    };
    let inverted = bins(whole, [9.0, 1.0], 3, 10);
    assert!(inverted.iter().all(|range| range.is_empty()));
}

/// As torchvision 0.29 gives on a map of 6 pixels, of which it never reads the last.
#[test]
fn position_sensitive_bins_end_before_the_last_pixel() {
    assert_eq!(bins(POSITION_SENSITIVE, [0.0, 6.0], 1, 6)[0], 0..5);
    assert_eq!(bins(POSITION_SENSITIVE, [4.0, 5.0], 1, 6)[0], 4..5);
    assert!(bins(POSITION_SENSITIVE, [5.0, 6.0], 1, 6)[0].is_empty());
    assert!(bins(POSITION_SENSITIVE, [0.0, 1.0], 1, 1)[0].is_empty());
    // An empty or an inverted region has one pixel.
    assert_eq!(bins(POSITION_SENSITIVE, [2.0, 2.0], 1, 6)[0], 2..3);
    assert_eq!(bins(POSITION_SENSITIVE, [4.0, 2.0], 1, 6)[0], 4..5);
}

/// As OpenVINO's `PSROIPooling` and Paddle's `psroi_pool` have it.
#[test]
fn a_box_that_is_rounded_before_it_is_scaled_begins_inside_a_pixel() {
    let paddle = BinAxis {
        spatial_scale: 0.25,
        rounding: BoxRounding::BeforeScaling,
        minimum_length: 0.1,
        ..ROUNDED
    };
    // From 1 / 4 to (6 + 1) / 4.
    assert_eq!(bins(paddle, [1.4, 5.6], 3, 10), [0..1, 0..2, 1..2]);
    // An inverted region is a tenth of a pixel long.
    assert_eq!(bins(paddle, [8.0, 2.0], 1, 10)[0], 2..3);
    assert!(bins(paddle, [40.0, 48.0], 1, 10)[0].is_empty());
    assert!(bins(paddle, [-9.0, -6.0], 1, 10)[0].is_empty());
    // With 1 added before it is rounded, 0.49999997 becomes 1.5 and then 2.
    let openvino = BinAxis {
        spatial_scale: 1.0,
        end_offset: 1.0,
        inclusive_end: false,
        ..paddle
    };
    let paddle = BinAxis {
        spatial_scale: 1.0,
        ..paddle
    };
    assert_eq!(bins(paddle, [0.0, 0.499_999_97], 1, 10)[0], 0..1);
    assert_eq!(bins(openvino, [0.0, 0.499_999_97], 1, 10)[0], 0..2);
}

#[test]
fn an_average_over_a_bin_weighs_its_pixels_alike() {
    let rules = f32::rules(&Elements::Bins([POSITION_SENSITIVE; 2]), [1; 2]);
    let plan = f32::weights(&run(&rules, [0.0, 4.0], 2, 4));
    assert_eq!(pixels(&plan), [0..2, 2..3]);
    assert_eq!(plan.weights, [0.5, 0.5, 1.0]);
    assert_eq!(shares(&plan), [1.0, 1.0]);
}
