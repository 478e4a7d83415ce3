//! The outlines of shapes, and the pixels that they cover.

use std::f32::consts::TAU;

use crate::random::Random;

/// The shapes. The class of each is its place here, counted from 1, since class 0 is the background.
pub const SHAPES: [Shape; 6] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Star,
    Shape::Ring,
    NEW_SHAPE,
];
/// The shape that the shipped model has not seen.
pub const NEW_SHAPE: Shape = Shape::Cross;

/// The samples of a pixel along each axis.
const SUPERSAMPLING: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Star,
    Ring,
    Cross,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Self::Circle => "circle",
            Self::Square => "square",
            Self::Triangle => "triangle",
            Self::Star => "star",
            Self::Ring => "ring",
            Self::Cross => "cross",
        }
    }

    /// The corners about the shape's centre, with a turn.
    fn corners(self, turn: f32, random: &mut Random) -> Vec<[f32; 2]> {
        match self {
            Self::Circle | Self::Ring => polygon(&[1.0; 64], turn),
            Self::Square => polygon(&[1.0; 4], turn),
            Self::Triangle => polygon(&[1.0; 3], turn),
            Self::Star => polygon(&[1.0, random.uniform(0.4, 0.5)].repeat(5), turn),
            Self::Cross => cross(random.uniform(0.25, 0.4), turn),
        }
    }
}

/// The corners of a polygon: these radii at equal angles.
fn polygon(radii: &[f32], turn: f32) -> Vec<[f32; 2]> {
    let step = TAU / radii.len() as f32;
    let corners = radii.iter().enumerate().map(|(index, radius)| {
        let angle = turn + step * index as f32;
        [radius * angle.cos(), radius * angle.sin()]
    });
    corners.collect()
}

/// The corners of two bars that cross in their middles. The length of a bar is 2, and its width `2 * half`.
fn cross(half: f32, turn: f32) -> Vec<[f32; 2]> {
    let arm = [[half, half], [half, 1.0], [-half, 1.0]];
    let quarters = (0..4).flat_map(|quarter| {
        let (sine, cosine) = (turn + TAU / 4.0 * quarter as f32).sin_cos();
        arm.map(|[x, y]| [x * cosine - y * sine, x * sine + y * cosine])
    });
    quarters.collect()
}

/// The share, from 0 to 1, of each pixel that a shape covers.
pub struct Coverage {
    pub width: usize,
    pub height: usize,
    pub values: Vec<f32>,
}

impl Coverage {
    /// A shape whose longer side is `size` pixels, in its bounding box.
    pub fn of(shape: Shape, size: f32, random: &mut Random) -> Self {
        let turn = random.angle();
        let corners = scaled(shape.corners(turn, random), size);
        let hole = (shape == Shape::Ring).then(|| size / 2.0 - size * random.uniform(0.2, 0.3));
        let extent = |axis: usize| corners.iter().map(|corner| corner[axis]).fold(1.0, f32::max);
        let [width, height] = [0, 1].map(|axis| extent(axis).ceil() as usize);

        let mut values = vec![0.0; width * height];
        let share = 1.0 / (SUPERSAMPLING * SUPERSAMPLING) as f32;
        for line in 0..height * SUPERSAMPLING {
            let y = (line as f32 + 0.5) / SUPERSAMPLING as f32;
            let crossings = crossings(&corners, y);
            for column in 0..width * SUPERSAMPLING {
                let x = (column as f32 + 0.5) / SUPERSAMPLING as f32;
                // A point is inside if an odd number of edges are left of it.
                let inside = crossings.iter().filter(|&&crossing| crossing < x).count() % 2 == 1;
                let in_hole = hole.is_some_and(|radius| (x - size / 2.0).hypot(y - size / 2.0) < radius);
                if inside && !in_hole {
                    values[line / SUPERSAMPLING * width + column / SUPERSAMPLING] += share;
                }
            }
        }
        Self { width, height, values }
    }

    /// Whether the shape covers at least half of a pixel.
    pub fn is_solid(&self, x: usize, y: usize) -> bool {
        self.values[y * self.width + x] >= 0.5
    }
}

/// Moves and scales corners so that their bounding box starts at 0, 0 and its longer side is `size`.
fn scaled(corners: Vec<[f32; 2]>, size: f32) -> Vec<[f32; 2]> {
    let least = [0, 1].map(|axis| corners.iter().map(|corner| corner[axis]).fold(f32::INFINITY, f32::min));
    let moved = corners.iter().map(|[x, y]| [x - least[0], y - least[1]]);
    let longer = moved.clone().flatten().fold(0.0, f32::max);
    moved.map(|corner| corner.map(|side| side * size / longer)).collect()
}

/// Where the edges of a polygon cross a horizontal line.
fn crossings(corners: &[[f32; 2]], y: f32) -> Vec<f32> {
    let next = corners.iter().cycle().skip(1);
    let edges = corners.iter().zip(next);
    let crossed = edges.filter(|([_, from], [_, to])| (*from < y) != (*to < y));
    crossed
        .map(|([x1, y1], [x2, y2])| x1 + (y - y1) / (y2 - y1) * (x2 - x1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(shape: Shape) -> f32 {
        let coverage = Coverage::of(shape, 60.0, &mut Random::new(&[3]));
        assert_eq!(coverage.width.max(coverage.height), 60);
        coverage.values.iter().sum::<f32>() / 3600.0
    }

    #[test]
    fn a_circle_has_the_area_of_a_circle_and_a_ring_has_a_hole() {
        let circle = area(Shape::Circle);
        assert!((circle - TAU / 8.0).abs() < 0.01, "{circle}");
        assert!(area(Shape::Ring) < 0.9 * circle);
    }

    #[test]
    fn a_cross_is_two_bars() {
        // Without a turn: two bars of width 0.6 and length 2, which share a square.
        let corners = scaled(cross(0.3, 0.0), 2.0);
        assert_eq!(corners.len(), 12);
        let lengths = |y: f32| {
            let mut crossings = crossings(&corners, y);
            crossings.sort_by(f32::total_cmp);
            crossings[1] - crossings[0]
        };
        assert!((lengths(0.2) - 0.6).abs() < 1e-5);
        assert!((lengths(1.0) - 2.0).abs() < 1e-5);
    }
}
