//! Calls of losses.

use burn::tensor::{Device, Tensor};
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::bytes::{Bytes, Floats, Ints, Kind, int_tensors, tensors};
use super::{Call, all_finite, ensure, read};

/// The losses of a box head, or of a region proposal network.
#[derive(Debug)]
pub struct HeadLosses {
    /// `[K, classes]`, or `[N, A]`.
    logits: Floats,
    /// `[K, 4 * classes]`, or `[N, A, 4]`.
    deltas: Floats,
    labels: Vec<Ints>,
    targets: Vec<Floats>,
    /// That of the region proposal network.
    sampler: Option<BalancedPositiveNegativeSampler>,
    autodiff: bool,
}

impl HeadLosses {
    pub fn read(bytes: &mut Bytes) -> Self {
        if bytes.bool() {
            Self::of_boxes(bytes)
        } else {
            Self::of_regions(bytes)
        }
    }

    fn of_boxes(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let images = bytes.int(1..=2);
        let counts: Vec<_> = (0..images).map(|_| bytes.int(0..=4)).collect();
        let classes = if bytes.rarely() { 0 } else { bytes.int(1..=4) };
        let count = bytes.length(counts.iter().sum());
        // Box deltas may be the same for all classes.
        let columns = if bytes.bool() { 4 } else { bytes.length(4 * classes) };
        let last = (classes as i64 - 1).max(0);
        let labels = counts.iter().map(|&count| bytes.ints(count, 0..=last)).collect();
        let target = |&count: &usize| {
            let shape = [count, bytes.length(4)];
            bytes.floats(&shape, dtype, Kind::Logits)
        };
        let targets = counts.iter().map(target).collect();
        Self {
            logits: bytes.floats(&[count, classes], dtype, Kind::Logits),
            deltas: bytes.floats(&[count, columns], dtype, Kind::Logits),
            labels,
            targets,
            sampler: None,
            autodiff: bytes.bool(),
        }
    }

    fn of_regions(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let (images, anchors) = (bytes.int(0..=2), bytes.int(0..=6));
        let lists = bytes.length(images);
        // An image whose labels are all -1 has no anchor that is drawn.
        let labels = (0..lists)
            .map(|_| {
                let count = bytes.length(anchors);
                bytes.ints(count, -1..=1)
            })
            .collect();
        let shape = [images, anchors, bytes.length(4)];
        let sampler = BalancedPositiveNegativeSampler::new(
            bytes.choose(&[256, 2, 3]),
            bytes.option(&[0.5, 0.25, 0.0], &[f64::NAN, -0.5, 1.5]),
        );
        let targets = (0..images)
            .map(|_| bytes.floats(&[anchors, 4], dtype, Kind::Logits))
            .collect();
        Self {
            logits: bytes.floats(&[images, anchors], dtype, Kind::Logits),
            deltas: bytes.floats(&shape, dtype, Kind::Logits),
            labels,
            targets,
            sampler: Some(sampler),
            autodiff: bytes.bool(),
        }
    }
}

impl Call for HeadLosses {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let device = &of_heads(device, self.autodiff);
        let logits = tracked(self.logits.tensor::<2>(device), self.autodiff);
        let (labels, targets) = (int_tensors(&self.labels, device), tensors(&self.targets, device));
        let losses = match &self.sampler {
            None => try_fastrcnn_loss(logits.clone(), self.deltas.tensor(device), &labels, &targets),
            Some(sampler) => {
                let permutation = &mut random_permutations(0);
                let deltas = self.deltas.tensor(device);
                try_rpn_loss(logits.clone(), deltas, &labels, &targets, sampler, permutation)
            }
        };
        match losses {
            Ok((left, right)) => ensure_losses(&[left, right], &logits, faultless).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    fn floats(&self) -> Vec<&Floats> {
        self.targets.iter().chain([&self.logits, &self.deltas]).collect()
    }
}

/// The loss of a mask head.
#[derive(Debug)]
pub struct MaskLoss {
    options: MaskTargets,
    mask_logits: Floats,
    proposals: Vec<Floats>,
    gt_masks: Vec<Floats>,
    gt_labels: Vec<Ints>,
    matched_idxs: Vec<Ints>,
    autodiff: bool,
}

impl MaskLoss {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let images = bytes.int(1..=2);
        let classes = if bytes.rarely() {
            bytes.int(0..=1)
        } else {
            bytes.int(2..=3)
        };
        let side = if bytes.rarely() { 0 } else { bytes.int(1..=4) };
        let (mut proposals, mut gt_masks, mut gt_labels, mut matched_idxs) = (vec![], vec![], vec![], vec![]);
        let mut count = 0;
        for _ in 0..images {
            let (of_image, objects) = (bytes.int(0..=3), bytes.int(1..=2));
            count += of_image;
            let shape = [of_image, bytes.length(4)];
            proposals.push(bytes.floats(&shape, dtype, Kind::Boxes));
            let side = |bytes: &mut Bytes| if bytes.rarely() { 0 } else { bytes.int(1..=12) };
            let shape = [objects, side(bytes), side(bytes)];
            gt_masks.push(bytes.floats(&shape, dtype, Kind::Unit));
            let (labels, indices) = (bytes.length(objects), bytes.length(of_image));
            gt_labels.push(bytes.ints(labels, 1..=(classes as i64 - 1).max(1)));
            matched_idxs.push(bytes.ints(indices, 0..=objects as i64 - 1));
        }
        let shape = [bytes.length(count), classes, side, side];
        Self {
            options: MaskTargets {
                aligned: bytes.bool(),
                binary: bytes.bool(),
            },
            mask_logits: bytes.floats(&shape, dtype, Kind::Logits),
            proposals,
            gt_masks,
            gt_labels,
            matched_idxs,
            autodiff: bytes.bool(),
        }
    }
}

impl Call for MaskLoss {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let device = &of_heads(device, self.autodiff);
        let logits = tracked(self.mask_logits.tensor::<4>(device), self.autodiff);
        let loss = try_maskrcnn_loss(
            logits.clone(),
            &tensors(&self.proposals, device),
            &tensors(&self.gt_masks, device),
            &int_tensors(&self.gt_labels, device),
            &int_tensors(&self.matched_idxs, device),
            &self.options,
        );
        match loss {
            Ok(loss) => ensure_losses(&[loss], &logits, faultless).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    fn floats(&self) -> Vec<&Floats> {
        let lists = self.proposals.iter().chain(&self.gt_masks);
        lists.chain([&self.mask_logits]).collect()
    }
}

fn of_heads(device: &Device, autodiff: bool) -> Device {
    if autodiff {
        device.clone().autodiff()
    } else {
        device.clone()
    }
}

fn tracked<const D: usize>(logits: Tensor<D>, autodiff: bool) -> Tensor<D> {
    if autodiff { logits.require_grad() } else { logits }
}

/// Checks losses and the gradient of the logits. Faultless ones are finite and not negative.
fn ensure_losses<const D: usize>(losses: &[Tensor<1>], logits: &Tensor<D>, faultless: bool) -> Result<(), String> {
    for loss in losses {
        ensure(loss.dims() == [1], || format!("a loss of {:?}", loss.dims()))?;
        let value = read(loss)[0];
        ensure(!faultless || (value.is_finite() && value >= 0.0), || {
            format!("a loss of {value}")
        })?;
    }
    if !logits.device().is_autodiff() {
        return Ok(());
    }
    let gradients = losses[0].clone().backward();
    if let Some(gradient) = logits.grad(&gradients) {
        ensure(gradient.dims() == logits.dims(), || {
            format!("a gradient of {:?}", gradient.dims())
        })?;
        ensure(!faultless || all_finite(&gradient), || {
            "a gradient is not finite".to_string()
        })?;
    }
    Ok(())
}
