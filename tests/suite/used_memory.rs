//! Outputs and gradients that are large enough to get the memory of dropped ones: what was there before must not show.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::primitive::RegionTensors;
use burn_roi::*;

use crate::problem::{Operator, random_numbers};

/// With 7 x 7 elements, outputs of 4.6 MB in each dtype. Flex keeps 4 MiB and more.
const CHANNELS: usize = 98;
const ROWS: [(DType, usize); 3] = [(DType::F16, 480), (DType::F32, 240), (DType::F64, 120)];

/// A call of an operator.
type Call = fn(Tensor<4>, &Rois) -> Tensor<4>;

/// Boxes of every kind: within a map of 20 x 24, partly and wholly outside, empty and inverted.
fn rois(device: &Device, dtype: DType, rows: usize) -> Rois {
    let numbers = random_numbers(3, 4 * rows);
    let mut boxes = Vec::with_capacity(4 * rows);
    for (row, box_numbers) in numbers.as_chunks::<4>().0.iter().enumerate() {
        let [x, y, width, height] = box_numbers.map(f32::abs);
        let (x1, y1) = (24.0 * x, 20.0 * y);
        boxes.extend(match row % 8 {
            0 => [x1, y1, x1, y1],
            1 => [x1 + 9.0, y1 + 7.0, x1, y1],
            2 => [x1 + 60.0, y1, x1 + 70.0, y1 + 9.0],
            _ => [x1 - 4.0, y1 - 4.0, x1 + 20.0 * width, y1 + 20.0 * height],
        });
    }
    let images: Vec<i32> = (0..rows as i32).map(|row| row % 2).collect();
    Rois::new(
        Tensor::<2>::from_data(TensorData::new(boxes, [rows, 4]).convert_dtype(dtype), (device, dtype)),
        Tensor::<1, Int>::from_data(TensorData::new(images, [rows]), device),
    )
}

/// Each operator, and how many times `ROWS` make its output large.
fn calls() -> Vec<(&'static str, usize, Call)> {
    vec![
        ("roi_align", 1, |features, rois| {
            roi_align(features, rois, RoiAlignConfig::new([7, 7]))
        }),
        ("a maximum of samples", 1, |features, rois| {
            let config = RoiAlignConfig::new([7, 7]).with_reduction(Reduction::Max);
            roi_align(features, rois, config.with_out_of_bounds_value(-0.5))
        }),
        ("roi_pool", 1, |features, rois| {
            roi_pool(features, rois, RoiPoolConfig::new([7, 7]))
        }),
        ("ps_roi_align", 49, |features, rois| {
            ps_roi_align(features, rois, PsRoiAlignConfig::new([7, 7]))
        }),
        ("rotated regions", 1, |features, rois| {
            let boxes = rois.boxes();
            let angles = boxes.clone().slice([0..boxes.dims()[0], 0..1]);
            let rois = RotatedRois::new(Tensor::cat(vec![boxes, angles], 1), rois.batch_indices());
            roi_align_rotated(features, &rois, RoiAlignRotatedConfig::new([7, 7]))
        }),
        ("a pyramid", 1, |features, rois| {
            let config = MultiScaleRoiAlignConfig::new(RoiAlignConfig::new([7, 7]))
                .with_canonical_scale(12.0)
                .with_canonical_level(1)
                .with_pools_empty(false);
            let coarse = features.clone().slice([0..2, 0..CHANNELS, 0..10, 0..12]);
            multi_scale_roi_align(vec![features, coarse], rois, &[1.0, 0.5], config)
        }),
    ]
}

#[test]
fn used_memory_does_not_show() {
    let device = Device::flex();
    let shape = [2, CHANNELS, 20, 24];
    let numbers = TensorData::new(random_numbers(1, shape.iter().product()), shape);
    for (dtype, rows) in ROWS {
        let features = Tensor::<4>::from_data(numbers.clone().convert_dtype(dtype), (&device, dtype));
        let other = features.zeros_like() + 7.0;
        for (name, times, call) in calls() {
            let rois = rois(&device, dtype, times * rows);
            let first = call(features.clone(), &rois).into_data();
            drop(call(other.clone(), &rois));
            let second = call(features.clone(), &rois).into_data();
            // As bytes, since ps_roi_align gives NaN for some of the boxes.
            assert!(first.as_bytes() == second.as_bytes(), "{name} in {dtype:?}");
        }
    }
}

/// Regions reach only the first columns and rows of the map, and no region is in its last image.
#[test]
fn used_memory_does_not_show_in_a_gradient() {
    let device = Device::flex();
    let shape = [3, CHANNELS, 60, 64];
    let random = |seed: u64, shape: [usize; 4]| TensorData::new(random_numbers(seed, shape.iter().product()), shape);
    let maximum = RoiAlignConfig::new([7, 7]).with_reduction(Reduction::Max);
    for (dtype, rows) in ROWS {
        let tensor = |data: TensorData| Tensor::<4>::from_data(data.convert_dtype(dtype), (&device, dtype));
        let features = tensor(random(1, shape));
        let rois = rois(&device, dtype, rows);
        for operator in [
            Operator::RoiAlign(RoiAlignConfig::new([7, 7])),
            Operator::RoiAlign(maximum.clone()),
            Operator::RoiPool(RoiPoolConfig::new([7, 7])),
        ] {
            let gradient = |boxes: Tensor<2>| {
                let (gradient, features) = (tensor(random(2, [rows, CHANNELS, 7, 7])), features.clone());
                let regions = RegionTensors::new(boxes.into_dispatch(), rois.batch_indices().into_dispatch());
                let (gradient, features) = (gradient.into_dispatch(), features.into_dispatch());
                let backward = operator.backward(gradient, features, regions);
                let features = backward.expect("a right call").features();
                Tensor::<4>::from_dispatch(features).into_data()
            };
            let first = gradient(rois.boxes());
            drop(gradient(rois.boxes() + 30.0));
            let second = gradient(rois.boxes());
            assert!(first.as_bytes() == second.as_bytes(), "{operator:?} in {dtype:?}");
        }
    }
}
