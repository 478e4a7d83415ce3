//! Proposals from the outputs of a region proposal network.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi_detection::{ProposalConfig, filter_proposals};

use crate::backends::{Backend, backends};
use crate::cases::check_all;

#[test]
fn proposals_are_those_of_torchvision() {
    check_all("proposals", |case, backend| {
        let config = ProposalConfig {
            pre_nms_top_n: case.option("pre_nms_top_n"),
            post_nms_top_n: case.option("post_nms_top_n"),
            nms_threshold: case.option("nms_threshold"),
            score_threshold: case.option("score_threshold"),
            ..ProposalConfig::new()
        };
        let image_sizes: Vec<[usize; 2]> = case.option("image_sizes");
        let anchors_per_level: Vec<usize> = case.option("anchors_per_level");
        let (boxes, scores) = filter_proposals(
            case.floats("proposals", &backend.device),
            case.floats("objectness", &backend.device),
            &image_sizes,
            &anchors_per_level,
            &config,
        );
        assert_eq!(2 * boxes.len(), case.results());
        for (image, (boxes, scores)) in boxes.into_iter().zip(scores).enumerate() {
            case.assert_floats(2 * image, boxes, 0.0, backend);
            case.assert_floats(2 * image + 1, scores, 1e-5, backend);
        }
    });
}

/// Three images, and levels of more anchors than a cube of a GPU has units, of fewer, and of none. Many anchors have
/// equal objectness, so that the order in which these are taken decides what NMS keeps.
struct Levels {
    counts: [usize; 6],
    /// `[x1, y1, x2, y2]` and the objectness of each anchor.
    boxes: Vec<f32>,
    objectness: Vec<f32>,
}

impl Levels {
    const IMAGES: usize = 3;

    fn new() -> Self {
        let counts = [2500, 300, 0, 257, 7, 1];
        let anchors = Self::IMAGES * counts.iter().sum::<usize>();
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        let mut levels = Self {
            counts,
            boxes: Vec::new(),
            objectness: Vec::new(),
        };
        for _ in 0..anchors {
            let [x, y, width, height] = [150, 150, 40, 40].map(|limit| below(limit) as f32);
            levels.boxes.extend([x, y, x + 4.0 + width, y + 4.0 + height]);
            levels.objectness.push(match below(100) {
                0 => f32::NAN,
                1 => f32::INFINITY,
                2 => f32::NEG_INFINITY,
                3 => -0.0,
                4 => 0.0,
                number => (number % 20) as f32 / 4.0 - 2.5,
            });
        }
        levels
    }

    /// The boxes and the scores of the proposals of all images.
    fn proposals(&self, device: &Device, dtype: DType, pre_nms_top_n: usize) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
        let anchors = self.counts.iter().sum();
        let boxes = TensorData::new(self.boxes.clone(), [Self::IMAGES, anchors, 4]);
        let objectness = TensorData::new(self.objectness.clone(), [Self::IMAGES, anchors]);
        let config = ProposalConfig {
            pre_nms_top_n,
            ..ProposalConfig::new()
        };
        let (boxes, scores) = filter_proposals(
            Tensor::from_data(boxes, (device, dtype)),
            Tensor::from_data(objectness, (device, dtype)),
            &[[200, 200], [120, 200], [200, 90]],
            &self.counts,
            &config,
        );
        let numbers = |data: TensorData| data.iter::<f32>().collect();
        (
            boxes.into_iter().map(|boxes| numbers(boxes.into_data())).collect(),
            scores.into_iter().map(|scores| numbers(scores.into_data())).collect(),
        )
    }
}

/// A GPU chooses the best anchors itself, and elsewhere the host does.
#[test]
fn every_device_has_the_same_proposals() {
    let levels = Levels::new();
    for dtype in [DType::F32, DType::F16] {
        for pre_nms_top_n in [1, 100, 256, 1000, 5000] {
            let (boxes, scores) = levels.proposals(&Device::flex(), dtype, pre_nms_top_n);
            assert!(boxes.iter().all(|boxes| !boxes.is_empty()));
            for backend in backends().into_iter().filter(|backend| backend.supports(dtype)) {
                let Backend { name, device } = backend;
                let (own_boxes, own_scores) = levels.proposals(&device, dtype, pre_nms_top_n);
                assert_eq!(own_boxes, boxes, "{name}, {dtype:?}, {pre_nms_top_n} of a level");
                for (own, score) in own_scores.concat().iter().zip(scores.concat()) {
                    assert!((own - score).abs() < 1e-3, "{name}: {own} instead of {score}");
                }
            }
        }
    }
}
