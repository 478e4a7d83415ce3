//! The operators on volumes, written plainly: every sample and every voxel of a bin by itself, in f64. The positions
//! along an axis are those of the reference for maps.

use burn_roi::*;

use super::problem::{Operator3d, Problem3d};
use crate::reference::{Coordinates, Samples, bins_of_axis, samples_of_axis};
use crate::reference_crop::positions_along;

/// Depth, height, width and voxels of a channel.
struct Volume<'a> {
    size: [usize; 3],
    voxels: &'a [f64],
}

impl Volume<'_> {
    fn at(&self, [z, y, x]: [usize; 3]) -> f64 {
        self.voxels[(z * self.size[1] + y) * self.size[2] + x]
    }

    /// A sample in bounds: the weighted mean of eight voxels, or the nearest one, where a half goes up or down.
    fn sample(&self, interpolation: Interpolation, half_up: bool, position: [f64; 3]) -> f64 {
        let axis = |axis: usize| {
            let last = self.size[axis] - 1;
            let held = position[axis].clamp(0.0, last as f64);
            if interpolation == Interpolation::Nearest {
                let nearest = if half_up { held.round() } else { (held - 0.5).ceil() };
                return [(nearest as usize, 1.0), (nearest as usize, 0.0)];
            }
            let low = held.floor() as usize;
            [(low, 1.0 - held.fract()), ((low + 1).min(last), held.fract())]
        };
        let mut sum = 0.0;
        for (z, of_z) in axis(0) {
            for (y, of_y) in axis(1) {
                for (x, of_x) in axis(2) {
                    sum += of_z * of_y * of_x * self.at([z, y, x]);
                }
            }
        }
        sum
    }
}

/// The output `[K, C, P, Q, R]` of features; none where it would take too long.
pub fn output(problem: &Problem3d, features: &[f64], coordinates: Coordinates) -> Option<Vec<f64>> {
    let [_, channels, depth, height, width] = problem.shape;
    let size = [depth, height, width];
    let mut output = Vec::new();
    for (row, &image) in problem.boxes.iter().zip(&problem.batch_indices) {
        let [x1, y1, x2, y2, z1, z2] = row.map(f64::from);
        let ends = [[z1, z2], [y1, y2], [x1, x2]];
        for channel in 0..channels {
            let voxels = depth * height * width;
            let first = (image as usize * channels + channel) * voxels;
            let volume = Volume {
                size,
                voxels: &features[first..first + voxels],
            };
            output.extend(match &problem.operator {
                Operator3d::Align(config) => align(config, ends, &volume, coordinates)?,
                Operator3d::Pool(config) => pool(config, ends, &volume, coordinates)?,
                Operator3d::Crop(config) => crop(config, ends, &volume, coordinates),
            });
        }
    }
    Some(output)
}

/// What `element` gives for each output element, from its part of each axis.
fn elements<T>([z, y, x]: &[Vec<T>; 3], element: impl Fn([&T; 3]) -> f64) -> Vec<f64> {
    let mut output = Vec::new();
    for of_z in z {
        for of_y in y {
            for of_x in x {
                output.push(element([of_z, of_y, of_x]));
            }
        }
    }
    output
}

fn align(
    config: &RoiAlign3dConfig,
    ends: [[f64; 2]; 3],
    volume: &Volume,
    coordinates: Coordinates,
) -> Option<Vec<f64>> {
    // Each sample of a maximum is an element.
    let each = config.reduction != Reduction::Average;
    let samples = config.sampling.map(|sampling| match sampling {
        Sampling::Fixed(samples) if each => samples,
        _ => 1,
    });
    let axis = |axis: usize| {
        let of_axis = RoiAlignConfig::new([1, 1])
            .with_sampling(if each {
                Sampling::Fixed(1)
            } else {
                config.sampling[axis]
            })
            .with_box_offset(config.box_offset)
            .with_end_offset(config.end_offset)
            .with_input_pixel_offset(config.input_pixel_offset)
            .with_output_pixel_offset(config.output_pixel_offset)
            .with_align_corners(config.align_corners)
            .with_minimum_length(config.minimum_length);
        let (scale, count) = (config.spatial_scale[axis], samples[axis] * config.output_size[axis]);
        samples_of_axis(&of_axis, coordinates, scale, ends[axis], count, volume.size[axis])
    };
    let axes: [Vec<Samples>; 3] = [axis(0)?, axis(1)?, axis(2)?];
    let values = elements(&axes, |[z, y, x]| {
        let count = (z.count * y.count * x.count) as f64;
        let missing = count - (z.inside.len() * y.inside.len() * x.inside.len()) as f64;
        let mut sum = config.out_of_bounds_value * missing;
        for &z in &z.inside {
            for &y in &y.inside {
                for &x in &x.inside {
                    sum += volume.sample(config.interpolation, false, [z, y, x]);
                }
            }
        }
        if count == 0.0 {
            return config.out_of_bounds_value;
        }
        sum / count
    });
    Some(if each {
        largest(config, samples, &values)
    } else {
        values
    })
}

/// The largest of each element's samples.
fn largest(config: &RoiAlign3dConfig, samples: [usize; 3], values: &[f64]) -> Vec<f64> {
    let [planes, rows, columns] = config.output_size;
    let [z, y, x] = samples;
    let least = match config.reduction {
        Reduction::MaxFromZero => 0.0,
        _ => f64::NEG_INFINITY,
    };
    let mut output = vec![least; planes * rows * columns];
    for (place, value) in values.iter().enumerate() {
        let (plane, row, column) = (
            place / (rows * y * columns * x),
            place / (columns * x) % (rows * y),
            place % (columns * x),
        );
        let element = &mut output[(plane / z * rows + row / y) * columns + column / x];
        *element = element.max(*value);
    }
    output
}

fn pool(config: &RoiPool3dConfig, ends: [[f64; 2]; 3], volume: &Volume, coordinates: Coordinates) -> Option<Vec<f64>> {
    let of_axis = RoiPoolConfig::new([1, 1])
        .with_rounding(config.rounding)
        .with_division(config.division)
        .with_minimum_length(config.minimum_length);
    let axis = |axis: usize| {
        let (scale, count) = (config.spatial_scale[axis], config.output_size[axis]);
        bins_of_axis(&of_axis, coordinates, scale, ends[axis], count, volume.size[axis])
    };
    let axes = [axis(0)?, axis(1)?, axis(2)?];
    Some(elements(&axes, |[z, y, x]| {
        let mut largest: Option<f64> = None;
        for z in z.clone() {
            for y in y.clone() {
                for x in x.clone() {
                    let voxel = volume.at([z, y, x]);
                    largest = Some(largest.map_or(voxel, |largest| largest.max(voxel)));
                }
            }
        }
        largest.unwrap_or(0.0)
    }))
}

fn crop(config: &CropAndResize3dConfig, ends: [[f64; 2]; 3], volume: &Volume, coordinates: Coordinates) -> Vec<f64> {
    let axes = [0, 1, 2].map(|axis| {
        let (count, size) = (config.crop_size[axis], volume.size[axis]);
        positions_along(config.ends_exactly, ends[axis], count, size, coordinates)
    });
    elements(&axes, |position| match position {
        [Some(z), Some(y), Some(x)] => volume.sample(config.method, true, [*z, *y, *x]),
        _ => config.extrapolation_value,
    })
}
