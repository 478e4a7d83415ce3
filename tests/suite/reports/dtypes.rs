//! Features of half dtypes beside boxes of f32, as automatic mixed precision has them.

use burn::tensor::{DType, FloatDType, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::backends::{Backend, backends};
use crate::gradients::backward;
use crate::point_calls;
use crate::strategies::problems;

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// A device compiles kernels for each kind of call, in each dtype.
fn cases(backend: &Backend) -> u32 {
    if backend.is_host() { 60 } else { 6 }
}

fn numbers(data: TensorData) -> Vec<f64> {
    data.iter::<f64>().collect()
}

#[test]
fn bf16_features_with_an_f32_box_of_a_large_image() {
    for backend in backends().iter().filter(|backend| backend.supports(DType::BF16)) {
        let pixels: Vec<f32> = (0..160 * 320).map(|place| (place % 320) as f32 - 256.0).collect();
        let data = TensorData::new(pixels, [1, 1, 160, 320]).convert_dtype(DType::BF16);
        let features = Tensor::<4>::from_data(data, (&backend.device, DType::BF16));
        let boxes = Tensor::<2>::from_floats([[1003.0, 507.0, 1101.0, 613.0]], &backend.device);
        let config = RoiAlignConfig::new([1, 2])
            .with_spatial_scale(0.25)
            .with_sampling_ratio(2)
            .with_aligned(true);
        let pool = |boxes: Tensor<2>| {
            let pooled = roi_align(features.clone(), &Rois::from_images(vec![boxes]), config.clone());
            assert_eq!(pooled.dtype(), DType::BF16);
            numbers(pooled.into_data())
        };
        assert_eq!(pool(boxes.clone()), [0.375, 12.625], "{}", backend.name);
        assert_eq!(pool(boxes.cast(FloatDType::BF16)), [0.75, 13.25], "{}", backend.name);
    }
}

/// Coordinates and sums are f32 either way, so that only the rounding of results differs.
#[test]
fn mixed_dtypes_give_the_rounded_f32_results_and_gradients() {
    for backend in backends() {
        for half in HALVES.into_iter().filter(|&half| backend.supports(half)) {
            proptest!(drawn(cases(&backend)), |(problem in problems())| {
                let device = &backend.device;
                let rois = problem.rois(device, DType::F32, DType::F32);
                let features = problem.features(device, half, half);
                let wide = problem.features(device, half, DType::F32);
                let pool = |features| problem.operator.call(features, &rois).expect("the problem is right").into_data();
                let (found, expected) = (pool(features.clone()), pool(wide.clone()).convert_dtype(half));
                prop_assert_eq!(numbers(found), numbers(expected), "{} {:?}", backend.name, half);

                let weights = TensorData::new(problem.weights(), problem.output_shape()).convert_dtype(half);
                let gradients = |features: Tensor<4>, dtype: DType| {
                    let weights = Tensor::<4>::from_data(weights.clone().convert_dtype(dtype), (device, dtype));
                    let backward = backward(&problem.operator, weights, features, &rois).expect("the problem is right");
                    let of_features = Tensor::<4>::from_dispatch(backward.features()).into_data();
                    (of_features, Tensor::<2>::from_dispatch(backward.boxes()).into_data())
                };
                let (found, expected) = (gradients(features, half), gradients(wide, DType::F32));
                prop_assert_eq!(found.1.dtype(), DType::F32);
                prop_assert_eq!(numbers(found.1), numbers(expected.1), "{} {:?}", backend.name, half);
                let expected = expected.0.convert_dtype(half);
                prop_assert_eq!(numbers(found.0), numbers(expected), "{} {:?}", backend.name, half);
            });
        }
    }
}

#[test]
fn mixed_dtypes_of_points_give_the_rounded_f32_results() {
    for backend in backends() {
        for half in HALVES.into_iter().filter(|&half| backend.supports(half)) {
            proptest!(drawn(cases(&backend)), |(problem in point_calls::strategies::problems())| {
                let device = &backend.device;
                let mut inputs = problem.inputs(device, DType::F32);
                inputs.features = problem.inputs(device, half).features;
                let found = problem.call(inputs.clone(), device).into_data();
                inputs.features = inputs.features.cast(FloatDType::F32);
                let expected = problem.call(inputs, device).into_data().convert_dtype(half);
                prop_assert_eq!(numbers(found), numbers(expected), "{} {:?}", backend.name, half);
            });
        }
    }
}

#[test]
fn a_pyramid_and_its_gradients_take_mixed_dtypes() {
    for backend in backends() {
        for half in HALVES.into_iter().filter(|&half| backend.supports(half)) {
            let device = backend.device.clone().autodiff();
            let boxes = [[3.0, 4.0, 21.0, 17.0], [0.5, 1.5, 60.0, 50.0], [-9.0, 2.0, 14.0, 70.0]];
            let run = |dtype: DType| {
                let maps = [[32, 40], [16, 20]].map(|[height, width]| {
                    let numbers = crate::problem::random_numbers(3, 2 * height * width);
                    let data = TensorData::new(numbers, [1, 2, height, width]).convert_dtype(half);
                    Tensor::<4>::from_data(data.convert_dtype(dtype), (&device, dtype)).require_grad()
                });
                let boxes = Tensor::<2>::from_floats(boxes, &device).require_grad();
                let rois = Rois::from_images(vec![boxes.clone()]);
                let roi_align = RoiAlignConfig::new([3, 2]).with_sampling_ratio(2).with_aligned(true);
                let config = MultiScaleRoiAlignConfig::new(roi_align)
                    .with_canonical_scale(32.0)
                    .with_canonical_level(1);
                let pooled = multi_scale_roi_align(maps.to_vec(), &rois, &[0.5, 0.25], config);
                let gradients = pooled.clone().sum().backward();
                let of_boxes = boxes.grad(&gradients).expect("a gradient of boxes").into_data();
                let of_maps = maps.map(|map| map.grad(&gradients).expect("a gradient of features").into_data());
                (pooled.into_data(), of_boxes, of_maps)
            };
            let (found, expected) = (run(half), run(DType::F32));
            assert_eq!(
                numbers(found.0),
                numbers(expected.0.convert_dtype(half)),
                "{}",
                backend.name
            );
            assert_eq!(found.1.dtype(), DType::F32);
            assert_eq!(numbers(found.1), numbers(expected.1), "{}", backend.name);
            for (found, expected) in found.2.into_iter().zip(expected.2) {
                assert_eq!(
                    numbers(found),
                    numbers(expected.convert_dtype(half)),
                    "{}",
                    backend.name
                );
            }
        }
    }
}

#[test]
fn boxes_of_another_half_dtype_are_refused() {
    for backend in backends()
        .iter()
        .filter(|backend| HALVES.iter().all(|&half| backend.supports(half)))
    {
        let features = Tensor::<4>::ones([1, 1, 4, 4], (&backend.device, DType::BF16));
        let rois = Rois::from_images(vec![Tensor::<2>::ones([1, 4], (&backend.device, DType::F16))]);
        let error = try_roi_align(features, &rois, RoiAlignConfig::new([1, 1])).expect_err("F16 is not BF16");
        assert_eq!(
            error.to_string(),
            "`boxes` is of dtype F16, but must be of F32, or BF16 as `features` is"
        );
    }
}
