//! The operators written plainly from the frameworks' rules: every sample by itself, in f64, sharing no
//! code with the crate. Coordinates are rounded after each operation to the type that they have in the
//! crate, since counts and bounds jump with the last bit; sums are not.

use burn_roi::*;

use crate::problem::Operator;
use crate::reference_crop::crop;
use crate::reference_integrals::prroi_pool;

/// More samples along an axis than this are not computed one by one.
const MOST_SAMPLES: f64 = 20_000.0;

/// Regions of more samples in a channel are not computed. A gradient takes ten computations and more: without this
/// limit one of the fuzzer's inputs took two minutes, and with it 17 seconds.
const MOST_PAIRS: usize = 200_000;

/// Pixels further away than this are not divided into bins.
const FARTHEST_PIXEL: f64 = 1e6;

/// The type of coordinates.
#[derive(Clone, Copy)]
pub struct Coordinates {
    pub round: fn(f64) -> f64,
    pub largest: f64,
}

pub const SINGLE: Coordinates = Coordinates {
    round: |number| number as f32 as f64,
    largest: f32::MAX as f64,
};

pub const DOUBLE: Coordinates = Coordinates {
    round: |number| number,
    largest: f64::MAX,
};

/// The samples of an output element along one axis.
pub struct Samples {
    pub count: usize,
    /// The positions of those that are in bounds.
    pub inside: Vec<f64>,
}

/// Height, width and pixels of a channel.
pub struct Map<'a> {
    pub size: [usize; 2],
    pixels: &'a [f64],
}

impl Map<'_> {
    pub fn at(&self, y: usize, x: usize) -> f64 {
        self.pixels[y * self.size[1] + x]
    }
}

/// The output `[K, C, P, Q]` of regions, each an image and a box, of features of this shape; none where
/// the reference would take too long.
pub fn output(
    operator: &Operator,
    [_, channels, height, width]: [usize; 4],
    features: &[f64],
    regions: &[(usize, [f64; 4])],
    coordinates: Coordinates,
) -> Option<Vec<f64>> {
    let mut output = Vec::new();
    let of_an_output = operator.input_channels();
    for &(image, corners) in regions {
        for channel in 0..channels {
            let plane = (image * channels + channel) * height * width;
            let map = Map {
                size: [height, width],
                pixels: &features[plane..plane + height * width],
            };
            let elements = match operator {
                Operator::RoiAlign(config) => roi_align(config, corners, &map, coordinates)?,
                Operator::RoiPool(config) => roi_pool(config, corners, &map, coordinates)?,
                Operator::CropAndResize(config) => crop(config, corners, &map, coordinates),
                Operator::PsRoiAlign(config) => {
                    let config = RoiAlignConfig::new(config.output_size)
                        .with_spatial_scale(config.spatial_scale)
                        .with_sampling(config.sampling)
                        .with_aligned(config.aligned);
                    roi_align(&config, corners, &map, coordinates)?
                }
                Operator::PsRoiPool(config) => ps_roi_pool(config, corners, &map, coordinates)?,
                Operator::PrRoiPool(config) => prroi_pool(config, corners, &map, coordinates),
            };
            // A position-sensitive operator takes one element of each channel.
            match of_an_output {
                1 => output.extend(elements),
                _ => output.push(elements[channel % of_an_output]),
            }
        }
    }
    Some(output)
}

fn roi_align(
    config: &RoiAlignConfig,
    [x1, y1, x2, y2]: [f64; 4],
    map: &Map,
    coordinates: Coordinates,
) -> Option<Vec<f64>> {
    let [height, width] = config.output_size;
    let axis = |scale, ends, outputs, size| samples_of_axis(config, coordinates, scale, ends, outputs, size);
    let y = axis(config.spatial_scale_y, [y1, y2], height, map.size[0])?;
    let x = axis(config.spatial_scale_x, [x1, x2], width, map.size[1])?;
    let [rows, columns] = [&y, &x].map(|axis| axis.iter().map(|of_element| of_element.inside.len()).sum::<usize>());
    if rows.saturating_mul(columns) > MOST_PAIRS {
        return None;
    }
    let mut output = Vec::new();
    for of_row in &y {
        for of_column in &x {
            output.push(reduce(config, of_row, of_column, map));
        }
    }
    Some(output)
}

/// For each output element, its samples along one axis.
pub fn samples_of_axis(
    config: &RoiAlignConfig,
    Coordinates { round, largest }: Coordinates,
    scale: f64,
    ends: [f64; 2],
    outputs: usize,
    size: usize,
) -> Option<Vec<Samples>> {
    let outputs = outputs as f64;
    // The options are numbers of the type of coordinates.
    let [scale, box_offset, end_offset, input_offset, output_offset] = [
        scale,
        config.box_offset,
        config.end_offset,
        config.input_pixel_offset,
        config.output_pixel_offset,
    ]
    .map(round);
    let times = |left: f64, right: f64| round(left * right).clamp(-largest, largest);
    let [low, high] = [ends[0], round(ends[1] + end_offset)].map(|end| round(end + box_offset));
    let start = round(times(low, scale) - input_offset);
    let end = round(times(high, scale) - input_offset);

    let length = match config.arithmetic {
        Arithmetic::FromElements | Arithmetic::FromElementsBySteps | Arithmetic::FromRegionInElements => {
            round(end - start)
        }
        Arithmetic::FromRegion => round(times(high, scale) - times(low, scale)),
        Arithmetic::FromRegionUnscaled => times(round(high - low).clamp(-largest, largest), scale),
        unknown => unreachable!("the reference does not know {unknown:?}"),
    };
    let length = length
        .max(config.minimum_length.unwrap_or(-largest))
        .clamp(-largest, largest);
    let of_element = round(length / outputs);
    let count = match config.sampling {
        Sampling::Fixed(count) => count as f64,
        Sampling::Adaptive => of_element.ceil().max(0.0),
        Sampling::AdaptiveFloor => of_element.floor().max(0.0),
        Sampling::Clamped { minimum, maximum } => of_element.ceil().clamp(minimum as f64, maximum as f64),
        unknown => unreachable!("the reference does not know {unknown:?}"),
    };
    if count > MOST_SAMPLES {
        return None;
    }

    let by_elements = !config.align_corners
        && matches!(
            config.arithmetic,
            Arithmetic::FromElements | Arithmetic::FromElementsBySteps | Arithmetic::FromRegionInElements
        );
    let position = |element: f64, sample: f64| {
        if by_elements {
            let origin = round(start + times(element, of_element));
            let place = round(sample - output_offset);
            let inside = match config.arithmetic {
                Arithmetic::FromElements => round(times(place, of_element) / count),
                Arithmetic::FromRegionInElements => {
                    return round(start + times(of_element, round(element + round(place / count))));
                }
                _ => times(place, round(of_element / count)),
            };
            return round(origin + inside);
        }
        let corners = if config.align_corners { 1.0 } else { 0.0 };
        let spans = outputs * count - corners;
        if spans == 0.0 {
            let middle = round(round(low + high) * 0.5);
            return round(times(middle, scale) - input_offset);
        }
        let number = round(element * count + sample - output_offset);
        let inside = times(number, round(length / spans));
        match config.arithmetic {
            // DirectML subtracts the offset last.
            Arithmetic::FromRegion => round(round(times(low, scale) + inside) - input_offset),
            _ => round(start + inside),
        }
    };
    let in_bounds = |position: &f64| (-1.0..=size as f64).contains(position);
    let of_element = |element: usize| Samples {
        count: count as usize,
        inside: (0..count as usize)
            .map(|sample| position(element as f64, sample as f64))
            .filter(in_bounds)
            .collect(),
    };
    Some((0..outputs as usize).map(of_element).collect())
}

/// The samples of an element as one number.
fn reduce(config: &RoiAlignConfig, y: &Samples, x: &Samples, map: &Map) -> f64 {
    let count = (y.count * x.count) as f64;
    let missing = count - (y.inside.len() * x.inside.len()) as f64;
    let outside = config.out_of_bounds_value;
    let mut sum = outside * missing;
    let mut largest = if missing > 0.0 { outside } else { f64::NEG_INFINITY };
    for &y in &y.inside {
        for &x in &x.inside {
            let corners = weighted_corners(config.interpolation, y, x, map);
            let sample: f64 = corners.iter().sum();
            sum += sample;
            largest = match config.reduction {
                Reduction::MaxOfWeightedCorners => corners.into_iter().fold(largest, f64::max),
                _ => largest.max(sample),
            };
        }
    }
    match config.reduction {
        Reduction::MaxFromZero if count == 0.0 => outside.max(0.0),
        _ if count == 0.0 => outside,
        Reduction::Average => sum / count,
        Reduction::Max | Reduction::MaxOfWeightedCorners => largest,
        Reduction::MaxFromZero => largest.max(0.0),
        unknown => unreachable!("the reference does not know {unknown:?}"),
    }
}

/// What the four pixels around a position in bounds add to its sample.
pub fn weighted_corners(interpolation: Interpolation, y: f64, x: f64, map: &Map) -> [f64; 4] {
    let [(top, bottom, down), (left, right, across)] = [(y, map.size[0]), (x, map.size[1])].map(|(position, size)| {
        let last = size - 1;
        let held = position.clamp(0.0, last as f64);
        if interpolation == Interpolation::Nearest {
            // A half goes down.
            let nearest = (held - 0.5).ceil() as usize;
            return (nearest, nearest, 0.0);
        }
        let low = held.floor() as usize;
        (low, (low + 1).min(last), held - held.floor())
    });
    [
        (1.0 - down) * (1.0 - across) * map.at(top, left),
        (1.0 - down) * across * map.at(top, right),
        down * (1.0 - across) * map.at(bottom, left),
        down * across * map.at(bottom, right),
    ]
}

fn roi_pool(
    config: &RoiPoolConfig,
    [x1, y1, x2, y2]: [f64; 4],
    map: &Map,
    coordinates: Coordinates,
) -> Option<Vec<f64>> {
    let bins = |scale, ends, outputs, size| bins_of_axis(config, coordinates, scale, ends, outputs, size);
    let rows = bins(config.spatial_scale_y, [y1, y2], config.output_size[0], map.size[0])?;
    let columns = bins(config.spatial_scale_x, [x1, x2], config.output_size[1], map.size[1])?;
    let mut output = Vec::new();
    for rows in &rows {
        for columns in &columns {
            let pixels = rows.clone().flat_map(|y| columns.clone().map(move |x| map.at(y, x)));
            // No random number is below what a maximum starts from.
            output.push(pixels.reduce(f64::max).unwrap_or(0.0));
        }
    }
    Some(output)
}

/// The pixels of each bin along one axis.
pub fn bins_of_axis(
    config: &RoiPoolConfig,
    Coordinates { round, .. }: Coordinates,
    scale: f64,
    ends: [f64; 2],
    outputs: usize,
    size: usize,
) -> Option<Vec<std::ops::Range<usize>>> {
    let scaled = |end: f64| round(end * round(scale));
    if config.rounding != BoxRounding::AfterScaling {
        let [start, end] = match config.rounding {
            BoxRounding::BeforeScaling => [ends[0].round(), ends[1].round() + 1.0],
            _ => [ends[0], round(ends[1] + 1.0)],
        };
        let [start, end] = [start, end].map(scaled);
        if start.abs().max(end.abs()) > FARTHEST_PIXEL {
            return None;
        }
        let length = round(end - start).max(config.minimum_length.unwrap_or_default());
        if config.rounding == BoxRounding::Never && length <= 0.0 {
            return Some(vec![0..0; outputs]);
        }
        let of_bin = round(length / outputs as f64);
        let border = |index: usize| round(round(index as f64 * of_bin) + start);
        let held = |pixel: f64| pixel.clamp(0.0, size as f64) as usize;
        let bin = |index: usize| {
            let low = held(border(index).floor());
            low..held(border(index + 1).ceil()).max(low)
        };
        return Some((0..outputs).map(bin).collect());
    }
    // `round` of f64 takes a half away from zero, as C's does.
    let [first, last] = ends.map(|end| scaled(end).round());
    if first.abs().max(last.abs()) > FARTHEST_PIXEL {
        return None;
    }
    let least = config.minimum_length.unwrap_or_default() as i64;
    let (first, length) = (first as i64, ((last - first) as i64 + 1).max(least));
    let (count, held) = (outputs as i64, |pixel: i64| (first + pixel).clamp(0, size as i64));
    let bin = |index: i64| {
        let [start, end] = match config.division {
            BinDivision::Rounded => {
                let of_bin = round(length as f64 / count as f64);
                let borders = [index, index + 1].map(|border| round(border as f64 * of_bin));
                [borders[0].floor() as i64, borders[1].ceil() as i64]
            }
            BinDivision::Whole if length > 0 => [index * length / count, ((index + 1) * length + count - 1) / count],
            BinDivision::Whole => [0, 0],
            unknown => unreachable!("the reference does not know {unknown:?}"),
        };
        held(start) as usize..held(end) as usize
    };
    Some((0..count).map(bin).collect())
}

fn ps_roi_pool(
    config: &PsRoiPoolConfig,
    [x1, y1, x2, y2]: [f64; 4],
    map: &Map,
    Coordinates { round, .. }: Coordinates,
) -> Option<Vec<f64>> {
    let bins = |[low, high]: [f64; 2], outputs: usize, size: usize| {
        let scaled = |number: f64| round(number * round(config.spatial_scale));
        let (high, pixel) = (round(high + config.end_offset), f64::from(config.inclusive_end));
        let (start, end) = match config.rounding {
            BoxRounding::AfterScaling => (scaled(low).round(), scaled(high).round() + pixel),
            BoxRounding::BeforeScaling => (scaled(low.round()), scaled(high.round() + pixel)),
            BoxRounding::Never => (scaled(low), scaled(round(high + pixel))),
            unknown => unreachable!("the reference does not know {unknown:?}"),
        };
        if start.abs().max(end.abs()) > FARTHEST_PIXEL {
            return None;
        }
        let of_bin = round(round(end - start).max(round(config.minimum_length.unwrap_or_default())) / outputs as f64);
        let last = if config.reaches_last_pixel { size } else { size - 1 };
        let held = |pixel: f64| pixel.clamp(0.0, last as f64) as usize;
        // A region that begins at a whole pixel is divided from there.
        let border = |index: usize| match config.rounding {
            BoxRounding::AfterScaling => [start, round(index as f64 * of_bin)],
            _ => [0.0, round(round(index as f64 * of_bin) + start)],
        };
        let bin = |index: usize| {
            let [[from, low], [to, high]] = [border(index), border(index + 1)];
            let low = held(from + low.floor());
            low..held(to + high.ceil()).max(low)
        };
        Some((0..outputs).map(bin).collect::<Vec<_>>())
    };
    let rows = bins([y1, y2], config.output_size[0], map.size[0])?;
    let columns = bins([x1, x2], config.output_size[1], map.size[1])?;
    let mut output = Vec::new();
    for rows in &rows {
        for columns in &columns {
            let count = rows.len() * columns.len();
            let pixels = rows.clone().flat_map(|y| columns.clone().map(move |x| map.at(y, x)));
            output.push(pixels.sum::<f64>() / count.max(1) as f64);
        }
    }
    Some(output)
}
