//! NMS on any device keeps the boxes that it keeps on Flex, in each of its cases.

use burn::tensor::{DType, Device, Int, Tensor, TensorData, f16};
use burn_roi_detection::{batched_nms, batched_nms_3d, nms, nms_3d};

use crate::backends::{Backend, backends};

mod thresholds;
mod unusual;

/// Boxes, scores and classes. Without z they are boxes of two axes.
#[derive(Default)]
struct Problem {
    boxes: Vec<[f32; 6]>,
    scores: Vec<f32>,
    classes: Vec<i64>,
}

impl Problem {
    /// Boxes of 4 to 40 pixels in an image of 200 x 200, with few scores, some of which are NaN. They overlap along z.
    fn random(count: usize, classes: usize) -> Self {
        let mut random = Random(count as u64);
        let mut problem = Self::default();
        for _ in 0..count {
            let [x, y] = [0; 2].map(|_| random.float() * 160.0);
            let [width, height] = [0; 2].map(|_| 4.0 + random.float() * 36.0);
            let [z, depth] = [random.float() * 20.0, 100.0 + random.float() * 80.0];
            problem.boxes.push([x, y, x + width, y + height, z, z + depth]);
            problem.scores.push(match random.below(1000) {
                0..10 => f32::NAN,
                number => number as f32 / 500.0 - 1.0,
            });
            problem.classes.push(random.below(classes) as i64);
        }
        problem
    }

    /// Adds two boxes, of a class of their own.
    fn add_pair(&mut self, pair: [[f32; 6]; 2]) {
        let class = self.classes.len() as i64;
        // Pairs are in one block of scores or in two, and the boxes of a pair in either order.
        let score = |place: i64| ((class * 7919 + place * 4241) % 10_007) as f32;
        for (place, corners) in (0..).zip(pair) {
            self.boxes.push(corners);
            self.scores.push(score(place));
            self.classes.push(class);
        }
    }

    fn boxes(&self, columns: usize, device: &Device, dtype: DType) -> Tensor<2> {
        let values: Vec<f32> = self
            .boxes
            .iter()
            .flat_map(|corners| &corners[..columns])
            .copied()
            .collect();
        Tensor::from_data(TensorData::new(values, [self.boxes.len(), columns]), (device, dtype))
    }

    fn tensors(&self, device: &Device, dtype: DType) -> (Tensor<2>, Tensor<1>, Tensor<1, Int>) {
        let count = self.boxes.len();
        (
            self.boxes(4, device, dtype),
            Tensor::from_data(TensorData::new(self.scores.clone(), [count]), (device, dtype)),
            Tensor::from_data(TensorData::new(self.classes.clone(), [count]), device),
        )
    }

    /// Compares a device with Flex, for boxes of two and of three axes, within each class and without classes. Returns
    /// the numbers of boxes that are kept within each class.
    #[track_caller]
    fn check(&self, backend: &Backend, dtype: DType, threshold: f64) -> [usize; 2] {
        let run = |device: &Device| {
            let (boxes, scores, classes) = self.tensors(device, dtype);
            let boxes_3d = self.boxes(6, device, dtype);
            let kept = [
                batched_nms(boxes.clone(), scores.clone(), classes.clone(), threshold),
                batched_nms_3d(boxes_3d.clone(), scores.clone(), classes, threshold),
                nms(boxes, scores.clone(), threshold),
                nms_3d(boxes_3d, scores, threshold),
            ];
            kept.map(indices)
        };
        let (found, expected) = (run(&backend.device), run(&Device::flex()));
        let name = backend.name;
        assert!(found == expected, "{name}, {} boxes, {threshold:?}", self.boxes.len());
        [found[0].len(), found[1].len()]
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
                assert_eq!(kept.map(|kept| kept > 0), [count > 0; 2], "{count} boxes");
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

/// Corners that are swapped make areas and unions negative, or 0.
#[test]
fn inverted_and_empty_boxes_are_treated_as_on_flex() {
    let mut random = Random(7);
    let mut problem = Problem::default();
    for _ in 0..1100 {
        problem.boxes.push([0; 6].map(|_| random.below(7) as f32 - 3.0));
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
