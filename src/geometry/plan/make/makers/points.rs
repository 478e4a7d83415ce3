//! The plan of a region whose elements read points.

use std::ops::Range;

use super::real::Real;
use super::real::point_slopes::{angle_slopes, fraction_slope, place_slopes};
use super::real::points::{self, Point, PointAxis, PointRule, Turn};
use super::real::rules::point_rule;
use super::real::samples::bilinear_taps;
use super::scratch::Scratch;
use crate::geometry::operator::{ChannelMap, Elements};
use crate::geometry::plan::axis::hull;
use crate::geometry::plan::group::ChannelGroup;
use crate::geometry::plan::planner::Planner;
use crate::geometry::plan::points::{PointWeights, Span};
use crate::geometry::plan::region::Region;
use crate::geometry::point_grid::{PARAMETERS, Placement, PointGrid};

#[allow(clippy::unnecessary_cast)]
pub fn point_weights(planner: &Planner<Real>, region: &Region, slopes: bool) -> PointWeights<Real> {
    let Elements::Points(grid) = &planner.operator.elements else {
        unreachable!("the axes of other operators are planned one by one");
    };
    let rule = point_rule(grid);
    let [x1, y1, x2, y2] = region.corners.map(|corner| corner as Real);
    let [rows, columns] = planner.operator.output_size.map(|size| size as u32);
    let [height, width] = planner.map.map(|size| size as u32);
    let mut turn = points::turn(&rule, y1, x1, 1.0, 0.0);
    if let Placement::Rotated { radians } = grid.placement {
        // In f64, whose cosine of a rounded angle is the nearest in f32 but for rare ties.
        let angle = (region.rest[0] * radians) as Real as f64;
        turn.cosine = angle.cos() as Real;
        turn.sine = angle.sin() as Real;
    }
    let places = points::places_of_pixels(&rule, &turn, 0, height - 1, 0, width - 1);
    let mut maker = Maker {
        grid,
        rule,
        output_size: planner.operator.output_size,
        axes: [
            points::point_axis(&rule, y1, y2, rule.samples_y, rows, height),
            points::point_axis(&rule, x1, x2, rule.samples_x, columns, width),
        ],
        turn,
        places: [[places.low_y, places.high_y], [places.low_x, places.high_x]],
        region,
        slopes,
        scratch: Scratch::default(),
        plan: PointWeights {
            windows: Vec::with_capacity(planner.groups.len()),
            starts: vec![[0, 0]],
            spans: Vec::new(),
            weights: Vec::new(),
            slopes: Vec::new(),
        },
    };
    let has_own_samples = matches!(planner.operator.channel_map, ChannelMap::SampleSensitive { .. });
    for group in &planner.groups {
        maker.add_group(group, has_own_samples);
    }
    maker.plan
}

/// A region that is being planned. Arrays of two are along y and along x.
struct Maker<'a> {
    grid: &'a PointGrid,
    rule: PointRule,
    output_size: [usize; 2],
    axes: [PointAxis; 2],
    turn: Turn,
    /// The least and the greatest place whose point may read the map.
    places: [[Real; 2]; 2],
    region: &'a Region,
    slopes: bool,
    scratch: Scratch,
    plan: PointWeights<Real>,
}

/// An element, and which of its samples are wanted.
struct Element {
    /// Its row and column in the output.
    index: [u32; 2],
    samples: [Range<u32>; 2],
    offset: [Real; 2],
    /// By how many pixels the offset moves its samples.
    shift: [Real; 2],
}

/// A sample in bounds.
struct Sample {
    index: [u32; 2],
    /// Its places along the axes of the region.
    places: [Real; 2],
    point: Point,
}

impl Maker<'_> {
    /// Adds the elements of a group. With `has_own_samples`, each element takes one sample of its own in a group.
    fn add_group(&mut self, group: &ChannelGroup, has_own_samples: bool) {
        let [samples_y, samples_x] = self.axes.map(|axis| axis.samples);
        let samples = if has_own_samples {
            let sample = group.index as u32;
            [sample / samples_x, sample % samples_x].map(|sample| sample..sample + 1)
        } else {
            [0..samples_y, 0..samples_x]
        };
        let first_span = self.plan.spans.len();
        for element in group.indices() {
            self.add_element(&self.element(element, samples.clone()));
            self.plan.starts.push([self.plan.spans.len(), self.plan.weights.len()]);
        }
        let spans = &self.plan.spans[first_span..];
        self.plan.windows.push([
            hull(spans.iter().map(|span| span.row as usize..span.row as usize + 1)),
            hull(spans.iter().map(Span::columns)),
        ]);
    }

    fn element(&self, element: usize, samples: [Range<u32>; 2]) -> Element {
        let [_, columns] = self.output_size;
        let index = [element / columns, element % columns];
        let offset_columns = self.grid.offset_columns(index, self.output_size);
        let offset = offset_columns.map_or([0.0; 2], |columns| {
            columns.map(|column| self.region.rest[column - 4] as Real)
        });
        Element {
            index: index.map(|number| number as u32),
            samples,
            offset,
            shift: [0, 1].map(|axis| points::shift(&self.rule, &self.axes[axis], offset[axis])),
        }
    }

    fn add_element(&mut self, element: &Element) {
        let [samples_y, samples_x] = [0, 1].map(|axis| self.samples_near_map(element, axis));
        if samples_y.is_empty() || samples_x.is_empty() {
            return;
        }
        let along_x: Vec<Real> = samples_x.clone().map(|sample| self.place(element, 1, sample)).collect();
        let ends_y = [samples_y.start, samples_y.end - 1].map(|sample| self.place(element, 0, sample));
        let ends_x = [along_x[0], along_x[along_x.len() - 1]];
        if !self.open_scratch(samples_y.len() * samples_x.len(), ends_y, ends_x) {
            return;
        }
        let [size_y, size_x] = self.axes.map(|axis| axis.size);
        let mut count = 0;
        for sample_y in samples_y {
            let y = self.place(element, 0, sample_y);
            for (sample_x, &x) in samples_x.clone().zip(&along_x) {
                let point = points::turned(&self.rule, &self.turn, y, x);
                if points::reads(&self.rule, &point, size_y, size_x) {
                    count += 1;
                    let sample = Sample {
                        index: [sample_y, sample_x],
                        places: [y, x],
                        point,
                    };
                    self.add_sample(element, &sample);
                }
            }
        }
        let [all_y, all_x] = self.axes.map(|axis| axis.samples as Real);
        let divisor = match self.grid.ignores_out_of_bounds {
            true => count as Real,
            false => all_y * all_x,
        };
        self.scratch.write(divisor, &mut self.plan);
    }

    /// The wanted samples of an element that may read the map, along one axis of the region.
    fn samples_near_map(&self, element: &Element, axis: usize) -> Range<u32> {
        let ([low, high], wanted) = (self.places[axis], &element.samples[axis]);
        let (index, shift) = (element.index[axis], element.shift[axis]);
        let near = points::samples_between(&self.rule, &self.axes[axis], index, shift, low, high);
        near.first.max(wanted.start)..near.end.min(wanted.end)
    }

    fn place(&self, element: &Element, axis: usize, sample: u32) -> Real {
        let (index, shift) = (element.index[axis], element.shift[axis]);
        points::place(&self.rule, &self.axes[axis], index, sample, shift)
    }

    /// Opens the scratch for the pixels that `samples` points between these ends may read. Returns false if there are
    /// none.
    fn open_scratch(&mut self, samples: usize, y: [Real; 2], x: [Real; 2]) -> bool {
        let points = [[0, 0], [0, 1], [1, 0], [1, 1]];
        let points = points.map(|[a, b]| points::turned(&self.rule, &self.turn, y[a], x[b]));
        // One more pixel on each side, for rounding.
        let pixels = |position: fn(&Point) -> Real, size: u32| {
            let low = points.iter().map(position).fold(Real::MAX, Real::min);
            let high = points.iter().map(position).fold(-Real::MAX, Real::max);
            if high < -2.0 || low > size as Real + 1.0 {
                return 0..0;
            }
            let low = (low.floor() - 1.0).clamp(0.0, (size - 1) as Real);
            let high = (high.floor() + 2.0).clamp(0.0, (size - 1) as Real);
            low as usize..high as usize + 1
        };
        let [size_y, size_x] = self.axes.map(|axis| axis.size);
        let window = [pixels(|point| point.y, size_y), pixels(|point| point.x, size_x)];
        self.scratch.open(window, samples, self.slopes)
    }

    /// Adds the weights of a sample in bounds.
    fn add_sample(&mut self, element: &Element, sample: &Sample) {
        let y = bilinear_taps(sample.point.y, self.axes[0].size);
        let x = bilinear_taps(sample.point.x, self.axes[1].size);
        for (row, weight_y) in [(y.low, 1.0 - y.fraction), (y.high, y.fraction)] {
            for (column, weight_x) in [(x.low, 1.0 - x.fraction), (x.high, x.fraction)] {
                let pixel = self.scratch.index(row as usize, column as usize);
                self.scratch.weights[pixel] += weight_y * weight_x;
            }
        }
        if self.slopes {
            self.add_slopes(element, sample);
        }
    }

    /// Adds the slopes of the weights of a sample in bounds.
    // When this was inlined, the compiler computed its products before the test of `slopes`, from memory that was not
    // written. In one build they took 30 of the 90 ms of rotated-p2 on one thread, probably because that memory held
    // subnormal numbers.
    #[inline(never)]
    fn add_slopes(&mut self, element: &Element, sample: &Sample) {
        let y = bilinear_taps(sample.point.y, self.axes[0].size);
        let x = bilinear_taps(sample.point.x, self.axes[1].size);
        let movement = self.movement(element, sample);
        let along_y = [(y.low, 1.0 - y.fraction, -1.0), (y.high, y.fraction, 1.0)];
        let along_x = [(x.low, 1.0 - x.fraction, -1.0), (x.high, x.fraction, 1.0)];
        for (row, weight_y, sign_y) in along_y {
            for (column, weight_x, sign_x) in along_x {
                let pixel = self.scratch.index(row as usize, column as usize);
                for (slope, [down, right]) in self.scratch.slopes[pixel].iter_mut().zip(&movement) {
                    *slope += sign_y * down * weight_x + sign_x * right * weight_y;
                }
            }
        }
    }

    /// The partial derivatives of a sample's bilinear weights along y and along x by each parameter of its element, in
    /// the order of [`Planner::parameter_columns`](crate::geometry::plan::Planner::parameter_columns).
    fn movement(&self, element: &Element, sample: &Sample) -> [[Real; 2]; PARAMETERS] {
        let (rule, turn) = (&self.rule, &self.turn);
        let [y, x] = [0, 1].map(|axis| {
            let (index, offset) = (element.index[axis], element.offset[axis]);
            place_slopes(rule, &self.axes[axis], index, sample.index[axis], offset)
        });
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
        let slope_y = fraction_slope(sample.point.y, self.axes[0].size);
        let slope_x = fraction_slope(sample.point.x, self.axes[1].size);
        points.map(|[y, x]| [y * slope_y, x * slope_x])
    }
}
