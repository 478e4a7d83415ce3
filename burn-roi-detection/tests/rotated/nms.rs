//! NMS of rotated boxes: its rule, upright boxes, and ties.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_roi_detection::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{DEGREES, floats, host, rotated_box, tensor};
use crate::backends::backends;

proptest! {
    #[test]
    fn it_follows_its_rule(candidates in vec((rotated_box(), score(), 0i64..3), 0..40), threshold in threshold()) {
        let device = &host();
        let (boxes, scores, classes) = columns(&candidates);
        let boxes = || tensor(&boxes, device, DType::F32);
        let scores_tensor = || Tensor::<1>::from_data(TensorData::new(scores.clone(), [scores.len()]), device);
        let classes_tensor = Tensor::from_data(TensorData::new(classes.clone(), [classes.len()]), device);
        let iou = floats(box_iou_rotated(boxes(), boxes(), DEGREES, OverlapMode::Iou));

        let found = ints(nms_rotated(boxes(), scores_tensor(), threshold, DEGREES));
        prop_assert_eq!(found, by_the_rule(&iou, &scores, threshold, |_, _| true));
        let found = ints(batched_nms_rotated(boxes(), scores_tensor(), classes_tensor, threshold, DEGREES));
        let same_class = |left: usize, right: usize| classes[left] == classes[right];
        prop_assert_eq!(found, by_the_rule(&iou, &scores, threshold, same_class));
    }

    #[test]
    fn at_angle_0_it_is_nms(candidates in vec((upright_box(), score(), 0i64..3), 0..40), threshold in threshold()) {
        let (corners, scores, classes) = columns(&candidates);
        let rotated = corners.iter().map(|&[x1, y1, x2, y2]| [0.5 * (x1 + x2), 0.5 * (y1 + y2), x2 - x1, y2 - y1, 0.0]);
        let rotated: Vec<[f64; 5]> = rotated.collect();
        let device = &backends()[0].device;
        let scores = || Tensor::<1>::from_data(TensorData::new(scores.clone(), [scores.len()]), device);
        let classes = || Tensor::<1, Int>::from_data(TensorData::new(classes.clone(), [classes.len()]), device);
        let (corners, rotated) = (tensor(&corners, device, DType::F32), tensor(&rotated, device, DType::F32));
        prop_assert_eq!(
            ints(nms_rotated(rotated.clone(), scores(), threshold, DEGREES)),
            ints(nms(corners.clone(), scores(), threshold))
        );
        prop_assert_eq!(
            ints(batched_nms_rotated(rotated, scores(), classes(), threshold, DEGREES)),
            ints(batched_nms(corners, scores(), classes(), threshold))
        );
    }
}

/// Greedy NMS from the IoU of all pairs.
fn by_the_rule(iou: &[f64], scores: &[f32], threshold: f64, compete: impl Fn(usize, usize) -> bool) -> Vec<i64> {
    let count = scores.len();
    let mut order: Vec<usize> = (0..count).filter(|&index| !scores[index].is_nan()).collect();
    // The sort is stable: of equal scores the first index comes first.
    order.sort_by(|&left, &right| scores[right].partial_cmp(&scores[left]).unwrap());
    let mut kept = Vec::<usize>::new();
    for index in order {
        if !kept
            .iter()
            .any(|&better| compete(better, index) && iou[better * count + index] > threshold)
        {
            kept.push(index);
        }
    }
    kept.into_iter().map(|index| index as i64).collect()
}

#[test]
fn every_backend_keeps_the_same_boxes() {
    let boxes = [
        [5.0, 5.0, 8.0, 2.0, 45.0],
        [5.0, 5.0, 8.0, 2.0, 225.0],
        [5.0, 5.0, 8.0, 2.0, -45.0],
        [5.0, 5.0, 0.0, 2.0, 45.0],
        [5.0, 5.0, 8.0, 2.0, 45.0],
    ];
    for backend in backends() {
        let device = &backend.device;
        let scores = || Tensor::<1>::from_floats([0.5, 0.5, 0.9, 0.1, f32::NAN], device);
        let boxes = || tensor(&boxes, device, DType::F32);
        let name = backend.name;
        // Of equal scores the first is kept, an empty box is not suppressed, and a score of NaN is left out.
        assert_eq!(ints(nms_rotated(boxes(), scores(), 0.3, DEGREES)), [2, 0, 3], "{name}");
        let classes = Tensor::<1, Int>::from_ints([1, 2, 1, 1, 1], device);
        assert_eq!(
            ints(batched_nms_rotated(boxes(), scores(), classes, 0.3, DEGREES)),
            [2, 0, 1, 3],
            "{name}"
        );

        let none = (tensor::<5>(&[], device, DType::F32), Tensor::<1>::zeros([0], device));
        assert_eq!(ints(nms_rotated(none.0, none.1, 0.3, DEGREES)), [0i64; 0], "{name}");
    }
}

#[test]
fn an_iou_equal_to_the_threshold_suppresses_nothing() {
    let device = &host();
    let boxes = || {
        tensor(
            &[[0.0, 0.0, 4.0, 2.0, 90.0], [0.0, 0.0, 2.0, 2.0, 0.0]],
            device,
            DType::F32,
        )
    };
    let scores = || Tensor::<1>::from_floats([0.9, 0.8], device);
    assert_eq!(ints(nms_rotated(boxes(), scores(), 0.5, DEGREES)), [0, 1]);
    assert_eq!(ints(nms_rotated(boxes(), scores(), 0.499_999, DEGREES)), [0]);
}

fn columns<const COLUMNS: usize>(
    candidates: &[([f64; COLUMNS], f32, i64)],
) -> (Vec<[f64; COLUMNS]>, Vec<f32>, Vec<i64>) {
    let boxes = candidates.iter().map(|candidate| candidate.0).collect();
    let scores = candidates.iter().map(|candidate| candidate.1).collect();
    (boxes, scores, candidates.iter().map(|candidate| candidate.2).collect())
}

/// Boxes on a grid, whose IoU is exact but for one rounding. An empty box is 0 / 0 in `nms` and 0 in `nms_rotated`,
/// and neither is above a threshold.
fn upright_box() -> impl Strategy<Value = [f64; 4]> {
    [0u8..6, 0u8..6, 0u8..6, 0u8..6].prop_map(|[x, y, width, height]| [x, y, x + width, y + height].map(f64::from))
}

fn score() -> impl Strategy<Value = f32> {
    prop_oneof![select(vec![0.0, -0.0, 0.25, 0.5, 1.0, f32::NAN]), 0.0f32..1.0]
}

/// Thresholds that an IoU on the grid is equal to, and others.
fn threshold() -> impl Strategy<Value = f64> {
    prop_oneof![select(vec![0.0, 0.1, 0.25, 0.3, 1.0 / 3.0, 0.5, 0.7, 1.0]), 0.0f64..1.0]
}

fn ints(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}
