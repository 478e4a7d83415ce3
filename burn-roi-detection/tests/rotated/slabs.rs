//! The intersection of two rotated boxes by integration, which shares no step with the crate's clipping.
//!
//! Along a vertical line, a convex polygon is an interval. Between two neighbouring corners or crossings of edges, the
//! length that two such intervals share is linear in x. Its integral there is its value in the middle times the width.

use burn_roi_detection::OverlapMode;

/// The corners of a box whose angle is in degrees, counter-clockwise as seen in an image.
pub fn corners([x, y, width, height, angle]: [f64; 5]) -> [[f64; 2]; 4] {
    let (sin, cos) = angle.to_radians().sin_cos();
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(u, v)| {
        let (right, down) = (u * width, v * height);
        [x + right * cos + down * sin, y - right * sin + down * cos]
    })
}

pub fn overlap(left: [f64; 5], right: [f64; 5], mode: OverlapMode) -> f64 {
    let shared = shared_area(&corners(left), &corners(right));
    let [left, right] = [left, right].map(|[_, _, width, height, _]| width * height);
    match mode {
        OverlapMode::Iof => shared / left,
        _ => shared / (left + right - shared),
    }
}

fn shared_area(left: &[[f64; 2]; 4], right: &[[f64; 2]; 4]) -> f64 {
    let mut breaks: Vec<f64> = left.iter().chain(right).map(|corner| corner[0]).collect();
    for edge in edges(left) {
        breaks.extend(edges(right).filter_map(|other| crossing(edge, other)));
    }
    breaks.sort_by(f64::total_cmp);
    breaks
        .windows(2)
        .map(|ends| (ends[1] - ends[0]) * shared_length(left, right, 0.5 * (ends[0] + ends[1])))
        .sum()
}

fn shared_length(left: &[[f64; 2]; 4], right: &[[f64; 2]; 4], x: f64) -> f64 {
    match (interval(left, x), interval(right, x)) {
        (Some(left), Some(right)) => (left[1].min(right[1]) - left[0].max(right[0])).max(0.0),
        _ => 0.0,
    }
}

/// The lowest and the highest y of a polygon at an x.
fn interval(polygon: &[[f64; 2]; 4], x: f64) -> Option<[f64; 2]> {
    let at_x = edges(polygon).filter_map(|[from, to]| {
        let within = from[0].min(to[0]) <= x && x <= from[0].max(to[0]) && from[0] != to[0];
        within.then(|| from[1] + (x - from[0]) / (to[0] - from[0]) * (to[1] - from[1]))
    });
    at_x.fold(None, |interval, y| {
        let [low, high] = interval.unwrap_or([y, y]);
        Some([low.min(y), high.max(y)])
    })
}

/// The x at which the lines of two edges cross, if they are not parallel and it is on the first edge.
fn crossing(edge: [[f64; 2]; 2], other: [[f64; 2]; 2]) -> Option<f64> {
    let along = |[from, to]: [[f64; 2]; 2]| [to[0] - from[0], to[1] - from[1]];
    let cross = |left: [f64; 2], right: [f64; 2]| left[0] * right[1] - left[1] * right[0];
    let (direction, other_direction) = (along(edge), along(other));
    let t = cross(along([edge[0], other[0]]), other_direction) / cross(direction, other_direction);
    (0.0..=1.0).contains(&t).then_some(edge[0][0] + t * direction[0])
}

fn edges(polygon: &[[f64; 2]; 4]) -> impl Iterator<Item = [[f64; 2]; 2]> {
    (0..4).map(|index| [polygon[index], polygon[(index + 1) % 4]])
}
