//! Average precision by COCO's rule: of boxes, at an IoU of 0.5, as the mean precision at 101 recalls.

/// The IoU from which a detection counts.
const THRESHOLD: f64 = 0.5;
const RECALLS: usize = 101;

/// A box `[x1, y1, x2, y2]`.
pub type Corners = [f32; 4];

/// What was found and what is there, of one class in one picture.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Scores and boxes, in any order.
    pub found: Vec<(f32, Corners)>,
    pub truth: Vec<Corners>,
}

/// The average precision of a class; none if no picture shows it.
pub fn average_precision(pictures: &[Findings]) -> Option<f64> {
    let total: usize = pictures.iter().map(|picture| picture.truth.len()).sum();
    if total == 0 {
        return None;
    }
    let mut judged: Vec<(f32, bool)> = pictures.iter().flat_map(judge).collect();
    // Stable, as COCO's sort.
    judged.sort_by(|(left, _), (right, _)| right.total_cmp(left));

    let mut curve = Vec::new();
    let mut correct = 0;
    for (index, (_, is_correct)) in judged.iter().enumerate() {
        correct += usize::from(*is_correct);
        let [recall, precision] = [total, index + 1].map(|of| correct as f64 / of as f64);
        curve.push((recall, precision));
    }
    // The precision at a recall is the best one at that recall or above.
    for index in (1..curve.len()).rev() {
        curve[index - 1].1 = curve[index - 1].1.max(curve[index].1);
    }
    let precision_at = |recall: f64| {
        let place = curve.partition_point(|point| point.0 < recall);
        curve.get(place).map_or(0.0, |point| point.1)
    };
    // COCO's recalls are products with 0.01. The quotient 35 / 100 is less than the product, and so another recall.
    let precisions = (0..RECALLS).map(|step| precision_at(step as f64 * 0.01));
    Some(precisions.sum::<f64>() / RECALLS as f64)
}

/// The score of each detection of a picture, and whether it is correct: by decreasing score, a detection is matched
/// with the box that it overlaps most, of those that have no match yet.
fn judge(picture: &Findings) -> Vec<(f32, bool)> {
    let mut found = picture.found.clone();
    found.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let mut is_free = vec![true; picture.truth.len()];
    let judged = found.into_iter().map(|(score, corners)| {
        let free = (0..is_free.len()).filter(|&index| is_free[index]);
        let overlaps = free.map(|index| (index, overlap(&corners, &picture.truth[index])));
        let best = overlaps.max_by(|(_, left), (_, right)| left.total_cmp(right));
        let matched = best.filter(|(_, overlap)| *overlap >= THRESHOLD);
        if let Some((index, _)) = matched {
            is_free[index] = false;
        }
        (score, matched.is_some())
    });
    judged.collect()
}

/// The intersection over union (IoU) of two boxes.
fn overlap(left: &Corners, right: &Corners) -> f64 {
    let side = |axis: usize| {
        let [low, high] = [left[axis].max(right[axis]), left[axis + 2].min(right[axis + 2])];
        f64::from(high - low).max(0.0)
    };
    let area = |corners: &Corners| f64::from(corners[2] - corners[0]) * f64::from(corners[3] - corners[1]);
    let intersection = side(0) * side(1);
    match area(left) + area(right) - intersection {
        union if union > 0.0 => intersection / union,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Corners = [0.0, 0.0, 10.0, 10.0];
    const SECOND: Corners = [20.0, 0.0, 30.0, 10.0];
    const NOWHERE: Corners = [50.0, 50.0, 60.0, 60.0];

    fn of(found: &[(f32, Corners)], truth: &[Corners]) -> Option<f64> {
        average_precision(&[Findings {
            found: found.to_vec(),
            truth: truth.to_vec(),
        }])
    }

    #[test]
    fn all_and_nothing() {
        assert_eq!(of(&[(0.9, FIRST), (0.8, SECOND)], &[FIRST, SECOND]), Some(1.0));
        assert_eq!(of(&[], &[FIRST]), Some(0.0));
        assert_eq!(of(&[(0.9, NOWHERE)], &[FIRST]), Some(0.0));
        assert_eq!(of(&[(0.9, FIRST)], &[]), None);
    }

    #[test]
    fn half_of_the_boxes_is_51_of_101_recalls() {
        // The recalls 0, 0.01 to 0.5 have a precision of 1, and the others 0.
        assert_eq!(of(&[(0.9, FIRST)], &[FIRST, SECOND]), Some(51.0 / 101.0));
    }

    #[test]
    fn a_wrong_detection_counts_only_above_the_correct_one() {
        assert_eq!(of(&[(0.9, FIRST), (0.1, NOWHERE)], &[FIRST]), Some(1.0));
        assert_eq!(of(&[(0.9, NOWHERE), (0.1, FIRST)], &[FIRST]), Some(0.5));
    }

    #[test]
    fn a_second_detection_of_a_box_is_wrong() {
        let found = [(0.9, FIRST), (0.8, FIRST), (0.7, SECOND)];
        let expected = (51.0 + 50.0 * (2.0 / 3.0)) / 101.0;
        assert!((of(&found, &[FIRST, SECOND]).unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn an_overlap_of_a_half_is_enough() {
        let half = [0.0, 0.0, 10.0, 5.0];
        assert_eq!(of(&[(0.9, half)], &[FIRST]), Some(1.0));
        assert_eq!(of(&[(0.9, [0.0, 0.0, 10.0, 4.9])], &[FIRST]), Some(0.0));
    }
}
