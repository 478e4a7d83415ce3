//! An element that reads an infinite pixel is not finite, on any backend.
//!
//! Whether it is infinite or not a number is left open. A sample reads two pixels along an axis, and one of them may
//! have a weight of 0. torchvision and the kernels of CubeCL multiply the infinite pixel by that 0. On Flex and NdArray
//! the weights of a pixel are added up first, so at the map's edge, where both pixels are one, it has all of the
//! weight.

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

/// One sample at a point of a map of 6 x 6 whose pixels are 1, but for one that is infinite.
fn sample(device: &Device, [x, y]: [f32; 2], [row, column]: [usize; 2]) -> f32 {
    let mut pixels = vec![1.0f32; 36];
    pixels[row * 6 + column] = f32::INFINITY;
    let features = Tensor::<4>::from_data(TensorData::new(pixels, [1, 1, 6, 6]), device);
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[x, y, x, y]], device)]);
    let config = RoiAlignConfig::new([1, 1])
        .with_minimum_length(None)
        .with_sampling_ratio(1);
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
