//! NMS keeps the same boxes as torchvision, in the same order.

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_roi::detection::{batched_nms, nms};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::backends::backends;
use crate::cases::check_all;

#[test]
fn nms_keeps_what_torchvision_keeps() {
    check_all("nms", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let scores = case.floats("scores", &backend.device);
        let kept = nms(boxes, scores, case.option("threshold"));
        case.assert_ints(0, kept, backend);
    });
}

#[test]
fn batched_nms_keeps_what_torchvision_keeps() {
    check_all("batched_nms", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let scores = case.floats("scores", &backend.device);
        let classes = case.ints("classes", &backend.device);
        let kept = batched_nms(boxes, scores, classes, case.option("threshold"));
        case.assert_ints(0, kept, backend);
    });
}

proptest! {
    #[test]
    fn nms_follows_its_rule(candidates in vec(candidate(), 0..150), threshold in threshold()) {
        let expected = by_the_rule(&candidates, threshold, |_, _| true);
        let (boxes, scores, _) = tensors(&candidates, &backends()[0].device);
        prop_assert_eq!(indices(nms(boxes, scores, threshold)), expected);
    }

    #[test]
    fn batched_nms_follows_its_rule(candidates in vec(candidate(), 0..150), threshold in threshold()) {
        let expected = by_the_rule(&candidates, threshold, |left, right| left.class == right.class);
        let (boxes, scores, classes) = tensors(&candidates, &backends()[0].device);
        prop_assert_eq!(indices(batched_nms(boxes, scores, classes, threshold)), expected);
    }
}

/// A box, its score and its class.
#[derive(Debug, Clone)]
struct Candidate {
    corners: [f32; 4],
    score: f32,
    class: i64,
}

/// Greedy NMS with a flag for each box, and the IoU of each pair in torchvision's order of operations.
fn by_the_rule(candidates: &[Candidate], threshold: f64, compete: impl Fn(&Candidate, &Candidate) -> bool) -> Vec<i64> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.retain(|&index| !candidates[index].score.is_nan());
    // The sort is stable: of equal scores the first index comes first.
    order.sort_by(|&left, &right| candidates[right].score.partial_cmp(&candidates[left].score).unwrap());
    let mut suppressed = vec![false; candidates.len()];
    let mut kept = Vec::new();
    for (rank, &best) in order.iter().enumerate() {
        if suppressed[best] {
            continue;
        }
        kept.push(best as i64);
        for &other in &order[rank + 1..] {
            let (best, candidate) = (&candidates[best], &candidates[other]);
            if compete(best, candidate) && f64::from(iou(best.corners, candidate.corners)) > threshold {
                suppressed[other] = true;
            }
        }
    }
    kept
}

fn iou(left: [f32; 4], right: [f32; 4]) -> f32 {
    if left.iter().chain(&right).any(|coordinate| coordinate.is_nan()) {
        return f32::NAN;
    }
    let area = |[x1, y1, x2, y2]: [f32; 4]| (x2 - x1) * (y2 - y1);
    let width = (left[2].min(right[2]) - left[0].max(right[0])).max(0.0);
    let height = (left[3].min(right[3]) - left[1].max(right[1])).max(0.0);
    let intersection = width * height;
    intersection / (area(left) + area(right) - intersection)
}

/// Boxes on a coarse grid have duplicates, equal overlaps, empty and inverted ones; the others have what else an
/// f32 can be.
fn candidate() -> impl Strategy<Value = Candidate> {
    let on_grid = [0u8..6, 0u8..6, 0u8..6, 0u8..6].prop_map(|corners| corners.map(f32::from));
    let anywhere = [0.0f32..8.0, 0.0f32..8.0, 0.0f32..8.0, 0.0f32..8.0]
        .prop_map(|[x, y, width, height]| [x, y, x + width, y + height]);
    let odd = [odd_number(), odd_number(), odd_number(), odd_number()];
    let corners = prop_oneof![8 => on_grid, 8 => anywhere, 1 => odd];
    let scores = select(vec![
        0.0,
        -0.0,
        0.25,
        0.5,
        1.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ]);
    let score = prop_oneof![scores, 0.0f32..1.0];
    (corners, score, -1i64..3).prop_map(|(corners, score, class)| Candidate { corners, score, class })
}

fn odd_number() -> impl Strategy<Value = f32> {
    let numbers = vec![
        0.0,
        -0.0,
        1.0,
        3.0,
        1e-30,
        1e30,
        -1e30,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    select(numbers)
}

/// Thresholds that f32 does not have, those that an IoU on the grid is equal to, and those out of its range.
fn threshold() -> impl Strategy<Value = f64> {
    let values = vec![
        0.0,
        0.1,
        0.25,
        0.3,
        1.0 / 3.0,
        0.5,
        0.7,
        1.0,
        1.5,
        -0.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    prop_oneof![select(values), 0.0f64..1.0]
}

fn tensors(candidates: &[Candidate], device: &Device) -> (Tensor<2>, Tensor<1>, Tensor<1, Int>) {
    let count = candidates.len();
    let corners: Vec<f32> = candidates.iter().flat_map(|candidate| candidate.corners).collect();
    let scores: Vec<f32> = candidates.iter().map(|candidate| candidate.score).collect();
    let classes: Vec<i64> = candidates.iter().map(|candidate| candidate.class).collect();
    (
        Tensor::from_data(TensorData::new(corners, [count, 4]), device),
        Tensor::from_data(TensorData::new(scores, [count]), device),
        Tensor::from_data(TensorData::new(classes, [count]), device),
    )
}

fn indices(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}
