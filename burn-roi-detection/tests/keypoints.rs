//! Keypoints lie where a plain bicubic interpolation in f64 has its largest value.

use burn::tensor::{DType, Tensor, TensorData};
use burn_roi::RoiError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::{heatmaps_to_keypoints, try_heatmaps_to_keypoints};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::backends::backends;
use crate::bad_input::{assert_error, floats};

/// The value of torch's cubic convolution at a distance.
fn cubic(distance: f64) -> f64 {
    let (x, a) = (distance.abs(), -0.75);
    if x <= 1.0 {
        (a + 2.0) * x.powi(3) - (a + 3.0) * x.powi(2) + 1.0
    } else if x < 2.0 {
        a * (x.powi(3) - 5.0 * x.powi(2) + 8.0 * x - 4.0)
    } else {
        0.0
    }
}

/// A pixel of a map `[4, 5]` that is resized to `[height, width]`.
fn resized(map: &[f32], [height, width]: [usize; 2], [y, x]: [usize; 2]) -> f64 {
    let at = |pixel: usize, given: f64, asked: usize| given / asked as f64 * (pixel as f64 + 0.5) - 0.5;
    let (y, x) = (at(y, 4.0, height), at(x, 5.0, width));
    let mut sum = 0.0;
    for row in -3..8i64 {
        for column in -3..9i64 {
            let pixel = map[row.clamp(0, 3) as usize * 5 + column.clamp(0, 4) as usize];
            sum += cubic(y - row as f64) * cubic(x - column as f64) * f64::from(pixel);
        }
    }
    sum
}

proptest! {
    #[test]
    fn keypoints_are_the_largest_values(
        map in vec(-1.0f32..1.0, 20),
        corner in [-20.0f32..20.0, -20.0f32..20.0],
        sides in [0.1f32..13.0, 0.1f32..13.0],
    ) {
        let device = &backends()[0].device;
        let [x1, y1] = corner;
        let (x2, y2) = (x1 + sides[0], y1 + sides[1]);
        let maps = Tensor::<4>::from_data(TensorData::new(map.clone(), [1, 1, 4, 5]), device);
        let boxes = Tensor::<2>::from_floats([[x1, y1, x2, y2]], device);
        let (keypoints, scores) = heatmaps_to_keypoints(maps, boxes);
        let keypoints: Vec<f32> = keypoints.into_data().iter::<f32>().collect();
        let score: f64 = scores.into_scalar::<f32>().into();

        let lengths = [y2 - y1, x2 - x1].map(|length| length.max(1.0));
        let sizes = lengths.map(|length| length.ceil() as usize);
        let pixels = (0..sizes[0]).flat_map(|y| (0..sizes[1]).map(move |x| [y, x]));
        let largest = pixels.map(|pixel| resized(&map, sizes, pixel)).fold(f64::MIN, f64::max);
        prop_assert!((score - largest).abs() < 1e-4, "{score} and not {largest}");
        // Of nearly equal values, any may be the largest.
        let pixel = |at: usize, first: f32, length: f32, size: usize| {
            let pixel = (keypoints[at] - first) / length * size as f32 - 0.5;
            prop_assert!((pixel - pixel.round()).abs() < 1e-2, "{pixel} is no pixel's centre");
            Ok(pixel.round() as usize)
        };
        let found = [pixel(1, y1, lengths[0], sizes[0])?, pixel(0, x1, lengths[1], sizes[1])?];
        prop_assert!(found[0] < sizes[0] && found[1] < sizes[1], "{found:?} of {sizes:?}");
        prop_assert!((resized(&map, sizes, found) - largest).abs() < 1e-4);
        prop_assert_eq!(keypoints[2], 1.0);
    }
}

#[test]
fn equal_values_infinite_values_and_nan() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0]; 3], device);
        let (least, nan) = (f32::NEG_INFINITY, f32::NAN);
        let maps = [
            [[[1.0, 1.0], [1.0, 1.0]]],
            [[[least; 2]; 2]],
            [[[9.0, 0.0], [nan, 0.0]]],
        ];
        let (keypoints, scores) = heatmaps_to_keypoints(Tensor::<4>::from_floats(maps, device), boxes);
        let keypoints: Vec<f32> = keypoints.into_data().iter::<f32>().collect();
        assert_eq!(keypoints[..6], [0.5, 0.5, 1.0, 0.5, 0.5, 1.0], "{}", backend.name);
        let scores: Vec<f32> = scores.into_data().iter::<f32>().collect();
        assert_eq!(scores[0], 1.0);
        assert!(scores[2].is_nan(), "{}: {scores:?}", backend.name);
    }
}

#[test]
fn no_detection_and_no_keypoint() {
    for backend in backends() {
        let device = &backend.device;
        let (keypoints, scores) = heatmaps_to_keypoints(floats([0, 17, 4, 4], device), floats([0, 4], device));
        assert_eq!((keypoints.dims(), scores.dims()), ([0, 17, 3], [0, 17]));
        let (keypoints, scores) = heatmaps_to_keypoints(floats([2, 0, 4, 4], device), floats([2, 4], device));
        assert_eq!((keypoints.dims(), scores.dims()), ([2, 0, 3], [2, 0]));
    }
}

#[test]
fn f16_gives_f16() {
    for backend in backends() {
        let device = &backend.device;
        if !backend.supports(DType::F16) {
            continue;
        }
        let maps = floats([1, 2, 4, 4], device).cast(DType::F16);
        let (keypoints, scores) = heatmaps_to_keypoints(maps, floats([1, 4], device));
        assert_eq!((keypoints.dtype(), scores.dtype()), (DType::F16, DType::F16));
    }
}

#[test]
fn arguments_that_do_not_fit() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = || floats([2, 4], device);
        assert_error(
            try_heatmaps_to_keypoints(floats([3, 1, 4, 4], device), boxes()),
            "`maps` has length 3, but must have length 2: one for each row of `boxes`",
        );
        assert_error(
            try_heatmaps_to_keypoints(floats([2, 1, 0, 4], device), boxes()),
            "`maps` has shape [2, 1, 0, 4], but must have shape [K, P, H, W], with H and W above 0",
        );
        let one = |coordinates: [f32; 4]| {
            let boxes = Tensor::<2>::from_floats([coordinates], device);
            try_heatmaps_to_keypoints(floats([1, 1, 4, 4], device), boxes)
        };
        let infinite = one([0.0, 0.0, f32::INFINITY, 1.0]);
        assert!(matches!(
            infinite,
            Err(DetectionError::Roi(RoiError::BoxNotFinite { row: 0, .. }))
        ));
        assert_error(
            one([0.0, 0.0, 40000.0, 1.0]),
            "`boxes` row 0 is [0.0, 0.0, 40000.0, 1.0], but must have sides of at most 32767",
        );
    }
}
