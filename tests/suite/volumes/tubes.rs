//! `tube_align`, frame by frame.

use burn::tensor::{DType, Int, Tensor};
use burn_roi::*;

use crate::backends::backends;
use crate::problem::random_numbers;

#[test]
fn a_tube_is_a_box_in_each_frame() {
    let [n, c, t, h, w, k] = [2, 3, 4, 9, 11, 3];
    for backend in backends() {
        let options = (&backend.device, DType::F32);
        let numbers = |seed, shape: &[usize]| {
            burn::tensor::TensorData::new(random_numbers(seed, shape.iter().product()), shape.to_vec())
        };
        let features = Tensor::<5>::from_data(numbers(1, &[n, c, t, h, w]), options);
        let boxes = Tensor::<3>::from_data(numbers(2, &[k, t, 4]), options) * 20.0;
        let videos = Tensor::<1, Int>::from_ints([1, 0, 1], &backend.device);
        let config = RoiAlignConfig::new([2, 5]).with_spatial_scale(0.5).with_aligned(true);
        let tubes = tube_align(features.clone(), boxes.clone(), videos.clone(), config.clone());
        assert_eq!(tubes.dims(), [k, c, t, 2, 5]);
        for frame in 0..t {
            let of_frame = boxes.clone().narrow(1, frame, 1).reshape([k, 4]);
            let maps = features.clone().narrow(2, frame, 1).reshape([n, c, h, w]);
            let expected = roi_align(maps, &Rois::new(of_frame, videos.clone()), config.clone());
            let found = tubes.clone().narrow(2, frame, 1).reshape([k, c, 2, 5]);
            assert_eq!(found.into_data(), expected.into_data(), "{}", backend.name);
        }
    }
}

#[test]
fn boxes_have_a_row_for_each_frame() {
    for backend in backends() {
        let features = Tensor::<5>::ones([1, 2, 4, 6, 6], &backend.device);
        let call = |boxes, count| {
            let boxes = Tensor::<3>::zeros(boxes, &backend.device);
            let videos = Tensor::<1, Int>::zeros([count], &backend.device);
            try_tube_align(features.clone(), boxes, videos, RoiAlignConfig::new([2, 2])).map(|tubes| tubes.dims())
        };
        assert_eq!(call([3, 4, 4], 3), Ok([3, 2, 4, 2, 2]));
        assert_eq!(call([0, 4, 4], 0), Ok([0, 2, 4, 2, 2]));
        for (boxes, count, expected) in [
            (
                [3, 5, 4],
                3,
                "`boxes` has shape [3, 5, 4], but must have shape [K, T, 4], with the T of `features`",
            ),
            (
                [3, 4, 6],
                3,
                "`boxes` has shape [3, 4, 6], but must have shape [K, T, 4], with the T of `features`",
            ),
            (
                [3, 4, 4],
                2,
                "`boxes` has 12 rows and `batch_indices` has 8, but both must have one for each region",
            ),
        ] {
            let error = call(boxes, count).expect_err("the call is wrong");
            assert_eq!(error.to_string(), expected, "{}", backend.name);
        }
    }
}

#[test]
fn a_video_has_a_frame() {
    for backend in backends() {
        let none = Tensor::<5>::zeros([1, 2, 0, 6, 6], (&backend.device, DType::F32));
        let boxes = Tensor::<3>::zeros([3, 0, 4], (&backend.device, DType::F32));
        let videos = Tensor::zeros([3], &backend.device);
        let error = try_tube_align(none, boxes, videos, RoiAlignConfig::new([2, 2])).expect_err("it has no frame");
        let expected = "`features` has shape [1, 2, 0, 6, 6], but must have shape [N, C, T, H, W], with T above 0";
        assert_eq!(error.to_string(), expected, "{}", backend.name);
    }
}
