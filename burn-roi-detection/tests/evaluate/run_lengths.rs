//! Run lengths from counts, text and polygons, and their overlap.

use burn_roi_detection::{DetectionError, RunLengths};
use proptest::prelude::*;

use crate::bad_input::assert_error;

/// The run lengths of pixels in column-major order.
fn of_pixels(pixels: &[bool], size: [usize; 2]) -> RunLengths {
    let runs = pixels.chunk_by(|left, right| left == right).map(|run| run.len() as u32);
    let counts: Vec<u32> = pixels
        .first()
        .filter(|&&is_set| is_set)
        .map(|_| 0)
        .into_iter()
        .chain(runs)
        .collect();
    RunLengths::from_counts(&counts, size)
}

fn count(pixels: impl Iterator<Item = bool>) -> f64 {
    pixels.filter(|&is_set| is_set).count() as f64
}

#[test]
fn overlap_is_that_of_the_pixels() {
    let masks = [1..7usize, 1..7usize].prop_flat_map(|[height, width]| {
        let mask = prop::collection::vec(prop::bool::weighted(0.4), height * width);
        (Just([height, width]), mask.clone(), mask)
    });
    proptest!(|((size, left, right) in masks)| {
        let (mask, truth) = (of_pixels(&left, size), of_pixels(&right, size));
        let pairs = || left.iter().copied().zip(right.iter().copied());
        let both = count(pairs().map(|(left, right)| left && right));
        let either: Vec<bool> = pairs().map(|(left, right)| left || right).collect();
        prop_assert_eq!(mask.union(&truth), of_pixels(&either, size));
        let by = |divisor: f64| if both == 0.0 { 0.0 } else { both / divisor };
        prop_assert_eq!(mask.iou(&truth, false), by(count(either.into_iter())));
        prop_assert_eq!(mask.iou(&truth, true), by(count(left.iter().copied())));
        prop_assert_eq!(RunLengths::from_coco_string(&mask.to_coco_string(), size), mask.clone());
        let json = serde_json::to_string(&mask).expect("a mask is JSON");
        prop_assert_eq!(serde_json::from_str::<RunLengths>(&json).expect("it should be read"), mask);
    });
}

#[test]
fn runs_of_0_are_joined() {
    let mask = RunLengths::from_counts(&[1, 0, 2, 3, 0, 1, 2], [3, 3]);
    assert_eq!(mask.counts(), [3, 4, 2]);
    assert_eq!(RunLengths::from_counts(&[], [0, 3]).counts(), [0]);
}

/// pycocotools would walk along 10^9 points of this outline.
#[test]
fn a_polygon_far_larger_than_the_image_is_clipped() {
    let far = 1e8;
    let mask = RunLengths::from_polygons(&[vec![-far, -far, far, -far, far, far, -far, far]], [3, 4]);
    assert_eq!(mask.counts(), [0, 12]);
}

/// 60,000 edges across all columns, and two edges across 4 billion columns: gigabytes and minutes.
#[test]
fn polygons_across_too_many_columns() {
    let zigzag = |points: usize, width: f64| {
        let point = |index: usize| [if index.is_multiple_of(2) { 0.0 } else { width }, index as f64 % 1000.0];
        (0..points).flat_map(point).collect::<Vec<f64>>()
    };
    let expected = |columns: usize| {
        format!(
            "`polygons` is polygons whose edges go across {columns} columns, but must be of edges across 4194304 \
             columns at most in all"
        )
    };
    let polygon = zigzag(60_000, 65_535.0);
    assert_error(
        RunLengths::try_from_polygons(&[polygon], [1000, 65_535]),
        &expected(60_000 * 65_535),
    );
    let triangle = vec![0.0, 0.0, 1e8, 0.0, 0.0, 1.0];
    let call = RunLengths::try_from_polygons(std::slice::from_ref(&triangle), [1, u32::MAX as usize]);
    assert_error(call, &expected(200_000_000));
    // The same triangle in an image of few columns, and many of them.
    assert!(RunLengths::try_from_polygons(std::slice::from_ref(&triangle), [1, 1000]).is_ok());
    let call = RunLengths::try_from_polygons(&vec![triangle; 10_000], [1, 1000]);
    assert_error(call, &expected(20_000_000));
    assert!(RunLengths::try_from_polygons(&[zigzag(64, 65_535.0)], [1000, 65_535]).is_ok());
}

#[test]
fn many_polygons_are_their_union() {
    let square = |index: usize| {
        let [x, y] = [index % 13, index / 13].map(|step| (step * 3) as f64);
        vec![x, y, x + 4.0, y, x + 4.0, y + 4.0, x, y + 4.0]
    };
    for count in [0, 1, 2, 3, 7, 100] {
        let polygons: Vec<Vec<f64>> = (0..count).map(square).collect();
        let one_by_one = polygons
            .iter()
            .fold(RunLengths::from_counts(&[1600], [40, 40]), |all, polygon| {
                all.union(&RunLengths::from_polygons(std::slice::from_ref(polygon), [40, 40]))
            });
        assert_eq!(
            RunLengths::from_polygons(&polygons, [40, 40]),
            one_by_one,
            "{count} polygons"
        );
    }
}

#[test]
fn pixels_are_read_and_written() {
    for (pixels, counts) in [
        ([false; 6].as_slice(), &[6_u32][..]),
        (&[true; 6], &[0, 6]),
        (&[false, true, true, false, false, true], &[2, 1, 1, 2]),
    ] {
        let mask = RunLengths::from_pixels(pixels, [2, 3]);
        assert_eq!((mask.counts(), mask.decode()), (counts, pixels.to_vec()));
    }
    assert_eq!(RunLengths::from_pixels(&[], [0, 3]).counts(), [0]);
    assert_error(
        RunLengths::try_from_pixels(&[true; 5], [2, 3]),
        "`pixels` has length 5, but must have length 6: one for each pixel of `size`",
    );
}

#[test]
fn what_is_no_mask_is_an_error() {
    let check = |found: Result<RunLengths, DetectionError>, expected: &str| assert_error(found, expected);
    check(
        RunLengths::try_from_counts(&[1, 2], [2, 2]),
        "the run lengths have 2 runs of 3 pixels in all, but must have runs of 2 * 2 pixels in all",
    );
    check(
        RunLengths::try_from_counts(&[u32::MAX, u32::MAX], [1 << 16, 1 << 16]),
        "`size` is [65536, 65536], but must be of fewer than 2^32 pixels",
    );
    check(
        RunLengths::try_from_coco_string("1~", [2, 2]),
        "the run lengths have no number at byte 1, but must have numbers in groups of characters from `0` to `o`",
    );
    check(
        RunLengths::try_from_coco_string("oooooooooooo", [2, 2]),
        "the run lengths have no number at byte 0, but must have numbers in groups of characters from `0` to `o`",
    );
    check(
        RunLengths::try_from_coco_string("O", [2, 2]),
        "the run lengths have -1 as the length of run 0, but must have lengths from 0 to 2^32 - 1",
    );
    let polygon = |polygon: Vec<f64>| RunLengths::try_from_polygons(&[polygon], [2, 2]);
    check(
        polygon(vec![0.0; 7]),
        "`polygons` is a polygon of 7 coordinates, but must be of an even number of coordinates, 6 at least",
    );
    check(
        polygon(vec![f64::NAN; 6]),
        "`polygons` is a polygon with coordinate NaN, but must be of coordinates from -1e8 to 1e8",
    );
    let mask = RunLengths::from_counts(&[4], [2, 2]);
    let other = RunLengths::from_counts(&[4], [4, 1]);
    check(
        mask.try_union(&other),
        "the run lengths have size [4, 1], but must have size [2, 2], as the mask it is compared with",
    );
    assert!(mask.try_iou(&other, false).is_err());
}
