//! Masks as polygons along the edges of their pixels.

use std::collections::BTreeMap;

use burn_roi_detection::RunLengths;

/// A corner of pixels, `[x, y]`.
type Corner = [usize; 2];

/// COCO's polygons of a mask, `[x, y, x, y, ...]` each. They follow the edges of pixels, so that they cover the pixels
/// of the mask, and the holes in it: COCO's polygons can't have holes.
pub fn polygons(mask: &RunLengths) -> Vec<Vec<usize>> {
    let mut edges = edges(mask);
    let mut polygons = Vec::new();
    while let Some((&start, _)) = edges.first_key_value() {
        let corners = ring(&mut edges, start);
        // Around a hole, edges turn the other way.
        if is_clockwise(&corners) {
            polygons.push(corners.concat());
        }
    }
    polygons
}

/// The edges between pixels that are set and others, as the corners at which the edges from a corner end. On its way,
/// an edge has the set pixel on its right.
fn edges(mask: &RunLengths) -> BTreeMap<Corner, Vec<Corner>> {
    let [height, width] = mask.size();
    let pixels = mask.decode();
    let is_set = |x: usize, y: usize| x < width && y < height && pixels[y * width + x];
    let mut edges = BTreeMap::<Corner, Vec<Corner>>::new();
    let mut add = |from: Corner, to: Corner| edges.entry(from).or_default().push(to);
    for y in 0..height {
        for x in (0..width).filter(|&x| is_set(x, y)) {
            // Outside on the left and at the top, the index wraps to a large one.
            if !is_set(x, y.wrapping_sub(1)) {
                add([x, y], [x + 1, y]);
            }
            if !is_set(x + 1, y) {
                add([x + 1, y], [x + 1, y + 1]);
            }
            if !is_set(x, y + 1) {
                add([x + 1, y + 1], [x, y + 1]);
            }
            if !is_set(x.wrapping_sub(1), y) {
                add([x, y + 1], [x, y]);
            }
        }
    }
    edges
}

/// Takes the edges of a ring from a corner on. Returns its corners, without those at which it goes straight on.
fn ring(edges: &mut BTreeMap<Corner, Vec<Corner>>, start: Corner) -> Vec<Corner> {
    let mut corners = vec![start];
    let mut at = start;
    let mut direction = None;
    while let Some(to) = take(edges, at, direction) {
        let next = difference(at, to);
        if direction == Some(next) {
            corners.pop();
        }
        corners.push(to);
        (at, direction) = (to, Some(next));
    }
    // The first corner of a ring is one: rings begin at the leftmost and then topmost corner.
    corners.pop();
    corners
}

/// Takes the edge on which a ring goes on. Where two pixels touch at a corner, it turns right, around one pixel.
fn take(edges: &mut BTreeMap<Corner, Vec<Corner>>, at: Corner, direction: Option<[isize; 2]>) -> Option<Corner> {
    let ends = edges.get_mut(&at)?;
    let right = direction.map(|[x, y]| [-y, x]);
    let choice = ends.iter().position(|&end| Some(difference(at, end)) == right);
    let end = ends.swap_remove(choice.unwrap_or(0));
    if ends.is_empty() {
        edges.remove(&at);
    }
    Some(end)
}

fn difference(from: Corner, to: Corner) -> [isize; 2] {
    [0, 1].map(|axis| to[axis] as isize - from[axis] as isize)
}

/// Whether a ring turns clockwise on the screen, where y grows downwards: the sign of its area.
fn is_clockwise(corners: &[Corner]) -> bool {
    let next = corners.iter().cycle().skip(1);
    let terms = corners
        .iter()
        .zip(next)
        .map(|(at, to)| (at[0] * to[1]) as i64 - (to[0] * at[1]) as i64);
    terms.sum::<i64>() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rows: &[&str]) -> RunLengths {
        let pixels: Vec<bool> = rows.concat().bytes().map(|pixel| pixel == b'#').collect();
        RunLengths::from_pixels(&pixels, [rows.len(), rows[0].len()])
    }

    fn back(polygons: &[Vec<usize>], size: [usize; 2]) -> RunLengths {
        let floats: Vec<Vec<f64>> = polygons
            .iter()
            .map(|polygon| polygon.iter().map(|&place| place as f64).collect())
            .collect();
        RunLengths::from_polygons(&floats, size)
    }

    #[test]
    fn corners_of_shapes() {
        assert_eq!(polygons(&mask(&["...", ".##"])), [[1, 1, 3, 1, 3, 2, 1, 2]]);
        assert_eq!(polygons(&mask(&["#.", "##"])), [[0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 0, 2]]);
        assert!(polygons(&mask(&["..", ".."])).is_empty());
    }

    #[test]
    fn they_cover_the_pixels_of_the_mask() {
        // Each with what is covered: a hole is filled.
        let masks: [[&[&str]; 2]; 4] = [
            [&["#.#", ".#.", "#.#"]; 2],
            [&["####", "#..#", "####", "...."], &["####", "####", "####", "...."]],
            [&["##..#", ".#.##", "##...", "....#"]; 2],
            [&["#"]; 2],
        ];
        for [rows, covered] in masks {
            let polygons = polygons(&mask(rows));
            let size = [rows.len(), rows[0].len()];
            assert_eq!(back(&polygons, size), mask(covered), "{rows:?}");
        }
    }
}
