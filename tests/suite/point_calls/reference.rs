//! The operators written plainly from the frameworks' rules: every sample by itself, in f64, sharing no code with the
//! crate. Coordinates are rounded after each operation to the type that they have in the crate.

use burn_roi::*;

use super::{PointOperator, PointProblem};
use crate::reference::Coordinates;

/// More samples of an element along an axis than this are not computed one by one.
const MOST_SAMPLES: f64 = 300.0;

/// Larger numbers are held at a limit of the crate.
const FARTHEST: f64 = 1e17;

/// What a call should give.
pub struct Expected {
    pub numbers: Vec<f64>,
    /// How near a sample comes to where the result jumps: the border beyond which it is not read.
    pub nearest_jump: f64,
    /// How near a sample comes to a pixel, where slopes jump.
    pub nearest_bend: f64,
}

/// A region: the numbers of its row, and its offsets `[2 * classes, rows, columns]`.
struct Region<'a> {
    row: &'a [f64],
    offsets: &'a [f64],
}

struct Map<'a> {
    size: [usize; 2],
    pixels: &'a [f64],
}

/// The range of positions that read the map, beyond its first and below its last pixel.
type Border = [f64; 2];

/// See [`Expected`].
type Nearest = [f64; 2];

/// The output `[K, C, P, Q]`; none where the reference would take too long, or numbers are beyond all maps. `boxes` and
/// `offsets` are rounded to the type of coordinates.
pub fn output(problem: &PointProblem, features: &[f64], coordinates: Coordinates) -> Option<Expected> {
    let [_, channels, height, width] = problem.shape;
    let [rows, columns] = problem.operator.output_size();
    let of_offsets = problem
        .offsets
        .as_ref()
        .map_or(0, |(shape, _)| shape[1] * shape[2] * shape[3]);
    let single = |number: &f64| f64::from(*number as f32);
    let scale = problem.operator.spatial_scale().max(1.0);
    let mut expected = Expected {
        numbers: Vec::new(),
        nearest_jump: f64::INFINITY,
        nearest_bend: f64::INFINITY,
    };
    let output_channels = match &problem.operator {
        PointOperator::DeformPs(config) => config.output_channels,
        operator => channels / operator.input_channels(),
    };
    for (number, (row, &image)) in problem.boxes.iter().zip(&problem.batch_indices).enumerate() {
        let row: Vec<f64> = row.iter().map(single).collect();
        if row.iter().any(|number| number.abs() * scale > FARTHEST) {
            return None;
        }
        let offsets: Vec<f64> = problem.offsets.as_ref().map_or_else(Vec::new, |(_, numbers)| {
            numbers[number * of_offsets..(number + 1) * of_offsets]
                .iter()
                .map(single)
                .collect()
        });
        let region = Region {
            row: &row,
            offsets: &offsets,
        };
        for channel in 0..output_channels {
            for p in 0..rows {
                for q in 0..columns {
                    let of_element = Element {
                        problem,
                        region: &region,
                        output_channels,
                        channel,
                        place: [p, q],
                        round: coordinates.round,
                    };
                    let map = |channel: usize| {
                        let start = (image as usize * channels + channel) * height * width;
                        Map {
                            size: [height, width],
                            pixels: &features[start..start + height * width],
                        }
                    };
                    let mut nearest = [expected.nearest_jump, expected.nearest_bend];
                    expected.numbers.push(of_element.value(&map, &mut nearest)?);
                    [expected.nearest_jump, expected.nearest_bend] = nearest;
                }
            }
        }
    }
    Some(expected)
}

struct Element<'a> {
    problem: &'a PointProblem,
    region: &'a Region<'a>,
    output_channels: usize,
    channel: usize,
    place: [usize; 2],
    round: fn(f64) -> f64,
}

impl Element<'_> {
    fn value<'m>(&self, map: &dyn Fn(usize) -> Map<'m>, nearest: &mut Nearest) -> Option<f64> {
        match &self.problem.operator {
            PointOperator::Rotated(config) => self.rotated(config, &[(self.channel, 1.0)], map, nearest),
            PointOperator::RiRotated(config) => {
                let upright = RoiAlignRotatedConfig::new(config.output_size)
                    .with_spatial_scale(config.spatial_scale)
                    .with_sampling(config.sampling)
                    .with_aligned(false)
                    .with_angle(match config.clockwise {
                        true => AngleConvention::RADIANS_CLOCKWISE,
                        false => AngleConvention::RADIANS_COUNTER_CLOCKWISE,
                    });
                let count = config.orientations as f64;
                let turns = (self.round)((self.round)(self.region.row[4] * count) / std::f64::consts::TAU);
                // Where it is a whole number, the last bit decides between two neighbours.
                nearest[0] = nearest[0].min((turns - turns.round()).abs());
                let (whole, orientation) = (turns.floor(), (self.channel % config.orientations) as f64);
                let group = self.channel - self.channel % config.orientations;
                let chosen = |shift: f64| group + (orientation - whole + shift).rem_euclid(count) as usize;
                let channels = [(chosen(0.0), 1.0 - (turns - whole)), (chosen(1.0), turns - whole)];
                self.rotated(&upright, &channels, map, nearest)
            }
            PointOperator::Deform(config) => self.deform(config, map, nearest),
            PointOperator::DeformPs(config) => self.deform_ps(config, map, nearest),
            PointOperator::PsCrop(config) => self.crop(config, map, nearest),
        }
    }

    fn rotated<'m>(
        &self,
        config: &RoiAlignRotatedConfig,
        channels: &[(usize, f64)],
        map: &dyn Fn(usize) -> Map<'m>,
        nearest: &mut Nearest,
    ) -> Option<f64> {
        let round = self.round;
        let scale = round(config.spatial_scale);
        let offset = if config.aligned { 0.5 } else { 0.0 };
        let center = [1, 0].map(|column| round(round(self.region.row[column] * scale) - offset));
        let least = if config.aligned { f64::NEG_INFINITY } else { 1.0 };
        let length = [3, 2].map(|column| {
            let length = round(self.region.row[column] * scale);
            nearest[1] = nearest[1].min((length - least).abs());
            length.max(least)
        });
        let unit = match config.angle.unit {
            AngleUnit::Degrees => std::f64::consts::PI / 180.0,
            AngleUnit::Radians => 1.0,
        };
        let angle = round(match config.angle.direction {
            RotationDirection::Clockwise => -self.region.row[4] * unit,
            RotationDirection::CounterClockwise => self.region.row[4] * unit,
        });
        let (cosine, sine) = (round(angle.cos()), round(angle.sin()));
        let axes = [0, 1].map(|axis| {
            self.places(
                axis,
                -length[axis] / 2.0,
                length[axis],
                0.0,
                config.sampling,
                config.arithmetic,
                nearest,
            )
        });
        let [Some(ys), Some(xs)] = axes else { return None };
        let mut sum = 0.0;
        for &y in &ys {
            for &x in &xs {
                let point = [
                    round(round(round(y * cosine) - round(x * sine)) + center[0]),
                    round(round(round(y * sine) + round(x * cosine)) + center[1]),
                ];
                for &(channel, weight) in channels {
                    sum += weight * sample(&map(channel), point, [-1.0, 0.0], nearest).unwrap_or(0.0);
                }
            }
        }
        Some(sum / (ys.len() * xs.len()).max(1) as f64)
    }

    /// The places of an element's samples along an axis, from the start of its element in shares of it.
    #[allow(clippy::too_many_arguments)]
    fn places(
        &self,
        axis: usize,
        start: f64,
        length: f64,
        shift: f64,
        sampling: Sampling,
        arithmetic: Arithmetic,
        nearest: &mut Nearest,
    ) -> Option<Vec<f64>> {
        let round = self.round;
        let of_element = round(length / self.problem.operator.output_size()[axis] as f64);
        let count = match sampling {
            Sampling::Fixed(count) => count as f64,
            _ => {
                nearest[0] = nearest[0].min((of_element - of_element.round()).abs());
                of_element.ceil().max(0.0)
            }
        };
        if count > MOST_SAMPLES {
            return None;
        }
        let origin = round(round(start + shift) + round(self.place[axis] as f64 * of_element));
        let place = |sample: usize| {
            let number = sample as f64 + 0.5;
            let inside = match arithmetic {
                Arithmetic::FromElements => round(round(number * of_element) / count),
                _ => round(number * round(of_element / count)),
            };
            round(origin + inside)
        };
        Some((0..count as usize).map(place).collect())
    }

    /// The offset of the element along an axis.
    fn offset(&self, axis: usize) -> f64 {
        let Some(([_, groups, rows, columns], _)) = self.problem.offsets else {
            return 0.0;
        };
        let class = self.channel / (self.output_channels / (groups / 2));
        let [height, width] = self.problem.operator.output_size();
        let (y, x) = (self.place[0] * rows / height, self.place[1] * columns / width);
        // Those along x come first.
        let plane = 2 * class + if axis == 1 { 0 } else { 1 };
        self.region.offsets[(plane * rows + y) * columns + x]
    }

    fn deform<'m>(
        &self,
        config: &DeformRoiPoolConfig,
        map: &dyn Fn(usize) -> Map<'m>,
        nearest: &mut Nearest,
    ) -> Option<f64> {
        let round = self.round;
        let scale = round(config.spatial_scale);
        let axes = [(0, [1, 3]), (1, [0, 2])].map(|(axis, columns)| {
            let [start, end] = columns.map(|column| round(round(self.region.row[column] * scale) - 0.5));
            let length = round(end - start);
            let shift = round(round(round(config.gamma) * length) * self.offset(axis));
            self.places(
                axis,
                start,
                length,
                shift,
                config.sampling,
                Arithmetic::FromElements,
                nearest,
            )
        });
        let [Some(ys), Some(xs)] = axes else { return None };
        let mut sum = 0.0;
        for &y in &ys {
            for &x in &xs {
                sum += sample(&map(self.channel), [y, x], [-1.0, 0.0], nearest).unwrap_or(0.0);
            }
        }
        Some(sum / (ys.len() * xs.len()).max(1) as f64)
    }

    fn deform_ps<'m>(
        &self,
        config: &DeformPsRoiPoolConfig,
        map: &dyn Fn(usize) -> Map<'m>,
        nearest: &mut Nearest,
    ) -> Option<f64> {
        let round = self.round;
        let scale = round(config.spatial_scale);
        let places = [(0, [1, 3]), (1, [0, 2])].map(|(axis, [low, high])| {
            for column in [low, high] {
                let number = self.region.row[column];
                nearest[0] = nearest[0].min((number - number.floor() - 0.5).abs());
            }
            let start = round(round(self.region.row[low].round() * scale) - 0.5);
            let end = round(round((self.region.row[high].round() + 1.0) * scale) - 0.5);
            let length = round(end - start).max(round(0.1));
            let count = config.output_size[axis];
            let of_element = round(length / count as f64);
            let shift = round(round(self.offset(axis) * round(config.offset_scale)) * length);
            let origin = round(round(round(self.place[axis] as f64 * of_element) + start) + shift);
            let step = round(of_element / config.samples[axis] as f64);
            (0..config.samples[axis])
                .map(|sample| round(origin + round(sample as f64 * step)))
                .collect::<Vec<_>>()
        });
        let [height, width] = config.output_size;
        let channel = (self.channel * height + self.place[0]) * width + self.place[1];
        let (mut sum, mut count) = (0.0, 0);
        for &y in &places[0] {
            for &x in &places[1] {
                if let Some(sample) = sample(&map(channel), [y, x], [-0.5, 0.5], nearest) {
                    sum += sample;
                    count += 1;
                }
            }
        }
        Some(sum / f64::from(count.max(1)))
    }

    fn crop<'m>(
        &self,
        config: &PsCropAndResizeConfig,
        map: &dyn Fn(usize) -> Map<'m>,
        nearest: &mut Nearest,
    ) -> Option<f64> {
        let round = self.round;
        let scale = round(config.spatial_scale);
        let places = [(0, [1, 3]), (1, [0, 2])].map(|(axis, columns)| {
            let [low, high] = columns.map(|column| round(self.region.row[column] * scale));
            let (parts, last) = (config.parts[axis], (self.problem.shape[2 + axis] - 1) as f64);
            let of_part = round(round(high - low) / parts as f64);
            let count = config.output_size[axis];
            let place = |part: usize| {
                let [from, to] = [part, part + 1].map(|part| round(low + round(part as f64 * of_part)));
                if count == 1 {
                    return round(round(0.5 * round(from + to)) * last);
                }
                let step = round(round(round(to - from) * last) / (count - 1) as f64);
                round(round(self.place[axis] as f64 * step) + round(from * last))
            };
            (0..parts).map(place).collect::<Vec<_>>()
        });
        let mut sum = 0.0;
        for (row, &y) in places[0].iter().enumerate() {
            for (column, &x) in places[1].iter().enumerate() {
                let channel = (row * config.parts[1] + column) * self.output_channels + self.channel;
                sum += sample(&map(channel), [y, x], [0.0, 1.0], nearest).unwrap_or(0.0);
            }
        }
        Some(sum / config.parts.iter().product::<usize>() as f64)
    }
}

/// What a point reads; none beyond the border.
fn sample(map: &Map, point: [f64; 2], [below, above]: Border, nearest: &mut Nearest) -> Option<f64> {
    let mut taps = [(0, 0, 0.0); 2];
    let mut in_bounds = true;
    for axis in [0, 1] {
        let (position, size) = (point[axis], map.size[axis]);
        let end = size as f64 - above;
        nearest[0] = nearest[0].min((position - below).abs()).min((position - end).abs());
        nearest[1] = nearest[1].min((position - position.round()).abs());
        in_bounds &= position >= below && position <= end;
        let held = position.clamp(0.0, (size - 1) as f64);
        let low = held.floor() as usize;
        taps[axis] = (low, (low + 1).min(size - 1), held - held.floor());
    }
    let [(top, bottom, down), (left, right, across)] = taps;
    let at = |y: usize, x: usize| map.pixels[y * map.size[1] + x];
    let value = (1.0 - down) * ((1.0 - across) * at(top, left) + across * at(top, right))
        + down * ((1.0 - across) * at(bottom, left) + across * at(bottom, right));
    in_bounds.then_some(value)
}
