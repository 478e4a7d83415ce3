//! What a maximum starts from, mmcv's regions, and the scales of a pyramid.

use burn::tensor::{DType, Tensor, TensorData};
use burn_roi::*;

use crate::backends::{Backend, backends};
use crate::gradients::backward;
use crate::problem::Operator;

/// The maximum of a bin of these pixels, and the gradient of each.
fn pool(backend: &Backend, dtype: DType, pixels: &[f64], config: &RoiPoolConfig) -> (f64, Vec<f64>) {
    let data = TensorData::new(pixels.to_vec(), [1, 1, 1, pixels.len()]).convert_dtype(dtype);
    let features = Tensor::<4>::from_data(data, (&backend.device, dtype));
    let corners = vec![0.0, 0.0, pixels.len() as f64 - 1.0, 0.0];
    let boxes = TensorData::new(corners, [1, 4]).convert_dtype(dtype);
    let rois = Rois::from_images(vec![Tensor::<2>::from_data(boxes, (&backend.device, dtype))]);
    let output = roi_pool(features.clone(), &rois, config.clone()).into_data();
    let ones = Tensor::<4>::ones([1, 1, 1, 1], (&backend.device, dtype));
    let gradients = backward(&Operator::RoiPool(config.clone()), ones, features, &rois).expect("the call is right");
    let of_pixels = Tensor::<4>::from_dispatch(gradients.features()).into_data();
    let first = output.iter::<f64>().next().expect("there is one element");
    (first, of_pixels.iter::<f64>().collect())
}

#[test]
fn a_bin_of_infinite_pixels_or_nan_is_what_the_maximum_starts_from() {
    const LEAST: f64 = f32::MIN as f64;
    let (infinite, nan) = (f64::NEG_INFINITY, f64::NAN);
    let torchvision: RoiPoolConfig = torchvision::RoiPool::new([1, 1]).into();
    let paddle: RoiPoolConfig = paddle::RoiPool::new([1, 1]).into();
    let openvino: RoiPoolConfig = openvino::RoiPoolingMax::new(1, 1, 1.0).into();
    for backend in backends() {
        for dtype in [DType::F32, DType::F64]
            .into_iter()
            .filter(|&dtype| backend.supports(dtype))
        {
            let check = |config: &RoiPoolConfig, pixels: &[f64], expected: f64, of_pixels: &[f64]| {
                let found = pool(&backend, dtype, pixels, config);
                assert_eq!(
                    found,
                    (expected, of_pixels.to_vec()),
                    "{}: {dtype:?} {pixels:?}",
                    backend.name
                );
            };
            check(&torchvision, &[infinite, infinite], LEAST, &[0.0, 0.0]);
            check(&torchvision, &[LEAST, infinite], LEAST, &[0.0, 0.0]);
            check(&openvino, &[infinite, infinite], infinite, &[0.0, 0.0]);
            check(&openvino, &[infinite, LEAST], LEAST, &[0.0, 1.0]);
            let of_paddle = if dtype == DType::F64 { f64::MIN } else { LEAST };
            check(&paddle, &[infinite, infinite], of_paddle, &[0.0, 0.0]);
            if backend.is_host() {
                check(&torchvision, &[nan, nan], LEAST, &[0.0, 0.0]);
                check(&torchvision, &[nan, -3.0, infinite, nan], -3.0, &[0.0, 1.0, 0.0, 0.0]);
            }
        }
    }
}

#[test]
fn roi_pool_of_mmcv_does_not_round() {
    for backend in backends() {
        let numbers: Vec<f32> = (0..45 * 80).map(|number| number as f32).collect();
        let features = Tensor::<4>::from_data(TensorData::new(numbers, [1, 1, 45, 80]), &backend.device);
        let boxes = [
            [10.0, 11.0, 71.0, 17.0],
            [20.0, 20.0, 10.0, 40.0],
            [33.0, 33.0, 32.0, 60.0],
        ];
        let rois = Rois::from_images(vec![Tensor::<2>::from_floats(boxes, &backend.device)]);
        let config = mmcv::RoiPool::new([3, 3]).with_spatial_scale(1.0 / 16.0);
        let pooled: Vec<f32> = roi_pool(features, &rois, config).into_data().iter::<f32>().collect();
        assert_eq!(
            pooled[..9],
            [1.0, 3.0, 4.0, 1.0, 3.0, 4.0, 81.0, 83.0, 84.0],
            "{}",
            backend.name
        );
        // Inverted, and of no width: both give 0.
        assert!(pooled[9..].iter().all(|&number| number == 0.0), "{}", backend.name);
    }
}

#[test]
fn scales_of_a_wide_image_come_from_its_width() {
    let maps = [[24, 336], [12, 168], [6, 84], [3, 42]];
    assert_eq!(infer_scales(&maps, &[[66, 1333]]), [0.25, 0.125, 0.0625, 0.03125]);
}
