//! `prroi_pool`, as `reference` has the other operators: a bin is cut at the pixels, between which the map is a
//! straight line along each axis.

use burn_roi::*;

use crate::reference::{Coordinates, Map};

/// A shorter bin counts as empty.
const LEAST_LENGTH: f64 = 1e-30;

pub fn prroi_pool(
    config: &PrRoiPoolConfig,
    [x1, y1, x2, y2]: [f64; 4],
    map: &Map,
    coordinates: Coordinates,
) -> Vec<f64> {
    let [height, width] = config.output_size;
    let scale = config.spatial_scale;
    let y = weights_of_axis(scale, [y1, y2], height, map.size[0], coordinates);
    let x = weights_of_axis(scale, [x1, x2], width, map.size[1], coordinates);
    let mut output = Vec::new();
    for of_row in &y {
        for of_column in &x {
            let mut sum = 0.0;
            for (row, weight_y) in of_row.iter().enumerate() {
                for (column, weight_x) in of_column.iter().enumerate() {
                    sum += weight_y * weight_x * map.at(row, column);
                }
            }
            output.push(sum);
        }
    }
    output
}

/// For each bin, the weight of every pixel along one axis.
fn weights_of_axis(
    scale: f64,
    ends: [f64; 2],
    outputs: usize,
    size: usize,
    Coordinates { round, largest }: Coordinates,
) -> Vec<Vec<f64>> {
    let times = |left: f64, right: f64| round(left * right).clamp(-largest, largest);
    let [start, end] = ends.map(|end| times(end, round(scale)));
    let length = round(round(end - start).clamp(0.0, largest) / outputs as f64);
    let of_bin = |bin: usize| {
        let mut weights = vec![0.0; size];
        if length < LEAST_LENGTH {
            return weights;
        }
        let low = round(start + times(bin as f64, length)).clamp(-largest, largest);
        // How much of the bin lies before a position.
        let share = |position: f64| ((position - low) / length).clamp(0.0, 1.0);
        // Pixels -1 and `size` are 0.
        for before in -1..size as i64 {
            let (from, to) = (before as f64, before as f64 + 1.0);
            let part = share(to) - share(from);
            // The mean of a straight line is its value in the middle.
            let middle = (low.max(from) / 2.0 + (low + length).min(to) / 2.0).clamp(from, to);
            for (pixel, weight) in [(before, to - middle), (before + 1, middle - from)] {
                if (0..size as i64).contains(&pixel) {
                    weights[pixel as usize] += part * weight;
                }
            }
        }
        weights
    };
    (0..outputs).map(of_bin).collect()
}
