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
                "`boxes` has 3 rows and `batch_indices` has 2, but both must have one for each region",
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

#[test]
fn features_may_have_no_channel_but_not_no_pixel() {
    for backend in backends() {
        let device = &backend.device;
        let call = |shape: [usize; 5]| {
            let boxes = Tensor::<3>::zeros([1, 3, 4], (device, DType::F32));
            let features = Tensor::<5>::zeros(shape, (device, DType::F32));
            try_tube_align(features, boxes, Tensor::zeros([1], device), RoiAlignConfig::new([2, 2]))
        };
        let tubes = call([1, 0, 3, 6, 6]).expect("no channel is needed");
        assert_eq!(tubes.dims(), [1, 0, 3, 2, 2], "{}", backend.name);
        for shape in [[1, 8, 3, 0, 6], [1, 8, 3, 6, 0]] {
            assert!(
                matches!(call(shape), Err(RoiError::EmptyMap { .. })),
                "{}",
                backend.name
            );
        }
    }
}

/// An index of a dtype that does not hold the index of every frame, and one that times the frames would be a right one.
#[test]
fn indices_are_those_of_videos() {
    for backend in backends() {
        let features = Tensor::<5>::ones([3, 1, 100, 2, 2], (&backend.device, DType::F32));
        let boxes = Tensor::<3>::ones([1, 100, 4], (&backend.device, DType::F32));
        let call = |index: Tensor<1, Int>| {
            let config = RoiAlignConfig::new([1, 1]).with_out_of_bounds_value(5.0);
            let pooled = try_tube_align(features.clone(), boxes.clone(), index, config);
            pooled.map(|pooled| pooled.into_data().iter::<f32>().collect::<Vec<_>>())
        };
        if backend.is_host() {
            let index = Tensor::<1, Int>::from_data([2], (&backend.device, DType::U8));
            assert_eq!(call(index), Ok(vec![1.0; 100]), "{}", backend.name);
        }
        for index in [3, -1, 1 << 30] {
            let expected =
                format!("`batch_indices` row 0 is {index}, but must be at least 0 and below the batch size 3");
            match call(Tensor::from_ints([index], &backend.device)) {
                Err(error) => assert!(backend.is_host() && error.to_string() == expected, "{error}"),
                Ok(pooled) => assert!(
                    !backend.is_host() && pooled == [5.0; 100],
                    "{}: {pooled:?}",
                    backend.name
                ),
            }
        }
    }
}
