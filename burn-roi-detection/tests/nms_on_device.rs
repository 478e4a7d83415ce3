//! NMS on any device keeps the boxes that it keeps on Flex, in each of its cases.

use burn::tensor::{DType, Device, Int, Tensor, TensorData, f16};
use burn_roi_detection::{batched_nms, nms};

use crate::backends::{Backend, backends};

/// Boxes, scores and classes.
#[derive(Default)]
struct Problem {
    boxes: Vec<[f32; 4]>,
    scores: Vec<f32>,
    classes: Vec<i64>,
}

impl Problem {
    /// Boxes of 4 to 40 pixels in an image of 200 x 200, with few scores, some of which are NaN.
    fn random(count: usize, classes: usize) -> Self {
        let mut random = Random(count as u64);
        let mut problem = Self::default();
        for _ in 0..count {
            let [x, y] = [0; 2].map(|_| random.float() * 160.0);
            let [width, height] = [0; 2].map(|_| 4.0 + random.float() * 36.0);
            problem.boxes.push([x, y, x + width, y + height]);
            problem.scores.push(match random.below(1000) {
                0..10 => f32::NAN,
                number => number as f32 / 500.0 - 1.0,
            });
            problem.classes.push(random.below(classes) as i64);
        }
        problem
    }

    /// Adds two boxes, of a class of their own.
    fn add_pair(&mut self, pair: [[f32; 4]; 2]) {
        let class = self.classes.len() as i64;
        // Pairs are in one block of scores or in two, and the boxes of a pair in either order.
        let score = |place: i64| ((class * 7919 + place * 4241) % 10_007) as f32;
        for (place, corners) in (0..).zip(pair) {
            self.boxes.push(corners);
            self.scores.push(score(place));
            self.classes.push(class);
        }
    }

    fn tensors(&self, device: &Device, dtype: DType) -> (Tensor<2>, Tensor<1>, Tensor<1, Int>) {
        let count = self.boxes.len();
        let boxes = TensorData::new(self.boxes.concat(), [count, 4]);
        (
            Tensor::from_data(boxes, (device, dtype)),
            Tensor::from_data(TensorData::new(self.scores.clone(), [count]), (device, dtype)),
            Tensor::from_data(TensorData::new(self.classes.clone(), [count]), device),
        )
    }

    /// Compares a device with Flex, within each class and without classes, and returns the number of kept boxes.
    #[track_caller]
    fn check(&self, backend: &Backend, dtype: DType, threshold: f64) -> usize {
        let run = |device: &Device| {
            let (boxes, scores, classes) = self.tensors(device, dtype);
            let by_class = batched_nms(boxes.clone(), scores.clone(), classes, threshold);
            [by_class, nms(boxes, scores, threshold)].map(indices)
        };
        let (found, expected) = (run(&backend.device), run(&Device::flex()));
        let name = backend.name;
        assert!(found == expected, "{name}, {} boxes, {threshold:?}", self.boxes.len());
        found[0].len()
    }
}

fn indices(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}

/// Steele, Lea and Flood's SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }

    /// From 0 to 1.
    fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }
}

/// The backends, without Flex, which they are compared with.
fn others() -> impl Iterator<Item = Backend> {
    backends().into_iter().filter(|backend| backend.name != "flex")
}

#[test]
fn any_number_of_boxes_is_kept_as_on_flex() {
    for backend in others() {
        for count in [0, 1, 2, 31, 32, 33, 257, 1023, 1024, 1025, 2000, 3500] {
            for threshold in [0.2, 0.6] {
                let kept = Problem::random(count, 3).check(&backend, DType::F32, threshold);
                assert_eq!(kept > 0, count > 0, "{count} boxes");
            }
        }
    }
}

/// More than the kernels take are left to the host.
#[test]
fn very_many_boxes_are_kept_as_on_flex() {
    for backend in others().filter(|backend| backend.name != "ndarray") {
        for count in [10_000, (1 << 16) + 1] {
            Problem::random(count, 5).check(&backend, DType::F32, 0.1);
        }
    }
}

#[test]
fn halves_are_kept_as_on_flex() {
    for backend in others() {
        for dtype in [DType::F16, DType::BF16] {
            if backend.supports(dtype) {
                Problem::random(1500, 2).check(&backend, dtype, 0.4);
                // Scores that are subnormal in f16.
                let mut problem = Problem::random(300, 1);
                for score in &mut problem.scores {
                    *score *= f16::MIN_POSITIVE.to_f32();
                }
                problem.check(&backend, dtype, 0.4);
            }
        }
    }
}

/// The IoU of boxes with whole coordinates is equal to many of the thresholds. The others are an f32 away from that of
/// a pair.
#[test]
fn an_iou_at_the_threshold_is_compared_as_on_flex() {
    let mut random = Random(5);
    let mut problem = Problem::default();
    let mut overlaps = vec![0.5, 1.0 / 3.0, 0.25, 0.7];
    for pair in 0..1000 {
        let [mut left, mut right] = [0; 2].map(|_| {
            let [x, y] = [0; 2].map(|_| random.below(12) as f32);
            [x, y, x + random.below(25) as f32, y + random.below(25) as f32]
        });
        if pair % 2 == 0 {
            // Nested boxes, whose IoU is the quotient of their areas.
            let sides = [0; 4].map(|_| 1.0 + random.below(20) as f32);
            left = [0.0, 0.0, sides[0], sides[1]];
            right = [0.0, 0.0, sides[0].min(sides[2]), sides[1].min(sides[3])];
        }
        if pair < 6 {
            overlaps.push(f64::from(iou(left, right)));
        }
        problem.add_pair([left, right]);
    }
    check_near(&problem, &overlaps);
}

/// Pairs whose IoU is within some roundings of the threshold, of all sizes.
#[test]
fn an_iou_near_the_threshold_is_compared_as_on_flex() {
    let mut random = Random(6);
    let mut problem = Problem::default();
    for _ in 0..2000 {
        // All coordinates are usual ones.
        let scale = 2.0f32.powi(random.below(60) as i32 - 2);
        let [width, height] = [0; 2].map(|_| scale * (1.0 + random.float()));
        let [x, y] = [0; 2].map(|_| width * random.float());
        let part = 0.7 + (random.float() - 0.5) * 1e-6;
        problem.add_pair([[x, y, x + width, y + height], [x, y, x + width * part, y + height]]);
    }
    check_near(&problem, &[0.7]);
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
        kept.dedup();
        assert!(kept.len() > 2, "thresholds next to each other don't differ: {kept:?}");
    }
}

fn iou(left: [f32; 4], right: [f32; 4]) -> f32 {
    let area = |[x1, y1, x2, y2]: [f32; 4]| (x2 - x1) * (y2 - y1);
    let width = (left[2].min(right[2]) - left[0].max(right[0])).max(0.0);
    let height = (left[3].min(right[3]) - left[1].max(right[1])).max(0.0);
    width * height / (area(left) + area(right) - width * height)
}

/// One coordinate that is NaN, infinite, very large or very small, of a box that has a score or has none.
#[test]
fn unusual_coordinates_are_treated_as_on_flex() {
    let unusual = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -1e30,
        1e-12,
        -1e-40,
        -0.0,
    ];
    for backend in others() {
        for (place, value) in (0..).zip(unusual) {
            for score in [0.5, f32::NAN] {
                let mut problem = Problem::random(300, 2);
                let row = place * 35;
                problem.boxes[row][place % 4] = value;
                problem.scores[row] = score;
                problem.check(&backend, DType::F32, 0.3);
            }
        }
    }
}

#[test]
fn unusual_scores_and_thresholds_are_treated_as_on_flex() {
    let scores = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        f32::MAX,
        f32::MIN,
    ];
    let mut problem = Problem::random(900, 2);
    for (place, score) in problem.scores.iter_mut().enumerate() {
        *score = scores[place * 7 % scores.len()];
    }
    let mut without_scores = Problem::random(70, 1);
    without_scores.scores.fill(f32::NAN);
    for backend in others() {
        for threshold in [
            -0.5,
            -0.0,
            1e-50,
            1e-40,
            0.3,
            1.0,
            1.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            problem.check(&backend, DType::F32, threshold);
        }
        assert_eq!(without_scores.check(&backend, DType::F32, 0.5), 0);
    }
}

/// Corners that are swapped make areas and unions negative, or 0.
#[test]
fn inverted_and_empty_boxes_are_treated_as_on_flex() {
    let mut random = Random(7);
    let mut problem = Problem::default();
    for _ in 0..1100 {
        problem.boxes.push([0; 4].map(|_| random.below(7) as f32 - 3.0));
        problem.scores.push(random.float());
        problem.classes.push(random.below(2) as i64);
    }
    for backend in others() {
        for threshold in [0.0, 0.2, 1.0] {
            problem.check(&backend, DType::F32, threshold);
        }
    }
}

#[test]
fn a_strided_tensor_is_read_in_its_order() {
    let problem = Problem::random(600, 2);
    let (boxes, scores, classes) = problem.tensors(&Device::flex(), DType::F32);
    let expected = indices(batched_nms(boxes, scores, classes, 0.4));
    for backend in others() {
        let (boxes, scores, classes) = problem.tensors(&backend.device, DType::F32);
        let boxes = boxes.transpose().mul_scalar(1.0).transpose();
        let scores = Tensor::<1>::stack::<2>(vec![scores.clone(), scores], 1)
            .slice([0..600, 1..2])
            .squeeze_dim(1);
        assert_eq!(
            indices(batched_nms(boxes, scores, classes, 0.4)),
            expected,
            "{}",
            backend.name
        );
    }
}

/// An autodiff device's indices are on that device, as all other tensors there.
#[test]
fn an_autodiff_device_keeps_its_indices() {
    let problem = Problem::random(300, 2);
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let (boxes, scores, classes) = problem.tensors(&device, DType::F32);
        let kept = batched_nms(boxes.clone().require_grad(), scores, classes, 0.4);
        assert!(kept.device().is_autodiff(), "{}", backend.name);
        let chosen = boxes.require_grad().select(0, kept.clone());
        assert_eq!(chosen.dims()[0], kept.dims()[0]);
        problem.check(&Backend { device, ..backend }, DType::F32, 0.4);
    }
}
