//! Elements far shorter than a pixel, so that many of them read the same row. Kernels keep the weights of eight.

use burn::tensor::Tensor;
use burn_roi::*;

use super::backward;
use crate::backends::backends;
use crate::problem::Operator;

/// Elements along each side of a region of one pixel.
const ELEMENTS: usize = 20;

/// More channels than a kernel computes together.
const CHANNELS: usize = 19;

#[test]
fn each_of_many_elements_gives_a_pixel_its_share() {
    // Element i of the box from 4 to 5 has its sample at 4 + f, where f is (i + 0.5) / 20. The pixels 4 and 5 have
    // weights 1 - f and f in it, which add up to 10 for either, and to 10 x 10 along both axes.
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::zeros([1, CHANNELS, 9, 9], device);
        let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[4.0, 4.0, 5.0, 5.0]], device)]);
        let ones = Tensor::<4>::ones([1, CHANNELS, ELEMENTS, ELEMENTS], device);
        let operator = Operator::RoiAlign(RoiAlignConfig::new([ELEMENTS; 2]).with_sampling_ratio(1));
        let found = backward(&operator, ones, features, &rois).expect("the call is right");
        let found = Tensor::<4>::from_dispatch(found.features()).into_data();
        for (number, found) in found.iter::<f32>().enumerate() {
            let (row, column) = (number / 9 % 9, number % 9);
            let expected = if [row, column].iter().all(|along| [4, 5].contains(along)) {
                100.0
            } else {
                0.0
            };
            assert!(
                (found - expected).abs() < 1e-3,
                "{}: {found} at row {row}, column {column} instead of {expected}",
                backend.name
            );
        }
    }
}
