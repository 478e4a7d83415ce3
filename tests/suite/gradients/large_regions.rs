//! Regions whose samples are more than a host backend holds at once, so that it reads them in parts.

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::*;

use super::backward;
use crate::backends::backends;
use crate::problem::Operator;

/// Pixels along each side of an element.
const SIDE: usize = 67;

/// With 64 channels, the samples of 7 elements are the most that the composition of tensor operations holds at once.
const CHANNELS: usize = 64;

/// Output sizes of 9 elements: cut into rows, and into columns.
const SIZES: [[usize; 2]; 2] = [[3, 3], [1, 9]];

/// A map of the size that `size` elements read, with no number twice.
fn features(device: &Device, [rows, columns]: [usize; 2]) -> Tensor<4> {
    let shape = [1, CHANNELS, rows * SIDE, columns * SIDE];
    let count: usize = shape.iter().product();
    // An odd factor permutes the numbers below a power of two, and f32 has all of these.
    let numbers: Vec<f32> = (0..count).map(|number| (number * 311 % (1 << 22)) as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

/// Each element is the largest of 67 x 67 pixels.
fn operators(size: [usize; 2]) -> [Operator; 2] {
    // Aligned to pixel centers, these samples lie on pixels.
    let align = RoiAlignConfig::new(size)
        .with_reduction(Reduction::Max)
        .with_aligned(true)
        .with_sampling_ratio(SIDE);
    [Operator::RoiPool(RoiPoolConfig::new(size)), Operator::RoiAlign(align)]
}

/// The box of the whole map, which `roi_pool` takes with its last pixel and `roi_align` without.
fn whole_map(device: &Device, operator: &Operator, [rows, columns]: [usize; 2]) -> Rois {
    let last = if matches!(operator, Operator::RoiPool(_)) { 1 } else { 0 };
    let [y, x] = [rows, columns].map(|elements| (elements * SIDE - last) as f32);
    Rois::from_images(vec![Tensor::<2>::from_floats([[0.0, 0.0, x, y]], device)])
}

#[test]
fn the_largest_pixel_of_each_element_gets_its_gradient() {
    for backend in backends() {
        let device = &backend.device;
        for size in SIZES {
            let [rows, columns] = size;
            let features = features(device, size);
            let elements = [CHANNELS, rows, SIDE, columns, SIDE];
            let of_elements = features.clone().reshape(elements);
            let largest = of_elements.clone().max_dim(2).max_dim(4);
            let expected = of_elements
                .equal(largest.expand(elements))
                .float()
                .reshape(features.dims());
            for operator in operators(size) {
                let rois = whole_map(device, &operator, size);
                let ones = Tensor::<4>::ones([1, CHANNELS, rows, columns], device);
                let found = backward(&operator, ones, features.clone(), &rois).expect("the call is right");
                let found = Tensor::<4>::from_dispatch(found.features());
                let most = (found - expected.clone()).abs().max().into_scalar::<f32>();
                assert!(most < 1e-4, "{}: {operator:?}: off by {most}", backend.name);
            }
        }
    }
}
