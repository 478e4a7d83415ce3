//! What must hold of every result, whatever computes it: no reference is needed.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use crate::agreement::drawn;
use crate::backends::backends;
use crate::problem::{Operator, Problem};
use crate::strategies::problems;

fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, shape), (device, DType::F32))
}

pub fn one_region(ends: [f32; 4], device: &Device) -> Rois {
    Rois::from_images(vec![tensor(ends.into(), [1, 4], device)])
}

/// A map `[1, 1, H, W]` of what a function gives for each row and column.
pub fn map([height, width]: [usize; 2], device: &Device, value: impl Fn(f32, f32) -> f32) -> Tensor<4> {
    let values = (0..height * width)
        .map(|index| value((index / width) as f32, (index % width) as f32))
        .collect();
    tensor(values, [1, 1, height, width], device)
}

pub fn numbers(tensor: Tensor<4>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

pub fn nearly(left: &[f32], right: &[f32], tolerance: f32) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| (left - right).abs() <= tolerance * right.abs().max(1.0))
}

/// A box within a map of `size` pixels, from the centre of its first pixel to that of its last, on eighths.
pub fn inside(size: usize) -> impl Strategy<Value = [f32; 2]> {
    let eighths = 8 * (size as i32 - 1);
    (0..eighths, 1..=eighths).prop_map(move |(low, length)| {
        let high = (low + length).min(eighths);
        [low as f32 / 8.0, high as f32 / 8.0]
    })
}

fn config() -> impl Strategy<Value = RoiAlignConfig> {
    let sampling = select(vec![Sampling::Adaptive, Sampling::Fixed(1), Sampling::Fixed(3)]);
    ([1usize..6, 1usize..6], sampling).prop_map(|(size, sampling)| {
        RoiAlignConfig::new(size)
            .with_sampling(sampling)
            .with_minimum_length(None)
    })
}

/// The problem with some of its regions, in the order given.
fn with_regions(problem: &Problem, rows: &[usize]) -> Problem {
    let mut some = problem.clone();
    some.boxes = rows.iter().map(|&row| problem.boxes[row]).collect();
    some.batch_indices = rows.iter().map(|&row| problem.batch_indices[row]).collect();
    some
}

/// The rows of an output, apart.
fn rows(output: &TensorData) -> Vec<Vec<u32>> {
    let shape = output.shape();
    let of_a_row: usize = shape[1..].iter().product();
    let bits: Vec<u32> = output.iter::<f32>().map(f32::to_bits).collect();
    bits.chunks(of_a_row).map(<[u32]>::to_vec).collect()
}

#[test]
fn a_constant_map_gives_its_constant() {
    for backend in backends() {
        proptest!(drawn(50), |(mut problem in problems(), value in 0.0f32..9.0)| {
            // Where samples are out of bounds, they read the constant too.
            match &mut problem.operator {
                Operator::RoiAlign(config) => {
                    prop_assume!(config.reduction != Reduction::MaxOfWeightedCorners);
                    config.out_of_bounds_value = value.into();
                }
                Operator::CropAndResize(config) => config.extrapolation_value = value.into(),
                // An empty bin gives 0.
                _ => prop_assume!(false),
            }
            let features = Tensor::<4>::full(problem.shape, value, &backend.device);
            let found = numbers(problem.call(features, &backend.device, DType::F32));
            prop_assert!(nearly(&found, &vec![value; found.len()], 1e-5), "{}: {found:?}", backend.name);
        });
    }
}

#[test]
fn a_ramp_gives_its_value_at_the_middle_of_each_element() {
    for backend in backends() {
        let strategy = (inside(9), inside(13), config(), -2.0f32..2.0, -2.0f32..2.0);
        proptest!(drawn(50), |((y, x, config, slope_y, slope_x) in strategy)| {
            let ramp = |y: f32, x: f32| slope_y * y + slope_x * x;
            let [height, width] = config.output_size;
            let middle = |ends: [f32; 2], index: usize, count: usize| {
                ends[0] + (ends[1] - ends[0]) * (index as f32 + 0.5) / count as f32
            };
            let expected: Vec<f32> = (0..height * width)
                .map(|index| ramp(middle(y, index / width, height), middle(x, index % width, width)))
                .collect();
            let rois = one_region([x[0], y[0], x[1], y[1]], &backend.device);
            let found = numbers(roi_align(map([9, 13], &backend.device, ramp), &rois, config));
            prop_assert!(nearly(&found, &expected, 2e-5), "{}: {found:?}, not {expected:?}", backend.name);
        });
    }
}

#[test]
fn what_moves_with_its_box_stays_the_same() {
    let texture = |y: f32, x: f32| ((y * 7.0 + x * 3.0) % 11.0) / 5.0 - 1.0;
    for backend in backends() {
        let strategy = (inside(9), inside(9), config(), 0u8..7, 0u8..7);
        proptest!(drawn(50), |((y, x, config, down, right) in strategy)| {
            let [down, right] = [down, right].map(f32::from);
            let moved = map([16, 16], &backend.device, |y, x| texture(y - down, x - right));
            let there = one_region([x[0] + right, y[0] + down, x[1] + right, y[1] + down], &backend.device);
            let here = one_region([x[0], y[0], x[1], y[1]], &backend.device);
            let expected = numbers(roi_align(map([16, 16], &backend.device, texture), &here, config.clone()));
            let found = numbers(roi_align(moved, &there, config));
            prop_assert!(nearly(&found, &expected, 1e-4), "{}: {found:?}, not {expected:?}", backend.name);
        });
    }
}

#[test]
fn swapping_the_axes_transposes() {
    for backend in backends() {
        proptest!(drawn(50), |(problem in problems())| {
            let mut swapped = problem.clone();
            match &mut swapped.operator {
                Operator::RoiAlign(config) => {
                    config.output_size.reverse();
                    std::mem::swap(&mut config.spatial_scale_y, &mut config.spatial_scale_x);
                }
                Operator::RoiPool(config) => {
                    config.output_size.reverse();
                    std::mem::swap(&mut config.spatial_scale_y, &mut config.spatial_scale_x);
                }
                Operator::CropAndResize(config) => config.crop_size.reverse(),
                Operator::PrRoiPool(config) => config.output_size.reverse(),
                // Which channels are read changes as well.
                _ => prop_assume!(false),
            }
            swapped.boxes = problem.boxes.iter().map(|&[x1, y1, x2, y2]| [y1, x1, y2, x2]).collect();
            let features = problem.features(&backend.device, DType::F32, DType::F32);
            let transposed = features.clone().swap_dims(2, 3);
            let expected = problem.call(features, &backend.device, DType::F32);
            let found = swapped.call(transposed, &backend.device, DType::F32).swap_dims(2, 3);
            let (found, expected) = (numbers(found), numbers(expected));
            prop_assert!(nearly(&found, &expected, 1e-5), "{}: {found:?}, not {expected:?}", backend.name);
        });
    }
}

#[test]
fn a_region_does_not_depend_on_the_others() {
    for backend in backends() {
        proptest!(drawn(50), |(problem in problems(), turn in 0usize..6, split in 0usize..6)| {
            let run = |problem: &Problem| rows(&problem.run(&backend.device, DType::F32, DType::F32));
            let count = problem.boxes.len();
            let together = run(&problem);
            let turned: Vec<usize> = (0..count).map(|row| (count - row + turn) % count).collect();
            for (row, found) in turned.iter().zip(run(&with_regions(&problem, &turned))) {
                prop_assert_eq!(&found, &together[*row], "{}: permuted", backend.name);
            }
            let split = split.min(count);
            let all: Vec<usize> = (0..count).collect();
            let mut apart = Vec::new();
            for part in [&all[..split], &all[split..]] {
                if !part.is_empty() {
                    apart.extend(run(&with_regions(&problem, part)));
                }
            }
            prop_assert_eq!(apart, together, "{}: split", backend.name);
        });
    }
}

#[test]
fn a_channel_does_not_depend_on_the_others() {
    for backend in backends() {
        proptest!(drawn(50), |(problem in problems(), split in 0usize..11)| {
            let features = problem.features(&backend.device, DType::F32, DType::F32);
            let of_an_output = problem.operator.input_channels();
            let channels = problem.shape[1] / of_an_output;
            let run = |features| problem.call(features, &backend.device, DType::F32);
            let together = run(features.clone());
            let split = split.min(channels);
            for range in [0..split, split..channels] {
                if range.is_empty() {
                    continue;
                }
                let expected = together.clone().slice_dim(1, range.clone()).into_data();
                let read = range.start * of_an_output..range.end * of_an_output;
                let found = run(features.clone().slice_dim(1, read)).into_data();
                prop_assert_eq!(found, expected, "{}: split at {}", backend.name, split);
            }
        });
    }
}

/// Where all channels of a group are the same, it does not matter which of them an element reads.
#[test]
fn a_position_sensitive_operator_on_repeated_channels_is_roi_align() {
    for backend in backends() {
        // Flex adds the same numbers in the same order, though by other code.
        let tolerance = if backend.name == "flex" { 0.0 } else { 1e-5 };
        proptest!(drawn(50), |(mut problem in problems())| {
            let Operator::PsRoiAlign(config) = problem.operator.clone() else {
                return Err(TestCaseError::reject("another operator"));
            };
            let of_an_output = problem.operator.input_channels();
            let [images, channels, height, width] = problem.shape;
            let count = channels / of_an_output;
            problem.shape = [images, count, height, width];
            let features = problem.features(&backend.device, DType::F32, DType::F32);
            let repeated = features.clone().reshape([images, count, 1, height, width]);
            let repeated = repeated.expand([images, count, of_an_output, height, width]);
            let found = problem.call(repeated.reshape([images, channels, height, width]), &backend.device, DType::F32);
            let align = RoiAlignConfig::new(config.output_size).with_aligned(config.aligned);
            let align = align.with_spatial_scale(config.spatial_scale).with_sampling(config.sampling);
            problem.operator = Operator::RoiAlign(align);
            let expected = problem.call(features, &backend.device, DType::F32);
            let (found, expected) = (numbers(found), numbers(expected));
            prop_assert!(nearly(&found, &expected, tolerance), "{}: {found:?}, not {expected:?}", backend.name);
        });
    }
}

#[test]
fn an_average_lies_between_the_least_and_the_largest_sample() {
    for backend in backends() {
        proptest!(drawn(50), |(mut problem in problems())| {
            let Operator::RoiAlign(config) = &mut problem.operator else {
                return Err(TestCaseError::reject("another operator"));
            };
            config.reduction = Reduction::Average;
            let mut largest = problem.clone();
            let Operator::RoiAlign(config) = &mut largest.operator else { unreachable!() };
            config.reduction = Reduction::Max;
            let mut negated = largest.clone();
            let Operator::RoiAlign(config) = &mut negated.operator else { unreachable!() };
            config.out_of_bounds_value = -config.out_of_bounds_value;

            let features = problem.features(&backend.device, DType::F32, DType::F32);
            let run = |problem: &Problem, features| numbers(problem.call(features, &backend.device, DType::F32));
            let average = run(&problem, features.clone());
            let most = run(&largest, features.clone());
            let least = run(&negated, features.neg());
            for ((average, most), least) in average.iter().zip(most).zip(least) {
                prop_assert!(-least - 1e-5 <= *average && *average <= most + 1e-5,
                    "{}: {average} is not between {} and {most}", backend.name, -least);
            }
        });
    }
}

#[test]
fn twice_the_box_at_half_the_scale_is_the_same() {
    for backend in backends() {
        proptest!(drawn(50), |(problem in problems())| {
            let mut doubled = problem.clone();
            match &mut doubled.operator {
                Operator::RoiAlign(config) => {
                    config.spatial_scale_y /= 2.0;
                    config.spatial_scale_x /= 2.0;
                    config.box_offset *= 2.0;
                    config.end_offset *= 2.0;
                }
                Operator::RoiPool(config) => {
                    config.spatial_scale_y /= 2.0;
                    config.spatial_scale_x /= 2.0;
                }
                Operator::PsRoiAlign(config) => config.spatial_scale /= 2.0,
                Operator::PrRoiPool(config) => config.spatial_scale /= 2.0,
                Operator::PsRoiPool(config) => {
                    prop_assume!(config.rounding == BoxRounding::AfterScaling);
                    config.spatial_scale /= 2.0;
                    config.end_offset *= 2.0;
                }
                Operator::CropAndResize(_) => prop_assume!(false),
            }
            prop_assume!(problem.boxes.iter().flatten().all(|coordinate| coordinate.abs() < 1e38));
            doubled.boxes = problem.boxes.iter().map(|ends| ends.map(|end| 2.0 * end)).collect();
            let expected = problem.run(&backend.device, DType::F32, DType::F32);
            let found = doubled.run(&backend.device, DType::F32, DType::F32);
            prop_assert_eq!(found, expected, "{}", backend.name);
        });
    }
}

/// An image index does not change what is pooled from the image.
#[test]
fn an_image_does_not_depend_on_its_place_in_the_batch() {
    for backend in backends() {
        let device = &backend.device;
        let maps: Vec<_> = (0..3)
            .map(|image| map([8, 8], device, |y, x| y * 3.0 - x + 10.0 * image as f32))
            .collect();
        let boxes = || tensor::<2>([1.0, 2.0, 6.0, 7.0].repeat(3), [3, 4], device);
        let pool = |order: [i32; 3]| {
            let batch = order.map(|image| maps[image as usize].clone());
            let mut indices = [0; 3];
            order
                .iter()
                .enumerate()
                .for_each(|(place, &image)| indices[image as usize] = place as i32);
            let rois = Rois::new(boxes(), Tensor::<1, Int>::from_ints(indices, device));
            numbers(roi_align(
                Tensor::cat(batch.into(), 0),
                &rois,
                RoiAlignConfig::new([2, 2]),
            ))
        };
        assert_eq!(pool([2, 0, 1]), pool([0, 1, 2]), "{}", backend.name);
    }
}
