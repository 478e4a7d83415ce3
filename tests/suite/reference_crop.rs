//! `crop_and_resize`, as `reference` has the other operators.

use burn_roi::*;

use crate::reference::{Coordinates, Map, weighted_corners};

pub fn crop(config: &CropAndResizeConfig, corners: [f64; 4], map: &Map, coordinates: Coordinates) -> Vec<f64> {
    let [y, x] = positions_of_crop(config, corners, map.size, coordinates);
    let sample = |y: Option<f64>, x: Option<f64>| {
        let (Some(y), Some(x)) = (y, x) else {
            return config.extrapolation_value;
        };
        match config.method {
            // A half goes up.
            Interpolation::Nearest => map.at(y.round() as usize, x.round() as usize),
            Interpolation::Bilinear => weighted_corners(Interpolation::Bilinear, y, x, map).iter().sum(),
            unknown => unreachable!("the reference does not know {unknown:?}"),
        }
    };
    y.iter()
        .flat_map(|&y| x.iter().map(move |&x| (y, x)))
        .map(|(y, x)| sample(y, x))
        .collect()
}

/// Where the rows and the columns of a crop lie on a map of a size; none where they are out of bounds.
pub fn positions_of_crop(
    config: &CropAndResizeConfig,
    corners: [f64; 4],
    [height, width]: [usize; 2],
    coordinates: Coordinates,
) -> [Vec<Option<f64>>; 2] {
    let [y1, x1, y2, x2] = match config.box_format {
        BoxFormat::Yxyx => corners,
        _ => [corners[1], corners[0], corners[3], corners[2]],
    };
    let [rows, columns] = config.crop_size;
    let axis = |ends, outputs, size| positions_along(config.ends_exactly, ends, outputs, size, coordinates);
    [axis([y1, y2], rows, height), axis([x1, x2], columns, width)]
}

/// The same along one axis.
pub fn positions_along(
    ends_exactly: bool,
    [low, high]: [f64; 2],
    outputs: usize,
    size: usize,
    Coordinates { round, largest }: Coordinates,
) -> Vec<Option<f64>> {
    let last = (size - 1) as f64;
    let times = |left: f64, right: f64| round(left * right).clamp(-largest, largest);
    let position = |index: usize| match outputs {
        1 => times(round(0.5 * round(low + high)), last),
        _ if ends_exactly && index == outputs - 1 => times(high, last),
        _ => {
            let length = round(high - low).clamp(-largest, largest);
            let step = round(times(length, last) / (outputs - 1) as f64);
            round(times(low, last) + times(index as f64, step))
        }
    };
    let in_bounds = |position: &f64| (0.0..=last).contains(position);
    (0..outputs)
        .map(|index| Some(position(index)).filter(in_bounds))
        .collect()
}
