//! Calls that select boxes: NMS, proposals and detections.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_roi::AngleConvention;
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::bytes::{Bytes, Floats, Ints, Kind, tensors};
use super::{Call, all_finite, ensure, ensure_in_image, ensure_sorted, read};

/// NMS of boxes of two or three axes or rotated boxes, of all or of each class.
#[derive(Debug)]
pub struct Suppression {
    boxes: Floats,
    scores: Floats,
    classes: Option<Ints>,
    threshold: f64,
    convention: Option<AngleConvention>,
    axes: usize,
}

impl Suppression {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let count = bytes.int(0..=12);
        let conventions = [
            AngleConvention::DEGREES_COUNTER_CLOCKWISE,
            AngleConvention::RADIANS_CLOCKWISE,
        ];
        let convention = (bytes.int(0..=2) == 2).then(|| bytes.choose(&conventions));
        let axes = bytes.int(2..=3);
        let (kind, columns) = match (convention, axes) {
            (None, 2) => (Kind::Boxes, 4),
            (None, _) => (Kind::Volumes, 6),
            (Some(_), _) => (Kind::Rotated, 5),
        };
        let shape = [count, bytes.length(columns)];
        let scores = [bytes.length(count)];
        Self {
            boxes: bytes.floats(&shape, dtype, kind),
            scores: bytes.floats(&scores, dtype, Kind::Unit),
            classes: bytes.bool().then(|| {
                let count = bytes.length(count);
                bytes.ints(count, 0..=2)
            }),
            threshold: bytes.threshold(),
            convention,
            axes,
        }
    }

    fn suppress(&self, device: &Device) -> Result<Tensor<1, Int>, DetectionError> {
        let (boxes, scores) = (self.boxes.tensor(device), self.scores.tensor(device));
        let classes = self.classes.as_ref().map(|classes| classes.tensor(device));
        match (classes, self.convention) {
            (None, None) if self.axes == 3 => try_nms_3d(boxes, scores, self.threshold),
            (Some(classes), None) if self.axes == 3 => try_batched_nms_3d(boxes, scores, classes, self.threshold),
            (None, None) => try_nms(boxes, scores, self.threshold),
            (None, Some(convention)) => try_nms_rotated(boxes, scores, self.threshold, convention),
            (Some(classes), None) => try_batched_nms(boxes, scores, classes, self.threshold),
            (Some(classes), Some(convention)) => {
                try_batched_nms_rotated(boxes, scores, classes, self.threshold, convention)
            }
        }
    }

    /// Checks that no kept box should be suppressed, and that every other one is, as far as f32 tells.
    fn ensure_rule(&self, kept: &[usize], scores: &[f64]) -> Result<(), String> {
        let boxes = self.boxes.stored();
        let boxes: Vec<&[f64]> = boxes.chunks(2 * self.axes).collect();
        let overlap = |left: usize, right: usize| {
            let classes = self.classes.as_ref().map(|classes| &classes.values);
            let same = classes.is_none_or(|classes| classes[left] == classes[right]);
            same.then(|| iou(boxes[left], boxes[right]))
        };
        for (place, &row) in kept.iter().enumerate() {
            for &before in &kept[..place] {
                let fits = overlap(before, row).is_none_or(|iou| iou.is_nan() || iou <= self.threshold + 1e-5);
                ensure(fits, || format!("{before} and {row} overlap too much and are kept"))?;
            }
        }
        for row in (0..scores.len()).filter(|row| !kept.contains(row) && !scores[*row].is_nan()) {
            let suppresses = |&&better: &&usize| {
                scores[better] >= scores[row] && overlap(better, row).is_some_and(|iou| iou > self.threshold - 1e-5)
            };
            ensure(kept.iter().any(|better| suppresses(&better)), || {
                format!("nothing suppresses {row}")
            })?;
        }
        Ok(())
    }
}

impl Call for Suppression {
    fn run(&self, device: &Device, _faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let kept = match self.suppress(device) {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        let kept: Vec<usize> = kept.into_data().iter::<i64>().map(|index| index as usize).collect();
        let scores = self.scores.stored();
        ensure(kept.iter().all(|&row| row < scores.len()), || {
            format!("out of range: {kept:?}")
        })?;
        ensure_sorted(&kept.iter().map(|&row| scores[row]).collect::<Vec<_>>())?;
        // Together with the order of scores this says that no index is there twice.
        let in_order = |pair: &[usize]| scores[pair[0]] > scores[pair[1]] || pair[0] < pair[1];
        ensure(kept.windows(2).all(in_order), || format!("not in order: {kept:?}"))?;
        let moderate = self.boxes.stored().iter().all(|value| value.abs() < 1e4);
        if moderate && self.convention.is_none() && matches!(self.boxes.dtype, DType::F32 | DType::F64) {
            self.ensure_rule(&kept, &scores)?;
        }
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.boxes, &self.scores]
    }
}

fn iou(left: &[f64], right: &[f64]) -> f64 {
    let ends = &[[0, 2], [1, 3], [4, 5]][..left.len() / 2];
    let measure = |corners: &[f64]| -> f64 { ends.iter().map(|&[start, end]| corners[end] - corners[start]).product() };
    let overlap = |&[start, end]: &[usize; 2]| (left[end].min(right[end]) - left[start].max(right[start])).max(0.0);
    let intersection: f64 = ends.iter().map(overlap).product();
    intersection / (measure(left) + measure(right) - intersection)
}

/// `filter_proposals`.
#[derive(Debug)]
pub struct Proposals {
    proposals: Floats,
    objectness: Floats,
    image_sizes: Vec<[usize; 2]>,
    anchors_per_level: Vec<usize>,
    config: ProposalConfig,
}

impl Proposals {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let images = if bytes.rarely() { 0 } else { bytes.int(1..=2) };
        let levels = bytes.int(1..=3);
        let mut anchors_per_level: Vec<_> = (0..levels).map(|_| bytes.int(0..=6)).collect();
        let anchors = anchors_per_level.iter().sum();
        anchors_per_level[0] = bytes.length(anchors_per_level[0]);
        let shape = [images, anchors, bytes.length(4)];
        let objectness = [images, bytes.length(anchors)];
        let sizes = bytes.length(images);
        Self {
            proposals: bytes.floats(&shape, dtype, Kind::Boxes),
            objectness: bytes.floats(&objectness, dtype, Kind::Logits),
            image_sizes: (0..sizes).map(|_| image_size(bytes)).collect(),
            anchors_per_level,
            config: ProposalConfig {
                pre_nms_top_n: bytes.choose(&[1000, 0, 1, 3]),
                post_nms_top_n: bytes.choose(&[1000, 0, 1, 3, usize::MAX]),
                nms_threshold: bytes.threshold(),
                score_threshold: bytes.threshold(),
                min_size: bytes.threshold(),
            },
        }
    }
}

impl Call for Proposals {
    fn run(&self, device: &Device, _faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let (proposals, objectness) = (self.proposals.tensor(device), self.objectness.tensor(device));
        let per_level = &self.anchors_per_level;
        let result = try_filter_proposals(proposals, objectness, &self.image_sizes, per_level, &self.config);
        let (boxes, scores) = match result {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        ensure(boxes.len() == self.image_sizes.len(), || {
            "an image is missing".to_string()
        })?;
        ensure(scores.len() == boxes.len(), || "scores are missing".to_string())?;
        for ((boxes, scores), &size) in boxes.iter().zip(&scores).zip(&self.image_sizes) {
            let [count] = scores.dims();
            ensure(boxes.dims() == [count, 4], || {
                format!("{:?} boxes of {count}", boxes.dims())
            })?;
            ensure(count <= self.config.post_nms_top_n, || format!("{count} proposals"))?;
            ensure_sorted(&read(scores))?;
            ensure_in_image(boxes, size)?;
        }
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.proposals, &self.objectness]
    }
}

/// `postprocess_detections`.
#[derive(Debug)]
pub struct PostProcessing {
    class_logits: Floats,
    box_regression: Floats,
    proposals: Vec<Floats>,
    image_sizes: Vec<[usize; 2]>,
    config: DetectionConfig,
}

impl PostProcessing {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let images = if bytes.rarely() { 0 } else { bytes.int(1..=2) };
        let counts: Vec<_> = (0..images).map(|_| bytes.int(0..=5)).collect();
        let classes = if bytes.rarely() { 0 } else { bytes.int(1..=4) };
        let count = bytes.length(counts.iter().sum());
        // Box deltas may be the same for all classes.
        let columns = if bytes.bool() { 4 } else { bytes.length(4 * classes) };
        let sizes = bytes.length(images);
        let weight = |bytes: &mut Bytes| bytes.option(&[1.0, 10.0, 5.0], &[0.0, f64::NAN, f64::INFINITY]);
        Self {
            class_logits: bytes.floats(&[count, classes], dtype, Kind::Logits),
            box_regression: bytes.floats(&[count, columns], dtype, Kind::Logits),
            proposals: counts
                .iter()
                .map(|&count| bytes.floats(&[count, 4], dtype, Kind::Boxes))
                .collect(),
            image_sizes: (0..sizes).map(|_| image_size(bytes)).collect(),
            config: DetectionConfig {
                score_threshold: bytes.threshold(),
                nms_threshold: bytes.threshold(),
                detections_per_image: bytes.choose(&[100, 0, 1, 3, usize::MAX]),
                min_size: bytes.threshold(),
                box_weights: [weight(bytes), weight(bytes), weight(bytes), weight(bytes)],
            },
        }
    }
}

impl Call for PostProcessing {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let (logits, deltas) = (self.class_logits.tensor(device), self.box_regression.tensor(device));
        let proposals = tensors(&self.proposals, device);
        let images = match try_postprocess_detections(logits, deltas, proposals, &self.image_sizes, &self.config) {
            Ok(images) => images,
            Err(error) => return Ok(Err(error)),
        };
        ensure(images.len() == self.image_sizes.len(), || {
            "an image is missing".to_string()
        })?;
        let classes = self.class_logits.shape[1] as i64;
        for (found, &size) in images.iter().zip(&self.image_sizes) {
            let count = found.len();
            let shapes = (found.boxes.dims(), found.scores.dims(), found.labels.dims());
            ensure(shapes == ([count, 4], [count], [count]), || format!("{shapes:?}"))?;
            ensure(count <= self.config.detections_per_image, || {
                format!("{count} detections")
            })?;
            ensure_sorted(&read(&found.scores))?;
            ensure_in_image(&found.boxes, size)?;
            let labels: Vec<i64> = found.labels.to_data().iter::<i64>().collect();
            let fits = labels.iter().all(|label| (1..classes).contains(label));
            ensure(fits, || format!("labels {labels:?} of {classes} classes"))?;
            ensure(!faultless || all_finite(&found.scores), || {
                "a score is infinite".to_string()
            })?;
        }
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        let proposals = self.proposals.iter();
        proposals.chain([&self.class_logits, &self.box_regression]).collect()
    }
}

/// Sizes that are exact in f16 and bf16.
fn image_size(bytes: &mut Bytes) -> [usize; 2] {
    if bytes.rarely() {
        return bytes.choose(&[[0, 8], [8, 0], [0, 0], [1 << 15, 1 << 15]]);
    }
    [bytes.int(1..=32), bytes.int(1..=32)]
}
