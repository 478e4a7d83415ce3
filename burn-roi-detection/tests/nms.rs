//! NMS keeps the same boxes as torchvision, in the same order.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::AngleConvention;
use burn_roi_detection::{batched_nms, batched_nms_3d, nms, nms_3d, nms_rotated};
use proptest::array::uniform6;
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
        let expected = by_the_rule(&candidates, threshold, 2, in_f32, |_, _| true);
        let (boxes, scores, _) = tensors(&candidates, DType::F32, &backends()[0].device);
        prop_assert_eq!(indices(nms(boxes, scores, threshold)), expected);
    }

    #[test]
    fn nms_of_three_axes_follows_its_rule(candidates in vec(candidate(), 0..150), threshold in threshold()) {
        let expected = by_the_rule(&candidates, threshold, 3, in_f32, |_, _| true);
        let by_class = by_the_rule(&candidates, threshold, 3, in_f32, same_class);
        for backend in backends().iter().filter(|backend| backend.is_host()) {
            let (_, scores, classes) = tensors(&candidates, DType::F32, &backend.device);
            let boxes = Tensor::from_data(columns(&candidates, |corners| corners), &backend.device);
            prop_assert_eq!(&indices(nms_3d(boxes.clone(), scores.clone(), threshold)), &expected);
            prop_assert_eq!(&indices(batched_nms_3d(boxes, scores, classes, threshold)), &by_class);
        }
    }

    /// The depth of an intersection is 1 too.
    #[test]
    fn nms_of_boxes_of_depth_1_is_nms(candidates in vec(candidate(), 0..150), threshold in threshold()) {
        let device = &backends()[0].device;
        let (boxes, scores, classes) = tensors(&candidates, DType::F32, device);
        let deep = columns(&candidates, |[x1, y1, x2, y2, _, _]| [x1, y1, x2, y2, -3.0, -2.0]);
        let deep = || Tensor::from_data(deep.clone(), device);
        let expected = indices(nms(boxes.clone(), scores.clone(), threshold));
        prop_assert_eq!(indices(nms_3d(deep(), scores.clone(), threshold)), expected);
        let expected = indices(batched_nms(boxes, scores.clone(), classes.clone(), threshold));
        prop_assert_eq!(indices(batched_nms_3d(deep(), scores, classes, threshold)), expected);
    }

    #[test]
    fn batched_nms_follows_its_rule(candidates in vec(candidate(), 0..150), threshold in threshold()) {
        let expected = by_the_rule(&candidates, threshold, 2, in_f32, same_class);
        let (boxes, scores, classes) = tensors(&candidates, DType::F32, &backends()[0].device);
        prop_assert_eq!(indices(batched_nms(boxes, scores, classes, threshold)), expected);
    }

    /// The coordinates are some tenths apart and so large that an f32 is a multiple of 0.5 there.
    #[test]
    fn nms_of_f64_follows_its_rule(mut candidates in vec(candidate(), 0..150), threshold in threshold()) {
        for corner in candidates.iter_mut().flat_map(|candidate| &mut candidate.corners) {
            *corner = 4_649_776.0 + 0.1 * *corner;
        }
        for backend in backends().into_iter().filter(|backend| backend.supports(DType::F64)) {
            let (boxes, scores, classes) = tensors(&candidates, DType::F64, &backend.device);
            let expected = by_the_rule(&candidates, threshold, 2, |value| value, |_, _| true);
            prop_assert_eq!(indices(nms(boxes.clone(), scores.clone(), threshold)), expected);
            let expected = by_the_rule(&candidates, threshold, 2, |value| value, same_class);
            prop_assert_eq!(indices(batched_nms(boxes, scores.clone(), classes, threshold)), expected);
            let boxes = columns(&candidates, |corners| corners);
            let boxes = Tensor::from_data(boxes, (&backend.device, DType::F64));
            let expected = by_the_rule(&candidates, threshold, 3, |value| value, |_, _| true);
            prop_assert_eq!(indices(nms_3d(boxes, scores, threshold)), expected);
        }
    }
}

/// Several threads compare a chunk of the candidates of lower scores with the 512 boxes that were kept before it.
#[test]
fn nms_of_many_boxes_follows_its_rule() {
    let candidates: Vec<Candidate> = (0..2000).map(scattered).collect();
    for backend in backends() {
        let (boxes, scores, classes) = tensors(&candidates, DType::F32, &backend.device);
        let expected = by_the_rule(&candidates, 0.3, 2, in_f32, |_, _| true);
        assert!(
            (1000..1900).contains(&expected.len()),
            "{} boxes are kept",
            expected.len()
        );
        assert_eq!(indices(nms(boxes.clone(), scores.clone(), 0.3)), expected);
        let expected = by_the_rule(&candidates, 0.3, 2, in_f32, same_class);
        assert_eq!(
            indices(batched_nms(boxes.clone(), scores.clone(), classes, 0.3)),
            expected
        );

        let centred = columns(&candidates, |[x1, y1, x2, y2, _, _]| {
            [(x1 + x2) / 2.0, (y1 + y2) / 2.0, x2 - x1, y2 - y1, 0.0]
        });
        let centred = Tensor::from_data(centred, &backend.device);
        let kept = nms_rotated(centred, scores.clone(), 0.3, AngleConvention::RADIANS_CLOCKWISE);
        assert_eq!(indices(kept), indices(nms(boxes, scores, 0.3)));
    }
}

/// A box of 6 to 12 pixels in an image of 400 x 400. Its corners are whole numbers.
fn scattered(index: usize) -> Candidate {
    let number = |factor: usize, modulus: usize| (index * factor % 7919 % modulus) as f64;
    let [x, y] = [number(3571, 388), number(2203, 388)];
    Candidate {
        corners: [x, y, x + 6.0 + number(1301, 7), y + 6.0 + number(907, 7), 0.0, 1.0],
        score: number(5477, 1000) as f32,
        class: (index % 3) as i64,
    }
}

/// A box of three axes, its score and its class. Without z it is a box of two axes.
#[derive(Debug, Clone)]
struct Candidate {
    corners: [f64; 6],
    score: f32,
    class: i64,
}

fn same_class(left: &Candidate, right: &Candidate) -> bool {
    left.class == right.class
}

fn in_f32(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Greedy NMS with a flag for each box, and the IoU of each pair in torchvision's order of operations. Each operation
/// is `rounded`.
fn by_the_rule(
    candidates: &[Candidate],
    threshold: f64,
    axes: usize,
    rounded: impl Fn(f64) -> f64,
    compete: impl Fn(&Candidate, &Candidate) -> bool,
) -> Vec<i64> {
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
            if compete(best, candidate) && iou(best.corners, candidate.corners, axes, &rounded) > threshold {
                suppressed[other] = true;
            }
        }
    }
    kept
}

fn iou(left: [f64; 6], right: [f64; 6], axes: usize, rounded: impl Fn(f64) -> f64) -> f64 {
    let ends = &[[0, 2], [1, 3], [4, 5]][..axes];
    if ends
        .iter()
        .flatten()
        .any(|&column| left[column].is_nan() || right[column].is_nan())
    {
        return f64::NAN;
    }
    let product = |side: &dyn Fn(usize, usize) -> f64| {
        let sides = ends.iter().map(|&[start, end]| rounded(side(start, end)));
        sides.reduce(|product, side| rounded(product * side)).unwrap()
    };
    let measure = |corners: [f64; 6]| product(&|start, end| corners[end] - corners[start]);
    let overlap = |start: usize, end: usize| (left[end].min(right[end]) - left[start].max(right[start])).max(0.0);
    let intersection = product(&overlap);
    rounded(intersection / rounded(rounded(measure(left) + measure(right)) - intersection))
}

/// Boxes on a coarse grid have duplicates, equal overlaps, empty and inverted ones; the others have what else an
/// f32 can be.
fn candidate() -> impl Strategy<Value = Candidate> {
    let on_grid = uniform6(0u8..6).prop_map(|corners| corners.map(f32::from));
    let anywhere =
        uniform6(0.0f32..8.0).prop_map(|[x, y, width, height, z, depth]| [x, y, x + width, y + height, z, z + depth]);
    let odd = uniform6(odd_number());
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
    (corners, score, -1i64..3).prop_map(|(corners, score, class)| Candidate {
        corners: corners.map(f64::from),
        score,
        class,
    })
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

fn tensors(candidates: &[Candidate], dtype: DType, device: &Device) -> (Tensor<2>, Tensor<1>, Tensor<1, Int>) {
    let count = candidates.len();
    let scores: Vec<f32> = candidates.iter().map(|candidate| candidate.score).collect();
    let classes: Vec<i64> = candidates.iter().map(|candidate| candidate.class).collect();
    (
        Tensor::from_data(
            columns(candidates, |[x1, y1, x2, y2, _, _]| [x1, y1, x2, y2]),
            (device, dtype),
        ),
        Tensor::from_data(TensorData::new(scores, [count]), device),
        Tensor::from_data(TensorData::new(classes, [count]), device),
    )
}

fn columns<const COLUMNS: usize>(candidates: &[Candidate], row: impl Fn([f64; 6]) -> [f64; COLUMNS]) -> TensorData {
    let values: Vec<f64> = candidates.iter().flat_map(|candidate| row(candidate.corners)).collect();
    TensorData::new(values, [candidates.len(), COLUMNS])
}

fn indices(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}
