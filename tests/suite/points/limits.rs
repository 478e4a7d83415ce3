//! Extremes: boxes far beyond the map, many regions, windows that no copy holds.

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::*;

use crate::agreement::largest_error;
use crate::backends::backends;
use crate::problem::random_numbers;

fn rotated(device: &Device, boxes: Vec<[f32; 5]>) -> RotatedRois {
    let count = boxes.len();
    RotatedRois::from_images(vec![Tensor::from_data(
        TensorData::new(boxes.concat(), [count, 5]),
        device,
    )])
}

/// Samples outside of the map are skipped. Were they visited, a box of 1e9 pixels would take hours.
#[test]
fn a_huge_box_takes_no_longer_than_the_map() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::ones([1, 2, 32, 32], device);
        for size in [1e3, 1e5, 1e7, 1e9, 1e20, 3e38] {
            for angle in [0.0, 0.7, 1e6] {
                let rois = rotated(
                    device,
                    vec![[16.0, 16.0, size, size, angle], [size, -size, size, size, angle]],
                );
                for sampling in [Sampling::Adaptive, Sampling::Fixed(2)] {
                    let config = RoiAlignRotatedConfig::new([7, 7]).with_sampling(sampling);
                    let output = roi_align_rotated(features.clone(), &rois, config).into_data();
                    let numbers: Vec<f32> = output.iter::<f32>().collect();
                    let within = numbers.iter().all(|number| (0.0..=1.0001).contains(number));
                    assert!(within, "{}: {size:e} at {angle}: {numbers:?}", backend.name);
                }
            }
        }
        // The middle one of seven by seven elements covers the map: 34 x 34 of 143 x 143 samples read it.
        let rois = rotated(device, vec![[16.0, 16.0, 1001.0, 1001.0, 0.0]]);
        let output = roi_align_rotated(features, &rois, RoiAlignRotatedConfig::new([7, 7])).into_data();
        let numbers: Vec<f32> = output.iter::<f32>().collect();
        let expected = (33.0f32 / 143.0).powi(2);
        assert!(
            (numbers[24] / expected - 1.0).abs() < 0.1,
            "{}: {}",
            backend.name,
            numbers[24]
        );
    }
}

#[test]
fn many_regions_are_regions_one_by_one() {
    let count: usize = 700;
    for backend in backends() {
        let device = &backend.device;
        let numbers = random_numbers(9, 2 * 20 * 40 * 40);
        let features = Tensor::<4>::from_data(TensorData::new(numbers, [2, 20, 40, 40]), device);
        let random = random_numbers(4, 5 * count);
        let (random, _) = random.as_chunks();
        let boxes: Vec<[f32; 5]> = random
            .iter()
            .map(|&[x, y, w, h, angle]| {
                [
                    20.0 + 20.0 * x,
                    20.0 + 20.0 * y,
                    9.0 + 8.0 * w,
                    9.0 + 8.0 * h,
                    4.0 * angle,
                ]
            })
            .collect();
        let config = || RoiAlignRotatedConfig::new([4, 5]).with_sampling_ratio(2);
        let all = roi_align_rotated(
            features.clone().slice_dim(0, 1..2),
            &rotated(device, boxes.clone()),
            config(),
        );
        for row in [0, 1, 333, count - 1] {
            let one = rotated(device, vec![boxes[row]]);
            let alone = roi_align_rotated(features.clone().slice_dim(0, 1..2), &one, config()).into_data();
            let error = largest_error(&all.clone().slice_dim(0, row..row + 1).into_data(), &alone);
            assert!(error <= 1e-6, "{}: region {row}: {error:e}", backend.name);
        }
    }
}

/// Eight channels of a window of 600 x 600 pixels are more than a copy holds: they are computed one by one.
#[test]
fn a_window_that_no_copy_holds() {
    for backend in backends().iter().filter(|backend| backend.is_host()) {
        let device = &backend.device;
        let numbers = random_numbers(2, 9 * 600 * 600);
        let features = Tensor::<4>::from_data(TensorData::new(numbers, [1, 9, 600, 600]), device);
        let rois = rotated(device, vec![[300.0, 300.0, 590.0, 580.0, 0.6]]);
        let config = || RoiAlignRotatedConfig::new([3, 3]).with_sampling_ratio(3);
        let all = roi_align_rotated(features.clone(), &rois, config());
        let last = roi_align_rotated(features.slice([0..1, 8..9]), &rois, config()).into_data();
        let error = largest_error(&all.slice([0..1, 8..9]).into_data(), &last);
        assert!(error <= 1e-6, "{}: {error:e}", backend.name);
    }
}

/// Four samples of a region as large as a map of 16,384 x 16,384 pixels: a weight for each pixel would be 1 GiB.
#[test]
fn few_samples_of_a_huge_region_take_little_memory() {
    for backend in backends().iter().filter(|backend| backend.is_host()) {
        let device = &backend.device;
        // One row, seen as all rows.
        let side = 16_384;
        let numbers = random_numbers(2, side);
        let row = Tensor::<4>::from_data(TensorData::new(numbers.clone(), [1, 1, 1, side]), device);
        let features = match backend.name {
            "flex" => row.expand([1, 1, side, side]),
            _ => row,
        };
        let half = side as f32 / 2.0;
        let height = features.dims()[2] as f32;
        let rois = rotated(device, vec![[half, height / 2.0, side as f32, height, 0.0]]);
        let config = RoiAlignRotatedConfig::new([1, 1]).with_sampling_ratio(2);
        let output = roi_align_rotated(features, &rois, config).into_data();
        let found: f32 = output.iter::<f32>().next().expect("one number");
        // Samples at a quarter and at three quarters, half a pixel before the middle of two.
        let middle = |at: usize| (numbers[at - 1] + numbers[at]) / 2.0;
        let expected = (middle(side / 4) + middle(3 * side / 4)) / 2.0;
        assert!(
            (found - expected).abs() <= 1e-5,
            "{}: {found}, not {expected}",
            backend.name
        );
    }
}
