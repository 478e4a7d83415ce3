//! What volumes have in common with maps, and what must hold of any result.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::problem::{Operator3d, Problem3d};
use super::strategies::problems;
use crate::agreement::drawn;
use crate::backends::backends;
use crate::properties::inside;

fn bits(data: TensorData) -> Vec<u32> {
    data.iter::<f32>().map(f32::to_bits).collect()
}

/// A map of one slice and a box of its depth give what the operator of two axes gives, to the bit on Flex.
#[test]
fn one_slice_is_a_map() {
    let device = Device::flex();
    proptest!(drawn(60), |(mut problem in problems())| {
        problem.shape[2] = 1;
        problem.boxes.iter_mut().for_each(|row| [row[4], row[5]] = [0.0, 1.0]);
        let [n, c, _, h, w] = problem.shape;
        let features = problem.features(&device, DType::F32).reshape([n, c, h, w]);
        let rois = problem.rois(problem.boxes(&device, DType::F32));
        let rois = Rois::new(rois.boxes().narrow(1, 0, 4), rois.batch_indices());
        let expected = match &mut problem.operator {
            Operator3d::Align(config) => {
                config.output_size[0] = 1;
                config.spatial_scale = [1.0, 0.5, 0.5];
                // The box is one voxel deep, whose middle is sampled.
                config.sampling = [Sampling::Fixed(1); 3];
                config.reduction = Reduction::Average;
                [config.box_offset, config.end_offset, config.output_pixel_offset] = [0.0, 0.0, -0.5];
                let map = RoiAlignConfig::new([config.output_size[1], config.output_size[2]])
                    .with_spatial_scale(0.5)
                    .with_sampling_ratio(1)
                    .with_interpolation(config.interpolation)
                    .with_input_pixel_offset(config.input_pixel_offset)
                    .with_out_of_bounds_value(config.out_of_bounds_value)
                    .with_align_corners(config.align_corners)
                    .with_minimum_length(config.minimum_length);
                roi_align(features, &rois, map)
            }
            Operator3d::Pool(config) => {
                config.output_size[0] = 1;
                config.spatial_scale = [1.0, 0.5, 0.5];
                let map = RoiPoolConfig::new([config.output_size[1], config.output_size[2]])
                    .with_spatial_scale(0.5)
                    .with_rounding(config.rounding)
                    .with_division(config.division)
                    .with_minimum_length(config.minimum_length);
                roi_pool(features, &rois, map)
            }
            Operator3d::Crop(config) => {
                config.crop_size[0] = 1;
                let map = CropAndResizeConfig::new([config.crop_size[1], config.crop_size[2]])
                    .with_method(config.method)
                    .with_extrapolation_value(config.extrapolation_value)
                    .with_ends_exactly(config.ends_exactly)
                    .with_box_format(BoxFormat::Xyxy);
                crop_and_resize(features, &rois, map)
            }
        };
        prop_assert_eq!(bits(problem.run(&device, DType::F32)), bits(expected.into_data()), "{:?}", problem);
    });
}

/// The same problem with its axes turned: z becomes y, y becomes x, and x becomes z.
fn turned(problem: &Problem3d) -> Problem3d {
    let turn = |[z, y, x]: [usize; 3]| [x, z, y];
    let mut turned = problem.clone();
    let [n, c, d, h, w] = problem.shape;
    let [d, h, w] = turn([d, h, w]);
    turned.shape = [n, c, d, h, w];
    for row in &mut turned.boxes {
        let [x1, y1, x2, y2, z1, z2] = *row;
        *row = [y1, z1, y2, z2, x1, x2];
    }
    match &mut turned.operator {
        Operator3d::Align(config) => {
            config.output_size = turn(config.output_size);
            let [z, y, x] = config.spatial_scale;
            config.spatial_scale = [x, z, y];
            let [z, y, x] = config.sampling;
            config.sampling = [x, z, y];
        }
        Operator3d::Pool(config) => {
            config.output_size = turn(config.output_size);
            let [z, y, x] = config.spatial_scale;
            config.spatial_scale = [x, z, y];
        }
        Operator3d::Crop(config) => config.crop_size = turn(config.crop_size),
    }
    turned
}

#[test]
fn axes_are_alike() {
    for backend in backends() {
        let options = (&backend.device, DType::F32);
        proptest!(drawn(40), |(problem in problems())| {
            let rois = |problem: &Problem3d| problem.rois(problem.boxes(&backend.device, DType::F32));
            let features = problem.features(&backend.device, DType::F32);
            let other = turned(&problem);
            let of_other = features.clone().permute([0, 1, 4, 2, 3]);
            let found = other.operator.call(of_other, &rois(&other)).expect("the problem is right");
            let found = found.permute([0, 1, 3, 4, 2]).into_data();
            let expected = problem.operator.call(features, &rois(&problem)).expect("the problem is right").into_data();
            for (found, expected) in found.iter::<f32>().zip(expected.iter::<f32>()) {
                let error = (found - expected).abs() / expected.abs().max(1.0);
                prop_assert!(error <= 2e-5, "{}: {found}, not {expected}", backend.name);
            }
        });
        let constant = Tensor::<5>::full([1, 2, 5, 6, 7], 3.0, options);
        let boxes = Tensor::<2>::from_data([[1.0, 1.0, 4.0, 4.0, 1.0, 3.0]], options);
        let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Xyxyzz);
        let pooled = RoiAlign3dConfig::new([2, 3, 4])
            .init()
            .forward(constant, &rois)
            .into_data();
        assert!(
            pooled.iter::<f32>().all(|number| (number - 3.0).abs() < 1e-5),
            "{}",
            backend.name
        );
    }
}

/// A value that grows along each axis is read at the middle of each element, and a volume that moves with its box gives
/// the same.
#[test]
fn ramps_and_shifts_are_read_rightly() {
    let [depth, height, width] = [7, 9, 8];
    for backend in backends() {
        let options = (&backend.device, DType::F32);
        let strategy = (
            inside(depth - 2),
            inside(height - 3),
            inside(width - 1),
            [-2.0f32..2.0, -2.0..2.0, -2.0..2.0],
        );
        proptest!(drawn(30), |((z, y, x, slopes) in strategy)| {
            let value = |place: usize| {
                let place = [place / (height * width), place / width % height, place % width];
                place.iter().zip(slopes).map(|(place, slope)| *place as f32 * slope).sum::<f32>()
            };
            let values: Vec<f32> = (0..depth * height * width).map(value).collect();
            let volume = Tensor::<5>::from_data(TensorData::new(values, [1, 1, depth, height, width]), options);
            let size = [2, 3, 4];
            let config = RoiAlign3dConfig::new(size).with_minimum_length(None);
            // The box lies 2 slices, 3 rows and 1 column further in the volume than in what is left of it.
            let at = |[z0, y0, x0]: [f32; 3]| {
                let ends = [x[0] + x0, y[0] + y0, x[1] + x0, y[1] + y0, z[0] + z0, z[1] + z0];
                Rois3d::from_images(vec![Tensor::<2>::from_data([ends], options)], BoxFormat3d::Xyxyzz)
            };
            let rest = volume.clone().slice([0..1, 0..1, 2..depth, 3..height, 1..width]);
            let moved = roi_align_3d(volume, &at([2.0, 3.0, 1.0]), config.clone()).into_data();
            let rest = roi_align_3d(rest, &at([0.0; 3]), config).into_data();
            let middle = |ends: [f32; 2], index: usize, count: usize| {
                ends[0] + (ends[1] - ends[0]) * (index as f32 + 0.5) / count as f32
            };
            for (element, (moved, rest)) in moved.iter::<f32>().zip(rest.iter::<f32>()).enumerate() {
                let place = [
                    middle(z, element / 12, 2) + 2.0,
                    middle(y, element / 4 % 3, 3) + 3.0,
                    middle(x, element % 4, 4) + 1.0,
                ];
                let expected: f32 = place.iter().zip(slopes).map(|(place, slope)| place * slope).sum();
                prop_assert!((moved - expected).abs() <= 1e-4, "{}: {moved}, not {expected}", backend.name);
                prop_assert!((moved - rest).abs() <= 1e-4, "{}: {moved}, and {rest} elsewhere", backend.name);
            }
        });
    }
}

/// Halves are rounded once: the output is the f32 result of the rounded input, rounded.
#[test]
fn halves_are_rounded_once() {
    for backend in backends() {
        for dtype in [DType::F16, DType::BF16]
            .into_iter()
            .filter(|&dtype| backend.supports(dtype))
        {
            proptest!(drawn(20), |(mut problem in problems(), of_boxes in select(vec![dtype, DType::F32]))| {
                // f16 ends at 65504.
                problem.boxes.iter_mut().flatten().for_each(|end| *end = end.clamp(-6e4, 6e4));
                rounds_once(&problem, &backend.device, dtype, of_boxes);
            });
            // 441 columns of samples, of which bf16 holds 440.
            let config = RoiAlign3dConfig::new([7, 7, 7]).with_sampling_ratio(3);
            let problem = Problem3d {
                operator: Operator3d::Align(config.with_reduction(Reduction::Max)),
                shape: [1, 2, 5, 6, 7],
                channels_last: false,
                boxes: vec![[1.0, 0.5, 6.0, 5.0, 1.0, 4.0]],
                batch_indices: vec![0],
                format: 0,
                seed: 9,
            };
            rounds_once(&problem, &backend.device, dtype, dtype);
        }
    }
}

/// The output for features of 16 bits is that for the same features in f32, rounded.
fn rounds_once(problem: &Problem3d, device: &Device, dtype: DType, of_boxes: DType) {
    let features = problem.features(device, dtype);
    let boxes = problem.boxes(device, of_boxes);
    let rois = problem.rois(boxes.clone().cast(DType::F32));
    let singles = features.clone().cast(DType::F32);
    let expected = problem.operator.call(singles, &rois);
    let expected = expected.expect("the problem is right").cast(dtype).into_data();
    let found = problem.operator.call(features, &problem.rois(boxes));
    let found = found.expect("the problem is right").into_data();
    assert_eq!(found.dtype(), dtype);
    assert_eq!(
        bits(found.convert_dtype(DType::F32)),
        bits(expected.convert_dtype(DType::F32))
    );
}

#[test]
fn maximum_has_one_gradient() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let options = (&device, DType::F32);
        let features = Tensor::<5>::ones([1, 1, 4, 4, 4], options).require_grad();
        let boxes = Tensor::<2>::from_data([[0.0, 0.0, 3.0, 3.0, 0.0, 3.0]], options);
        let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Xyxyzz);
        let pooled = roi_pool_3d(features.clone(), &rois, RoiPool3dConfig::new([2, 2, 2]));
        let gradients = pooled.sum().backward();
        let gradient = features.grad(&gradients).expect("features are tracked").into_data();
        let found: Vec<usize> = gradient
            .iter::<f32>()
            .enumerate()
            .filter(|(_, slope)| *slope != 0.0)
            .map(|(index, _)| index)
            .collect();
        // All voxels are equal: the first of each bin, along z, y and x.
        assert_eq!(found, [0, 2, 8, 10, 32, 34, 40, 42], "{}", backend.name);
    }
}

/// Flex pools slice by slice, and where boxes are tracked all slices and then these along the depth.
#[test]
fn both_ways_of_flex_have_the_same_bits() {
    let device = Device::flex();
    proptest!(drawn(60), |(problem in problems())| {
        let expected = problem.run(&device, DType::F32);
        let device = device.clone().autodiff();
        let boxes = problem.boxes(&device, DType::F32).require_grad();
        let found = problem.operator.call(problem.features(&device, DType::F32), &problem.rois(boxes));
        let found = found.expect("the problem is right").into_data();
        prop_assert_eq!(bits(found), bits(expected));
    });
}
