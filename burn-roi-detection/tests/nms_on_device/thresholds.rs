//! Pairs of boxes whose IoU is equal to the threshold, or next to it.

use burn::tensor::DType;

use super::{Problem, Random, others};

/// The IoU of boxes with whole coordinates is equal to many of the thresholds. The others are an f32 away from that of
/// a pair.
#[test]
fn an_iou_at_the_threshold_is_compared_as_on_flex() {
    let mut random = Random(5);
    let mut problem = Problem::default();
    let mut overlaps = vec![0.5, 1.0 / 3.0, 0.25, 0.7];
    for pair in 0..700 {
        let [mut left, mut right] = [0; 2].map(|_| {
            let [x, y, z] = [0; 3].map(|_| random.below(12) as f32);
            let [width, height, depth] = [0; 3].map(|_| random.below(25) as f32);
            [x, y, x + width, y + height, z, z + depth]
        });
        if pair % 2 == 0 {
            // Nested boxes, whose IoU is the quotient of their areas.
            let [sides, others] = [0; 2].map(|_| [0; 3].map(|_| 1.0 + random.below(20) as f32));
            let of_sides = |[width, height, depth]: [f32; 3]| [0.0, 0.0, width, height, 0.0, depth];
            left = of_sides(sides);
            right = of_sides([0, 1, 2].map(|axis| sides[axis].min(others[axis])));
        }
        if pair < 3 {
            overlaps.extend([2, 3].map(|axes| f64::from(iou(left, right, axes))));
        }
        problem.add_pair([left, right]);
    }
    check_near(&problem, &overlaps);
}

/// Pairs whose IoU is within some roundings of the threshold, of all sizes.
#[test]
fn an_iou_near_the_threshold_is_compared_as_on_flex() {
    let mut random = Random(6);
    // All coordinates are usual ones of two axes, or of three.
    for exponents in [-2..58, -17..40] {
        let mut problem = Problem::default();
        for _ in 0..1000 {
            let scale = 2.0f32.powi(exponents.start + random.below(exponents.len()) as i32);
            let [width, height, depth] = [0; 3].map(|_| scale * (1.0 + random.float()));
            let [x, y, z] = [width, height, depth].map(|side| side * random.float());
            let part = 0.7 + (random.float() - 0.5) * 1e-6;
            let of_width = |width| [x, y, x + width, y + height, z, z + depth];
            problem.add_pair([of_width(width), of_width(width * part)]);
        }
        check_near(&problem, &[0.7]);
    }
}

/// Boxes of three axes that meet near 0: the product of their overlaps may be subnormal or 0 in f32.
#[test]
fn tiny_overlaps_are_compared_as_on_flex() {
    let mut random = Random(8);
    let mut problem = Problem::default();
    for pair in 0..1000 {
        let most = if pair % 2 == 0 { 10 } else { 100 };
        let [x, y, z] = [0; 3].map(|_| (1.0 + random.float()) * 2.0f32.powi(-1 - random.below(most) as i32));
        problem.add_pair([[-1.0, -1.0, x, y, -1.0, z], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]]);
    }
    for backend in others() {
        let kept =
            [0.0, 1e-8, 2.0f64.powi(-26), 1e-5, 0.1].map(|threshold| problem.check(&backend, DType::F32, threshold)[1]);
        assert!(kept.is_sorted_by(|less, more| less < more), "{kept:?}");
    }
}

/// Compares a problem at thresholds and the f32 next to them.
fn check_near(problem: &Problem, thresholds: &[f64]) {
    for backend in others() {
        let mut kept = Vec::new();
        for &threshold in thresholds.iter().filter(|threshold| threshold.is_finite()) {
            let nearest = threshold as f32;
            for threshold in [nearest.next_down(), nearest, nearest.next_up()]
                .map(f64::from)
                .into_iter()
                .chain([threshold])
            {
                kept.push(problem.check(&backend, DType::F32, threshold));
            }
        }
        for axes in [2, 3] {
            let mut kept: Vec<_> = kept.iter().map(|kept| kept[axes - 2]).collect();
            kept.dedup();
            assert!(kept.len() > 2, "thresholds next to each other don't differ: {kept:?}");
        }
    }
}

fn iou(left: [f32; 6], right: [f32; 6], axes: usize) -> f32 {
    let ends = &[[0, 2], [1, 3], [4, 5]][..axes];
    let measure =
        |corners: [f32; 6]| -> f32 { ends.iter().map(|&[start, end]| corners[end] - corners[start]).product() };
    let overlap = |&[start, end]: &[usize; 2]| (left[end].min(right[end]) - left[start].max(right[start])).max(0.0);
    let intersection: f32 = ends.iter().map(overlap).product();
    intersection / (measure(left) + measure(right) - intersection)
}
