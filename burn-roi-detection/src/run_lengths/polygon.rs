//! Masks of polygons, rasterised as pycocotools does.
//!
//! pycocotools draws the outline on a grid of 5 x 5 points a pixel. Where the outline goes from the third to the fourth
//! point of a pixel from the left, it crosses the middle of a column of pixels. The pixels of this column from that
//! point on change between set and not set. Here only these crossings are computed: the effort is the number of columns
//! of an edge, however long it is.

use std::ops::Range;

use super::{RunLengths, or_panic, pixels_of};
use crate::arguments;
use crate::error::DetectionError;

/// Grid points of a pixel's side.
const SCALE: i64 = 5;

/// The most columns that the edges of a mask's polygons may go across, counted for each edge: 64 times a picture of
/// 65,536 columns. Each takes four bytes. The outlines of objects have a hundredth of it.
const MOST_CROSSINGS: usize = 1 << 22;

/// The largest coordinate. Five times as much is a 32-bit integer in pycocotools.
const LARGEST: f64 = 1e8;

impl RunLengths {
    /// The union of polygons, the same pixels as pycocotools' `frPyObjects` and `merge`.
    ///
    /// - `polygons`: each is `[x1, y1, x2, y2, ...]` in pixels, of at least 3 points. Points may be outside of the
    ///   image, and coordinates are from -1e8 to 1e8. An empty list sets no pixel.
    /// - `size`: `[H, W]` of the image in pixels. H * W fits into a u32.
    ///
    /// # Panics
    ///
    /// If [`try_from_polygons`](Self::try_from_polygons) returns an error, with its text.
    pub fn from_polygons(polygons: &[Vec<f64>], size: [usize; 2]) -> Self {
        or_panic(Self::try_from_polygons(polygons, size))
    }

    /// Fallible form of [`from_polygons`](Self::from_polygons).
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: a polygon has fewer than 6 coordinates, an odd number of them, or a coordinate that is NaN
    /// or beyond 1e8, the edges of all polygons go across more than 4,194,304 columns of the image in all, or H * W is
    /// too large.
    pub fn try_from_polygons(polygons: &[Vec<f64>], size: [usize; 2]) -> Result<Self, DetectionError> {
        Self::check_polygons(polygons, size)?;
        let mut masks: Vec<Self> = polygons.iter().map(|polygon| of_polygon(polygon, size)).collect();
        // In pairs: a mask that grows by one polygon after another takes time by the square of their number.
        while masks.len() > 1 {
            let pairs = masks.chunks(2).map(|pair| match pair {
                [mask, other] => mask.try_union(other),
                _ => Ok(pair[0].clone()),
            });
            masks = pairs.collect::<Result<_, _>>()?;
        }
        Ok(masks.pop().unwrap_or_else(|| Self::of_changes(&[], size)))
    }

    /// The errors of [`try_from_polygons`](Self::try_from_polygons), without the time and memory of a mask.
    pub(crate) fn check_polygons(polygons: &[Vec<f64>], size: [usize; 2]) -> Result<(), DetectionError> {
        pixels_of(size)?;
        polygons.iter().try_for_each(|polygon| check(polygon))?;
        let columns = |polygon: &Vec<f64>| {
            edges(&on_grid(polygon))
                .map(|edge| edge.columns(size).len())
                .sum::<usize>()
        };
        let crossings: usize = polygons.iter().map(columns).sum();
        let value = format_args!("polygons whose edges go across {crossings} columns");
        let expected = "of edges across 4194304 columns at most in all";
        arguments::check("polygons", crossings <= MOST_CROSSINGS, value, expected)
    }
}

fn check(polygon: &[f64]) -> Result<(), DetectionError> {
    let count = polygon.len();
    let fits = count >= 6 && count.is_multiple_of(2);
    let value = format_args!("a polygon of {count} coordinates");
    arguments::check("polygons", fits, value, "of an even number of coordinates, 6 at least")?;
    polygon.iter().try_for_each(|coordinate| {
        let fits = (-LARGEST..=LARGEST).contains(coordinate);
        let value = format_args!("a polygon with coordinate {coordinate}");
        arguments::check("polygons", fits, value, "of coordinates from -1e8 to 1e8")
    })
}

fn on_grid(polygon: &[f64]) -> Vec<[i64; 2]> {
    // Toward 0, as a conversion in C.
    let on_grid = |coordinate: f64| (SCALE as f64 * coordinate + 0.5) as i64;
    let (points, _) = polygon.as_chunks();
    points.iter().map(|point: &[f64; 2]| point.map(on_grid)).collect()
}

fn edges(points: &[[i64; 2]]) -> impl Iterator<Item = Edge> {
    let ends = points.iter().cycle().skip(1);
    points.iter().zip(ends).map(|(&start, &end)| Edge::new(start, end))
}

fn of_polygon(polygon: &[f64], size: [usize; 2]) -> RunLengths {
    let points = on_grid(polygon);
    let mut changes: Vec<u32> = edges(&points).flat_map(|edge| edge.crossings(size)).collect();
    changes.sort_unstable();
    RunLengths::of_changes(&changes, size)
}

/// An edge on the grid. Its longer coordinate grows from start to end.
struct Edge {
    start: [i64; 2],
    end: [i64; 2],
    /// Whether it is at least as wide as it is high.
    is_flat: bool,
}

impl Edge {
    fn new(start: [i64; 2], end: [i64; 2]) -> Self {
        let is_flat = (end[0] - start[0]).abs() >= (end[1] - start[1]).abs();
        // pycocotools takes both directions of an edge as the one in which its longer coordinate grows.
        let axis = if is_flat { 0 } else { 1 };
        let (start, end) = if start[axis] > end[axis] {
            (end, start)
        } else {
            (start, end)
        };
        Self { start, end, is_flat }
    }

    /// The columns of the image whose middle the edge goes across.
    fn columns(&self, [_, width]: [usize; 2]) -> Range<usize> {
        let [start, end] = [self.start[0], self.end[0]];
        let (left, right) = (start.min(end), start.max(end));
        // Column c is crossed from 5 c + 2 to 5 c + 3.
        let first = (left - 2).div_euclid(SCALE) + i64::from((left - 2).rem_euclid(SCALE) > 0);
        let last = (right - 3).div_euclid(SCALE);
        let [first, end] = [first, last + 1].map(|column| column.clamp(0, width as i64) as usize);
        first..end.max(first)
    }

    /// The first pixel, in column-major order, below each crossing with the middle of a column.
    fn crossings(self, size: [usize; 2]) -> impl Iterator<Item = u32> {
        let [height, _] = size;
        self.columns(size).map(move |column| {
            let x = SCALE * column as i64 + 2;
            let y = if self.is_flat {
                self.y_of_flat(x)
            } else {
                self.y_of_steep(x)
            };
            // The rows whose middle is at the crossing or below it.
            let row = (y as f64 + 0.5) / SCALE as f64 - 0.5;
            let row = row.max(0.0).min(height as f64).ceil();
            (column * height + row as usize) as u32
        })
    }

    /// The upper one of the outline's points at x and at x + 1, for an edge that is at least as wide as it is high.
    fn y_of_flat(&self, x: i64) -> i64 {
        let slope = (self.end[1] - self.start[1]) as f64 / (self.end[0] - self.start[0]) as f64;
        let y = |x: i64| (self.start[1] as f64 + slope * (x - self.start[0]) as f64 + 0.5) as i64;
        y(x).min(y(x + 1))
    }

    /// The upper one of the two points between which the outline goes from x to x + 1 or back, for an edge that is
    /// higher than wide.
    fn y_of_steep(&self, x: i64) -> i64 {
        let rows = self.end[1] - self.start[1];
        let slope = (self.end[0] - self.start[0]) as f64 / rows as f64;
        let is_beyond = |step: i64| {
            let found = (self.start[0] as f64 + slope * step as f64 + 0.5) as i64;
            if slope > 0.0 { found > x } else { found <= x }
        };
        // The first step beyond: steps up to `before` are not, and `beyond` is.
        let (mut before, mut beyond) = (0, rows);
        while beyond - before > 1 {
            let middle = before + (beyond - before) / 2;
            if is_beyond(middle) {
                beyond = middle;
            } else {
                before = middle;
            }
        }
        self.start[1] + before
    }
}
