//! Plans of elements that read points, made from the functions that kernels call. Compiled for both types of
//! coordinates: `Real` is the parent's.

use std::ops::Range;

use super::Real;
use super::make::bounds;
use super::point_slopes::{angle_slopes, fraction_slope, place_slopes};
use super::points::{self, PointAxis, PointRule, Turn};
use super::samples::bilinear_taps;
use super::scratch::Scratch;
use crate::geometry::operator::{ChannelMap, RegionOperator};
use crate::geometry::options::{Arithmetic, Sampling};
use crate::geometry::plan::{PointPart, PointWeights, Region, Span, hull};
use crate::geometry::point_grid::{PARAMETERS, Placement, PointGrid};

/// How samples are placed, in this type of coordinates.
pub fn point_rule(grid: &PointGrid) -> PointRule {
    let [samples_y, samples_x] = grid.sampling.map(|sampling| match sampling {
        Sampling::Fixed(samples) => samples as u32,
        _ => 0,
    });
    let (lower_bound, upper_margin) = bounds(grid.bounds);
    let [parts_y, parts_x] = grid.parts().map(|parts| parts as u32);
    PointRule {
        placement: match grid.placement {
            Placement::Rotated { .. } => points::ROTATED,
            Placement::Offsets(_) => points::OFFSETS,
            Placement::OffsetsOfRoundedBox(_) => points::OFFSETS_OF_ROUNDED_BOX,
            Placement::SubCrops => points::SUB_CROPS,
        },
        spatial_scale: grid.spatial_scale as Real,
        input_pixel_offset: grid.input_pixel_offset as Real,
        minimum_length: grid.minimum_length.map_or(-Real::MAX, |length| length as Real),
        samples_y,
        samples_x,
        by_steps: (grid.arithmetic == Arithmetic::FromElementsBySteps) as u32,
        radians: match grid.placement {
            Placement::Rotated { radians } => radians as Real,
            _ => 0.0,
        },
        full_turn: match grid.placement {
            Placement::Rotated { radians } if radians.abs() != 1.0 => (std::f64::consts::TAU / radians.abs()) as Real,
            _ => 0.0,
        },
        offset_scale: grid.offset_scale() as Real,
        parts_y,
        parts_x,
        lower_bound,
        upper_margin,
        ignores_out_of_bounds: grid.ignores_out_of_bounds as u32,
    }
}

/// Plans a region.
#[allow(clippy::unnecessary_cast)]
pub fn point_weights(
    grid: &PointGrid,
    operator: &RegionOperator,
    [height, width]: [usize; 2],
    region: &Region,
    slopes: bool,
) -> PointWeights<Real> {
    let rule = point_rule(grid);
    let [x1, y1, x2, y2] = region.corners.map(|corner| corner as Real);
    let [rows, columns] = operator.output_size.map(|size| size as u32);
    let mut turn = points::turn(&rule, y1, x1, 1.0, 0.0);
    if let Placement::Rotated { radians } = grid.placement {
        // In f64, whose cosine of a rounded angle is the nearest in f32 but for rare ties.
        let angle = (region.rest[0] * radians) as Real as f64;
        turn.cosine = angle.cos() as Real;
        turn.sine = angle.sin() as Real;
    }
    let (height, width) = (height as u32, width as u32);
    let mut planner = OfRegion {
        grid,
        rule,
        operator,
        y: points::point_axis(&rule, y1, y2, rule.samples_y, rows, height),
        x: points::point_axis(&rule, x1, x2, rule.samples_x, columns, width),
        places: points::places_of_pixels(&rule, &turn, 0, height - 1, 0, width - 1),
        turn,
        region,
        slopes,
        scratch: Scratch::default(),
        plan: PointWeights {
            parts: Vec::new(),
            spans: Vec::new(),
            weights: Vec::new(),
            slopes: Vec::new(),
        },
    };
    planner.add_parts();
    planner.plan
}

/// A region that is being planned.
struct OfRegion<'a> {
    grid: &'a PointGrid,
    rule: PointRule,
    operator: &'a RegionOperator,
    y: PointAxis,
    x: PointAxis,
    turn: Turn,
    /// The places that may read the map.
    places: points::Places,
    region: &'a Region,
    slopes: bool,
    scratch: Scratch,
    plan: PointWeights<Real>,
}

/// An element, and which of its samples are wanted.
struct Element {
    row: u32,
    column: u32,
    samples: [Range<u32>; 2],
    /// Its offset along y and along x.
    offset: [Real; 2],
}

/// A sample in bounds.
struct Sample {
    /// The places along both axes of the region.
    places: [Real; 2],
    numbers: [u32; 2],
    point: points::Point,
}

impl OfRegion<'_> {
    fn add_parts(&mut self) {
        let samples = [0..self.y.samples, 0..self.x.samples];
        let [rows, columns] = self.operator.output_size;
        match self.operator.channel_map {
            ChannelMap::Same => self.add_part(0, 0..rows * columns, samples),
            ChannelMap::PositionSensitive => {
                for element in 0..rows * columns {
                    self.add_part(element, element..element + 1, samples.clone());
                }
            }
            ChannelMap::SampleSensitive { .. } => {
                for y in samples[0].clone() {
                    for x in samples[1].clone() {
                        let group = y * samples[1].end + x;
                        self.add_part(group as usize, 0..rows * columns, [y..y + 1, x..x + 1]);
                    }
                }
            }
        }
    }

    fn add_part(&mut self, group: usize, elements: Range<usize>, samples: [Range<u32>; 2]) {
        let [_, columns] = self.operator.output_size;
        let start = [self.plan.spans.len(), self.plan.weights.len()];
        let mut ends = Vec::with_capacity(elements.len());
        for element in elements.clone() {
            let place = [element / columns, element % columns];
            let offset_columns = self.grid.offset_columns(place, self.operator.output_size);
            let offset = offset_columns.map_or([0.0; 2], |columns| {
                columns.map(|column| self.region.rest[column - 4] as Real)
            });
            let [row, column] = place.map(|number| number as u32);
            self.add_element(&Element {
                row,
                column,
                samples: samples.clone(),
                offset,
            });
            ends.push([self.plan.spans.len(), self.plan.weights.len()]);
        }
        let spans = &self.plan.spans[start[0]..];
        let window = [
            hull(spans.iter().map(|span| span.row as usize..span.row as usize + 1)),
            hull(spans.iter().map(Span::columns)),
        ];
        self.plan.parts.push(PointPart {
            group,
            elements,
            start,
            ends,
            window,
        });
    }

    /// Adds the spans of an element.
    fn add_element(&mut self, element: &Element) {
        let rule = &{ self.rule };
        let shifts = [
            points::shift(rule, &self.y, element.offset[0]),
            points::shift(rule, &self.x, element.offset[1]),
        ];
        let near_y = points::samples_between(
            rule,
            &self.y,
            element.row,
            shifts[0],
            self.places.low_y,
            self.places.high_y,
        );
        let near_x = points::samples_between(
            rule,
            &self.x,
            element.column,
            shifts[1],
            self.places.low_x,
            self.places.high_x,
        );
        let samples_y = near_y.first.max(element.samples[0].start)..near_y.end.min(element.samples[0].end);
        let samples_x = near_x.first.max(element.samples[1].start)..near_x.end.min(element.samples[1].end);
        if samples_y.is_empty() || samples_x.is_empty() {
            return;
        }
        let along_x: Vec<Real> = samples_x
            .clone()
            .map(|sample| points::place(rule, &self.x, element.column, sample, shifts[1]))
            .collect();
        let place_y = |sample| points::place(rule, &self.y, element.row, sample, shifts[0]);
        let ends_y = [place_y(samples_y.start), place_y(samples_y.end - 1)];
        if !self.open_scratch(
            samples_y.len() * samples_x.len(),
            ends_y,
            [along_x[0], along_x[along_x.len() - 1]],
        ) {
            return;
        }
        let mut count = 0;
        for sample_y in samples_y {
            let y = points::place(rule, &self.y, element.row, sample_y, shifts[0]);
            for (sample_x, &x) in samples_x.clone().zip(&along_x) {
                let point = points::turned(&self.rule, &self.turn, y, x);
                if points::reads(&self.rule, &point, self.y.size, self.x.size) {
                    count += 1;
                    self.add_sample(
                        element,
                        &Sample {
                            places: [y, x],
                            numbers: [sample_y, sample_x],
                            point,
                        },
                    );
                }
            }
        }
        let all = self.y.samples as Real * self.x.samples as Real;
        let divisor = if self.grid.ignores_out_of_bounds {
            count as Real
        } else {
            all
        };
        self.scratch.write(divisor, &mut self.plan);
    }

    /// Makes room for the pixels that `samples` points between the ends of these places may read; false where there are
    /// none.
    fn open_scratch(&mut self, samples: usize, y: [Real; 2], x: [Real; 2]) -> bool {
        let points = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let points = points.map(|[a, b]| points::turned(&self.rule, &self.turn, y[a], x[b]));
        // A pixel more on each side, for rounding.
        let pixels = |position: fn(&points::Point) -> Real, size: u32| {
            let low = points.iter().map(position).fold(Real::MAX, Real::min);
            let high = points.iter().map(position).fold(-Real::MAX, Real::max);
            if high < -2.0 || low > size as Real + 1.0 {
                return 0..0;
            }
            let low = (low.floor() - 1.0).clamp(0.0, (size - 1) as Real);
            let high = (high.floor() + 2.0).clamp(0.0, (size - 1) as Real);
            low as usize..high as usize + 1
        };
        let window = [
            pixels(|point| point.y, self.y.size),
            pixels(|point| point.x, self.x.size),
        ];
        self.scratch.open(window, samples, self.slopes)
    }

    /// Adds the weights of a sample in bounds.
    fn add_sample(&mut self, element: &Element, sample: &Sample) {
        let y = bilinear_taps(sample.point.y, self.y.size);
        let x = bilinear_taps(sample.point.x, self.x.size);
        for (row, weight_y) in [(y.low, 1.0 - y.fraction), (y.high, y.fraction)] {
            for (column, weight_x) in [(x.low, 1.0 - x.fraction), (x.high, x.fraction)] {
                let place = self.scratch.place(row as usize, column as usize);
                self.scratch.weights[place] += weight_y * weight_x;
            }
        }
        if self.slopes {
            self.add_slopes(element, sample);
        }
    }

    /// Adds the slopes of the weights of a sample in bounds.
    // When this was inlined, the compiler moved its products before the test of `slopes`, and took them of memory that
    // was not written. In one build they took 30 of the 90 ms of rotated-p2 on one thread, probably because that memory
    // held subnormal numbers.
    #[inline(never)]
    fn add_slopes(&mut self, element: &Element, sample: &Sample) {
        let y = bilinear_taps(sample.point.y, self.y.size);
        let x = bilinear_taps(sample.point.x, self.x.size);
        let movement = self.movement(element, sample);
        let along_y = [(y.low, 1.0 - y.fraction, -1.0), (y.high, y.fraction, 1.0)];
        let along_x = [(x.low, 1.0 - x.fraction, -1.0), (x.high, x.fraction, 1.0)];
        for (row, weight_y, sign_y) in along_y {
            for (column, weight_x, sign_x) in along_x {
                let place = self.scratch.place(row as usize, column as usize);
                for (slope, [down, right]) in self.scratch.slopes[place].iter_mut().zip(&movement) {
                    *slope += sign_y * down * weight_x + sign_x * right * weight_y;
                }
            }
        }
    }

    /// By how much the weight of the pixel below a sample's point, and of that to its right, grows with each of the
    /// numbers that it moves with.
    fn movement(&self, element: &Element, sample: &Sample) -> [[Real; 2]; PARAMETERS] {
        let (rule, turn) = (&self.rule, &self.turn);
        let [number_y, number_x] = sample.numbers;
        let y = place_slopes(rule, &self.y, element.row, number_y, element.offset[0]);
        let x = place_slopes(rule, &self.x, element.column, number_x, element.offset[1]);
        let points = match self.grid.placement {
            Placement::Rotated { .. } => {
                let angle = angle_slopes(rule, turn, sample.places[0], sample.places[1]);
                [
                    [0.0, rule.spatial_scale],
                    [rule.spatial_scale, 0.0],
                    [-turn.sine * x.high, turn.cosine * x.high],
                    [turn.cosine * y.high, turn.sine * y.high],
                    [angle.y, angle.x],
                    [0.0; 2],
                ]
            }
            _ => [
                [0.0, x.low],
                [y.low, 0.0],
                [0.0, x.high],
                [y.high, 0.0],
                [y.offset, 0.0],
                [0.0, x.offset],
            ],
        };
        let slope_y = fraction_slope(sample.point.y, self.y.size);
        let slope_x = fraction_slope(sample.point.x, self.x.size);
        points.map(|[y, x]| [y * slope_y, x * slope_x])
    }
}
