//! An element that reads an infinite pixel is not finite, on any backend.
//!
//! Whether it is infinite or not a number is left open. A sample reads two pixels along an axis, and one of them may
//! have a weight of 0. torchvision and the kernels of CubeCL multiply the infinite pixel by that 0. On Flex and NdArray
//! the weights of a pixel are added up first, so at the map's edge, where both pixels are one, it has all of the
//! weight.

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

/// One sample at a point.
fn sample(device: &Device, [x, y]: [f32; 2], pixel: [usize; 2]) -> f32 {
    mean(device, [x, y, x, y], 1, pixel)
}

/// The mean of `samples` x `samples` samples of a box on a map of 6 x 6 whose pixels are 1, but for one that is
/// infinite.
fn mean(device: &Device, corners: [f32; 4], samples: usize, [row, column]: [usize; 2]) -> f32 {
    let mut pixels = vec![1.0f32; 36];
    pixels[row * 6 + column] = f32::INFINITY;
    let features = Tensor::<4>::from_data(TensorData::new(pixels, [1, 1, 6, 6]), device);
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats([corners], device)]);
    let config = RoiAlignConfig::new([1, 1])
        .with_minimum_length(None)
        .with_sampling_ratio(samples);
    let output = roi_align(features, &rois, config).into_data();
    output.iter::<f32>().next().expect("there is one element")
}

#[test]
fn a_sample_beside_an_infinite_pixel_is_not_finite() {
    // Points (x, y), and the (row, column) of a pixel that a sample there reads.
    let reads = [
        ([2.5, 2.0], [2, 2]),
        ([2.5, 2.5], [3, 3]),
        ([2.0, 2.0], [2, 2]),
        // The next pixel, whose weight is 0.
        ([2.0, 2.0], [2, 3]),
        ([2.0, 2.0], [3, 2]),
        // The last pixel is also the next one.
        ([5.0, 5.0], [5, 5]),
        ([5.5, 5.5], [5, 5]),
        ([5.5, 2.5], [2, 5]),
        ([4.5, 2.5], [2, 5]),
        ([-0.5, -0.5], [0, 0]),
    ];
    for backend in backends() {
        for (point, pixel) in reads {
            let found = sample(&backend.device, point, pixel);
            assert!(!found.is_finite(), "{}: {found} at {point:?}", backend.name);
        }
    }
}

#[test]
fn a_sample_elsewhere_is_finite() {
    for backend in backends() {
        for (point, pixel, expected) in [
            ([2.0, 2.0], [2, 1], 1.0),
            ([2.5, 2.5], [2, 4], 1.0),
            ([2.5, 2.5], [1, 2], 1.0),
            // Out of bounds.
            ([7.5, 2.0], [2, 5], 0.0),
            ([7.5, 2.0], [0, 0], 0.0),
        ] {
            let found = sample(&backend.device, point, pixel);
            assert_eq!(found, expected, "{}: at {point:?}", backend.name);
        }
    }
}

#[test]
fn samples_that_share_pixels_read_no_others() {
    // Samples at 1.5 and 2.5 read the pixels 1, 2 and 3, samples at 1.25, 1.75 and 2.25 the same, and samples at 0.5
    // and 3.5 the pixels 0, 1, 3 and 4. Flex and NdArray multiply pixel 2 by a weight of 0 there.
    let boxes = [
        ([1.0, 3.0], 2, vec![1, 2, 3]),
        ([1.0, 2.5], 3, vec![1, 2, 3]),
        ([-1.0, 5.0], 2, vec![0, 1, 3, 4]),
    ];
    for backend in backends() {
        let computes_on_host = backend.is_host() || backend.name == "remote";
        let boxes = if computes_on_host { &boxes[..2] } else { &boxes };
        for ([low, high], samples, read) in boxes {
            for pixel in 0..36 {
                let place = [pixel / 6, pixel % 6];
                let found = mean(&backend.device, [*low, *low, *high, *high], *samples, place);
                let reads = place.iter().all(|along| read.contains(along));
                let right = if reads {
                    found == f32::INFINITY
                } else {
                    (found - 1.0).abs() < 1e-6
                };
                assert!(
                    right,
                    "{}: {found} with pixel {place:?} in the box from {low} to {high}",
                    backend.name
                );
            }
        }
    }
}
