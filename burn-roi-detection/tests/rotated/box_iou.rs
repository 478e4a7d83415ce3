//! Overlaps of rotated boxes: against integration, what holds for any boxes, and boxes at the limits of f32 and f64.

use burn::tensor::{DType, Tensor};
use burn_roi::AngleConvention;
use burn_roi_detection::*;
use proptest::prelude::*;

use super::slabs;
use super::{CLOCKWISE_DEGREES, DEGREES, floats, host, iou, overlap, rotated_box, tensor};
use crate::backends::backends;

/// The errors of integration, above all where edges are close to vertical. A clipped box has less.
const TOLERANCE: f64 = 1e-9;

const RADIANS_A_DEGREE: f64 = std::f64::consts::PI / 180.0;

proptest! {
    #[test]
    fn overlaps_are_those_of_integration(left in rotated_box(), right in rotated_box()) {
        for mode in [OverlapMode::Iou, OverlapMode::Iof] {
            let (found, expected) = (overlap(left, right, DEGREES, mode), slabs::overlap(left, right, mode));
            prop_assert!((found - expected).abs() < TOLERANCE, "{mode:?}: {found}, expected {expected}");
        }
    }

    #[test]
    fn iou_is_symmetric_and_from_0_to_1(left in rotated_box(), right in rotated_box()) {
        let found = iou(left, right);
        prop_assert!((0.0..=1.0).contains(&found));
        prop_assert!((found - iou(right, left)).abs() < 1e-12);
    }

    #[test]
    fn a_box_is_itself(boxed in rotated_box()) {
        let [x, y, width, height, angle] = boxed;
        prop_assert_eq!(iou(boxed, boxed), 1.0);
        let turned = [x, y, height, width, angle + 90.0];
        prop_assert!((iou(boxed, turned) - 1.0).abs() < 1e-9);
        let half_turned = [x, y, width, height, angle - 180.0];
        prop_assert!((iou(boxed, half_turned) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn full_turns_and_quarter_turns_change_nothing(left in rotated_box(), right in rotated_box(), turns in -9i8..9) {
        let [x, y, width, height, angle] = right;
        let expected = iou(left, right);
        let turned = [x, y, width, height, angle + 360.0 * f64::from(turns)];
        prop_assert!((iou(left, turned) - expected).abs() < TOLERANCE);
        prop_assert!((iou(left, [x, y, height, width, angle + 90.0]) - expected).abs() < TOLERANCE);
    }

    #[test]
    fn a_translation_changes_nothing(left in rotated_box(), right in rotated_box(), by in translation()) {
        let moved = |[x, y, width, height, angle]: [f64; 5]| [x + by[0], y + by[1], width, height, angle];
        // The sums are off by up to 1e-10, on sides of 0.01.
        prop_assert!((iou(moved(left), moved(right)) - iou(left, right)).abs() < 1e-7);
    }

    #[test]
    fn a_scale_changes_nothing(left in rotated_box(), right in rotated_box(), exponent in -8i32..900) {
        let scale = 2f64.powi(exponent);
        let scaled = |[x, y, width, height, angle]: [f64; 5]| {
            [x * scale, y * scale, width * scale, height * scale, angle]
        };
        prop_assert_eq!(iou(scaled(left), scaled(right)), iou(left, right));
    }

    #[test]
    fn conventions_agree(left in rotated_box(), right in rotated_box()) {
        let expected = iou(left, right);
        let with_angle = |[x, y, width, height, angle]: [f64; 5], factor| [x, y, width, height, factor * angle];
        for (convention, factor) in [
            (CLOCKWISE_DEGREES, -1.0),
            (AngleConvention::RADIANS_CLOCKWISE, -RADIANS_A_DEGREE),
            (AngleConvention::RADIANS_COUNTER_CLOCKWISE, RADIANS_A_DEGREE),
        ] {
            let (left, right) = (with_angle(left, factor), with_angle(right, factor));
            let found = overlap(left, right, convention, OverlapMode::Iou);
            prop_assert!((found - expected).abs() < TOLERANCE, "{convention:?}: {found}, expected {expected}");
        }
    }

    #[test]
    fn at_angle_0_it_is_box_iou(corners in [0u8..9, 0u8..9, 1u8..9, 1u8..9, 0u8..9, 0u8..9, 1u8..9, 1u8..9]) {
        let [x1, y1, width1, height1, x2, y2, width2, height2] = corners.map(f64::from);
        let upright = |x, y, width, height| [[x, y, x + width, y + height]];
        let rotated = |x, y, width, height| [[x + 0.5 * width, y + 0.5 * height, width, height, 0.0]];
        for backend in backends() {
            let device = &backend.device;
            let left = tensor(&upright(x1, y1, width1, height1), device, DType::F32);
            let right = tensor(&upright(x2, y2, width2, height2), device, DType::F32);
            let expected = floats(box_iou(left, right));
            let left = tensor(&rotated(x1, y1, width1, height1), device, DType::F32);
            let right = tensor(&rotated(x2, y2, width2, height2), device, DType::F32);
            let found = floats(box_iou_rotated(left, right, DEGREES, OverlapMode::Iou));
            // A GPU may round the division of `box_iou` wrongly.
            let tolerance = if backend.is_host() { 0.0 } else { 1e-6 };
            prop_assert!((found[0] - expected[0]).abs() <= tolerance, "{}: {found:?}, {expected:?}", backend.name);
        }
    }

    #[test]
    fn no_finite_box_gives_nan(left in any_finite_box(), right in any_finite_box()) {
        for convention in [DEGREES, AngleConvention::RADIANS_CLOCKWISE] {
            for mode in [OverlapMode::Iou, OverlapMode::Iof] {
                let found = overlap(left, right, convention, mode);
                prop_assert!((0.0..=1.0).contains(&found), "{found}");
            }
        }
    }
}

fn translation() -> impl Strategy<Value = [f64; 2]> {
    [-1e6f64..1e6, -1e6f64..1e6]
}

fn any_finite_box() -> impl Strategy<Value = [f64; 5]> {
    let numbers = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-7,
        3.0,
        1e-320,
        1e-30,
        1e30,
        3e38,
        1e200,
        1e308,
        f64::MAX,
        f64::MIN,
    ];
    let number = move || prop_oneof![proptest::sample::select(numbers.clone()), -9.0f64..9.0];
    [number(), number(), number(), number(), number()]
}

#[test]
fn directions_are_those_of_an_image() {
    // A long box that rises to the right, and a small one at its upper right end.
    let [rising, falling, small] = [
        [0.0, 0.0, 8.0, 1.0, 45.0],
        [0.0, 0.0, 8.0, 1.0, -45.0],
        [2.0, -2.0, 0.5, 0.5, 0.0],
    ];
    let iof = |boxed, convention| overlap(small, boxed, convention, OverlapMode::Iof);
    assert_eq!((iof(rising, DEGREES), iof(falling, DEGREES)), (1.0, 0.0));
    assert_eq!(
        (iof(rising, CLOCKWISE_DEGREES), iof(falling, CLOCKWISE_DEGREES)),
        (0.0, 1.0)
    );
}

/// Boxes of detectron2's tests that have been reported as wrong, in f32 on every backend.
#[test]
fn boxes_of_reports_to_detectron2() {
    let pairs = [
        (
            [160.0, 153.0, 230.0, 23.0, -37.0],
            [190.0, 127.0, 80.0, 21.0, -46.0],
            0.0,
        ),
        (
            [296.66202, 458.73883, 23.51573, 47.677002, 0.08795166],
            [296.66202, 458.73883, 23.51573, 47.67702, 0.087951],
            1.0,
        ),
        (
            [2563.7446, 1436.7902, 2174.7034, 214.095, 115.11835],
            [2563.7446, 1436.7903, 2174.703, 214.09496, 115.118355],
            1.0,
        ),
        (
            [299.5, 417.37042, 600.0, 364.2592, 27.1828],
            [299.5, 417.37042, 600.0, 364.25916, 27.1828],
            1.0,
        ),
    ];
    for backend in backends() {
        for (left, right, expected) in pairs {
            let [left, right] = [left, right].map(|boxed| tensor(&[boxed], &backend.device, DType::F32));
            let found = floats(box_iou_rotated(left, right, DEGREES, OverlapMode::Iou))[0];
            assert!(
                (found - expected).abs() < 2e-6,
                "{}: {found}, expected {expected}",
                backend.name
            );
        }
    }
}

#[test]
fn small_boxes_within_large_ones() {
    let large = [1e4, -1e4, 2e6, 1e6, 30.0];
    let small = [1.1e4, -1.2e4, 1e-3, 1e-2, 77.0];
    assert!((overlap(small, large, DEGREES, OverlapMode::Iof) - 1.0).abs() < 1e-6);
    let expected = 1e-5 / 2e12;
    assert!((overlap(large, small, DEGREES, OverlapMode::Iof) / expected - 1.0).abs() < 1e-6);
}

#[test]
fn empty_boxes_overlap_nothing() {
    let whole = [0.0, 0.0, 4.0, 4.0, 10.0];
    let sizes = [
        [0.0, 4.0],
        [4.0, 0.0],
        [-4.0, 4.0],
        [4.0, -4.0],
        [-4.0, -4.0],
        [1e-8, 1e-8],
        [0.0, 0.0],
    ];
    for [width, height] in sizes {
        let empty = [0.0, 0.0, width, height, 10.0];
        for mode in [OverlapMode::Iou, OverlapMode::Iof] {
            assert_eq!(overlap(whole, empty, DEGREES, mode), 0.0);
            assert_eq!(overlap(empty, whole, DEGREES, mode), 0.0);
            assert_eq!(overlap(empty, empty, DEGREES, mode), 0.0);
        }
    }
}

#[test]
fn shapes_and_dtypes() {
    for backend in backends() {
        let device = &backend.device;
        for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
            if !backend.supports(dtype) {
                continue;
            }
            let boxes = |count| tensor(&vec![[1.0, 2.0, 4.0, 2.0, 90.0]; count], device, dtype);
            for [rows, columns] in [[0, 0], [0, 3], [3, 0], [2, 3]] {
                let iou = box_iou_rotated(boxes(rows), boxes(columns), DEGREES, OverlapMode::Iou);
                assert_eq!(iou.dims(), [rows, columns]);
                assert_eq!(iou.dtype(), if dtype == DType::F64 { dtype } else { DType::F32 });
                assert!(floats(iou).iter().all(|&iou| iou == 1.0));
            }
            for count in [0, 2] {
                let iou = box_iou_rotated_aligned(boxes(count), boxes(count), DEGREES, OverlapMode::Iou);
                assert_eq!(floats(iou), vec![1.0; count]);
            }
        }
    }
}

#[test]
fn aligned_pairs_are_the_diagonal() {
    let device = &host();
    let left = [
        [1.0, 1.0, 3.0, 4.0, 0.5],
        [2.0, 2.0, 3.0, 4.0, 0.6],
        [7.0, 7.0, 8.0, 8.0, 0.4],
    ];
    let right = [
        [0.0, 2.0, 2.0, 5.0, 0.3],
        [2.0, 1.0, 3.0, 3.0, 0.5],
        [5.0, 5.0, 6.0, 7.0, 0.4],
    ];
    let pair = || (tensor(&left, device, DType::F32), tensor(&right, device, DType::F32));
    for mode in [OverlapMode::Iou, OverlapMode::Iof] {
        let all = box_iou_rotated(pair().0, pair().1, AngleConvention::RADIANS_CLOCKWISE, mode);
        let diagonal: Vec<f64> = floats(all).into_iter().step_by(4).collect();
        let aligned: Tensor<1> = box_iou_rotated_aligned(pair().0, pair().1, AngleConvention::RADIANS_CLOCKWISE, mode);
        assert_eq!(floats(aligned), diagonal);
    }
}
