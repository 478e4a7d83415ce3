//! What the exact mean of the bilinear map over bins must be, from the least bins to the largest.

use burn::tensor::{Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::backends::backends;
use crate::properties::{inside, map, nearly, numbers, one_region};

/// The bins of a box, far enough from the border that only pixels of the map take part.
#[test]
fn the_precise_pool_of_a_ramp_is_its_value_at_the_middle_of_each_bin() {
    for backend in backends() {
        let strategy = (
            inside(9),
            inside(13),
            [1usize..6, 1usize..6],
            -2.0f32..2.0,
            -2.0f32..2.0,
        );
        proptest!(drawn(50), |((y, x, size, slope_y, slope_x) in strategy)| {
            let ramp = |y: f32, x: f32| slope_y * y + slope_x * x;
            let middle = |ends: [f32; 2], index: usize, count: usize| {
                ends[0] + (ends[1] - ends[0]) * (index as f32 + 0.5) / count as f32
            };
            let [height, width] = size;
            let expected: Vec<f32> = (0..height * width)
                .map(|index| ramp(middle(y, index / width, height), middle(x, index % width, width)))
                .collect();
            let rois = one_region([x[0], y[0], x[1], y[1]], &backend.device);
            let pool = |features| numbers(prroi_pool(features, &rois, PrRoiPoolConfig::new(size)));
            let found = pool(map([9, 13], &backend.device, ramp));
            prop_assert!(nearly(&found, &expected, 2e-5), "{}: {found:?}, not {expected:?}", backend.name);
            let found = pool(map([9, 13], &backend.device, |_, _| 1.0));
            prop_assert!(nearly(&found, &vec![1.0; height * width], 1e-6), "{}: {found:?}", backend.name);
        });
    }
}

/// A bin that covers the map has the integral of each pixel's hat, which is 1 along an axis.
#[test]
fn a_huge_bin_of_a_constant_map_gives_its_share() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::ones([1, 9, 64, 64], device);
        for size in [1e3f32, 1e4, 1e6, 1e9, 3e38] {
            let rois = one_region([-size, -size, size, size], device);
            let output = prroi_pool(features.clone(), &rois, PrRoiPoolConfig::new([7, 7])).into_data();
            let share = 64.0 / (2.0 * f64::from(size) / 7.0);
            for (number, found) in output.iter::<f64>().enumerate() {
                let expected = if number % 49 == 24 { share * share } else { 0.0 };
                assert!(
                    // The least share is below the least f32.
                    (found - expected).abs() <= 1e-4 * expected + 1e-40,
                    "{}: element {number} of a box of {size:e} is {found:e}, not {expected:e}",
                    backend.name
                );
            }
        }
    }
}

/// Short bins at any place: their means are values of the map, and no difference of large numbers.
#[test]
fn short_bins_give_the_value_of_the_map_where_they_lie() {
    for backend in backends() {
        let device = &backend.device;
        let ramp: Vec<f32> = (0..3000).map(|pixel| (pixel % 100) as f32 / 10.0).collect();
        let features = Tensor::<4>::from_data(TensorData::new(ramp, [1, 1, 1, 3000]), device);
        for (start, expected) in [
            (0.0f32, 0.0),
            (0.25, 0.025),
            (1.0, 0.1),
            (2040.5, 4.05),
            (2998.75, 9.875),
        ] {
            // The difference of two f32 that are next to each other, or more.
            let least = f32::EPSILON * start.max(1.0);
            for length in [least, 1e-4f32.max(least), 1e-3] {
                let rois = one_region([start, -5e-4, start + length, 5e-4], device);
                let output = prroi_pool(features.clone(), &rois, PrRoiPoolConfig::new([1, 5])).into_data();
                for found in output.iter::<f64>() {
                    assert!(
                        (found - expected).abs() <= 5e-3,
                        "{}: {found} at {start} of {length:e}, not {expected}",
                        backend.name
                    );
                }
            }
        }
    }
}
