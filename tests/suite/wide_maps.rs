//! Calls whose plan on a GPU is made in parts: an adaptive region on a map of 30,000 columns takes 240 kB of it, of the
//! 64 MiB that a part may have.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Tensor, TensorData, Tolerance};
use burn_roi::*;

use crate::backends::backends;
use crate::problem::random_numbers;

const REGIONS: usize = 600;
const FEATURES: [usize; 4] = [1, 9, 2, 30_000];

fn config() -> RoiAlignConfig {
    RoiAlignConfig::new([2, 3])
}

/// Regions that lie one after another, and overlap.
fn rois(device: &Device, rows: std::ops::Range<usize>) -> Rois {
    let boxes: Vec<f32> = rows
        .clone()
        .flat_map(|row| [row as f32 * 45.3, 0.2, row as f32 * 46.1 + 60.0, 1.9])
        .collect();
    let boxes = TensorData::new(boxes, [rows.len(), 4]);
    Rois::from_images(vec![Tensor::from_data(boxes, (device, DType::F32))])
}

/// Numbers that f16 holds.
fn numbers(shape: [usize; 4], device: &Device, dtype: DType) -> Tensor<4> {
    let numbers = random_numbers(1, shape.iter().product());
    let numbers: Vec<f32> = numbers.iter().map(|number| (number * 64.0).round() / 64.0).collect();
    Tensor::from_data(TensorData::new(numbers, shape), (device, dtype))
}

fn gradient(device: &Device, rows: std::ops::Range<usize>, dtype: DType) -> TensorData {
    let output = numbers([REGIONS, 9, 2, 3], device, dtype).slice_dim(0, rows.clone());
    let features = numbers(FEATURES, device, dtype);
    let rois = rois(device, rows);
    let backward = primitive::backward::<Dispatch>(
        output.into_dispatch(),
        features.into_dispatch(),
        (&rois).into(),
        config(),
    );
    Tensor::<4>::from_dispatch(backward.features()).into_data()
}

#[test]
fn regions_planned_in_parts_are_pooled_as_alone() {
    for backend in backends() {
        let features = numbers(FEATURES, &backend.device, DType::F32);
        let pool = |rows| roi_align(features.clone(), &rois(&backend.device, rows), config());
        let all = pool(0..REGIONS);
        for rows in [0..5, 270..290, REGIONS - 5..REGIONS] {
            let of_rows = all.clone().slice_dim(0, rows.clone()).into_data();
            assert_eq!(of_rows, pool(rows).into_data(), "{}", backend.name);
        }
    }
}

#[test]
fn the_gradient_of_regions_planned_in_parts_is_rounded_once() {
    for backend in backends() {
        let device = &backend.device;
        let all = gradient(device, 0..REGIONS, DType::F32);
        let sum = [0..250, 250..450, 450..REGIONS]
            .map(|rows| Tensor::<4>::from_data(gradient(device, rows, DType::F32), device))
            .into_iter()
            .reduce(|sum, part| sum + part)
            .expect("there are parts");
        all.assert_approx_eq::<f32>(&sum.into_data(), Tolerance::absolute(1e-5));
        if backend.supports(DType::F16) {
            let half = gradient(device, 0..REGIONS, DType::F16);
            assert_eq!(half, all.convert_dtype(DType::F16), "{}", backend.name);
        }
    }
}
