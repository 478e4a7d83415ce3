//! How similar a detection and a truth are: IoU or OKS.

use super::cells::Cell;
use super::{CocoDetection, CocoEvaluationConfig, CocoKind};
use crate::data::coco::{CocoAnnotation, CocoDataset};
use crate::run_lengths::{RunLengths, iou_of_areas, set_pixels_in_both};

/// The similarity of each detection of a cell and each truth, `[D, G]` in row-major order. From 0 to 1.
pub fn of_cell(cell: &Cell, dataset: &CocoDataset, config: &CocoEvaluationConfig) -> Vec<f64> {
    if cell.truths.is_empty() || cell.detections.is_empty() {
        return Vec::new();
    }
    match config.kind {
        CocoKind::Bbox => of_pairs(cell, |detection, truth| {
            box_iou(&bbox_of(detection), &truth.bbox, truth.is_crowd)
        }),
        CocoKind::Segm => of_masks(cell, dataset),
        CocoKind::Keypoints => {
            let variance = |sigma: &f64| (sigma * 2.0) * (sigma * 2.0);
            let variances: Vec<f64> = config.sigmas.iter().map(variance).collect();
            of_pairs(cell, |detection, truth| oks(detection, truth, &variances))
        }
    }
}

/// The area by which a detection without a match is ignored in a range of areas.
pub fn area_of(detection: &CocoDetection, kind: CocoKind) -> f64 {
    let mask = detection.segmentation.as_ref();
    let mask_area = || mask.map_or(0.0, |mask| f64::from(mask.area()));
    match kind {
        CocoKind::Bbox => detection.bbox.map_or_else(mask_area, |[_, _, w, h]| w * h),
        CocoKind::Segm => mask_area(),
        CocoKind::Keypoints => {
            let extent = |axis: usize| {
                let values = detection.keypoints.iter().flatten().map(|keypoint| keypoint[axis]);
                values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
            };
            extent(0) * extent(1)
        }
    }
}

fn of_pairs(cell: &Cell, similarity: impl Fn(&CocoDetection, &CocoAnnotation) -> f64) -> Vec<f64> {
    let of_detection = |detection| cell.truths.iter().map(move |truth| (detection, truth.annotation));
    let pairs = cell.detections.iter().flat_map(|&detection| of_detection(detection));
    pairs.map(|(detection, truth)| similarity(detection, truth)).collect()
}

/// The box of a detection, or the one around its mask.
fn bbox_of(detection: &CocoDetection) -> [f64; 4] {
    let mask = detection.segmentation.as_ref();
    let of_mask = || mask.map_or([0.0; 4], |mask| mask.bounding_box().map(f64::from));
    detection.bbox.unwrap_or_else(of_mask)
}

/// The IoU of boxes `[x, y, w, h]`, or the intersection by the detection's area if the truth is a crowd.
fn box_iou(detection: &[f64; 4], truth: &[f64; 4], is_crowd: bool) -> f64 {
    let shared = |axis: usize| {
        let end = (detection[axis + 2] + detection[axis]).min(truth[axis + 2] + truth[axis]);
        end - detection[axis].max(truth[axis])
    };
    let (width, height) = (shared(0), shared(1));
    if width <= 0.0 || height <= 0.0 {
        return 0.0;
    }
    let (intersection, area) = (width * height, detection[2] * detection[3]);
    let union = area + truth[2] * truth[3] - intersection;
    intersection / if is_crowd { area } else { union }
}

/// A mask with what is computed of it once.
struct Mask<'a> {
    runs: &'a RunLengths,
    area: u32,
    bbox: [u32; 4],
}

impl<'a> Mask<'a> {
    fn new(runs: &'a RunLengths) -> Self {
        Self {
            runs,
            area: runs.area(),
            bbox: runs.bounding_box(),
        }
    }

    fn iou(&self, truth: &Self, is_crowd: bool) -> f64 {
        let overlaps = |axis: usize| {
            let end = (self.bbox[axis] + self.bbox[axis + 2]).min(truth.bbox[axis] + truth.bbox[axis + 2]);
            end > self.bbox[axis].max(truth.bbox[axis])
        };
        // Of an image without a size, run lengths may have any.
        let is_same_size = self.runs.size() == truth.runs.size();
        let both = match is_same_size && overlaps(0) && overlaps(1) {
            true => set_pixels_in_both(self.runs, truth.runs),
            false => 0,
        };
        iou_of_areas(both, self.area, truth.area, is_crowd)
    }
}

fn of_masks(cell: &Cell, dataset: &CocoDataset) -> Vec<f64> {
    let rasterised = |truth: &CocoAnnotation| dataset.mask_of(truth).expect("truths are checked to have masks");
    let runs: Vec<RunLengths> = cell.truths.iter().map(|truth| rasterised(truth.annotation)).collect();
    let truths: Vec<(Mask, bool)> = runs
        .iter()
        .zip(&cell.truths)
        .map(|(runs, truth)| (Mask::new(runs), truth.annotation.is_crowd))
        .collect();
    let detections = cell.detections.iter();
    let masks = detections.filter_map(|detection| detection.segmentation.as_ref());
    let of_mask = |mask: Mask| -> Vec<f64> {
        let ious = truths.iter().map(|(truth, is_crowd)| mask.iou(truth, *is_crowd));
        ious.collect()
    };
    masks.flat_map(|runs| of_mask(Mask::new(runs))).collect()
}

/// The object keypoint similarity: the mean of exp(-d² / (2 area variance)) over the truth's labelled keypoints, where
/// d is the distance between both keypoints. If the truth has none, d is the distance from its box, enlarged by
/// its own size on each side.
fn oks(detection: &CocoDetection, truth: &CocoAnnotation, variances: &[f64]) -> f64 {
    let (found, expected) = (detection.keypoints.iter().flatten(), truth.keypoints.iter().flatten());
    let is_labelled = truth.keypoints.iter().flatten().any(|keypoint| keypoint[2] > 0.0);
    let outside = |value: f64, axis: usize| {
        let (start, size) = (truth.bbox[axis], truth.bbox[axis + 2]);
        (start - size - value).max(0.0) + (value - (start + size * 2.0)).max(0.0)
    };
    let (mut sum, mut count) = (0.0, 0);
    for ((found, expected), variance) in found.zip(expected).zip(variances) {
        if is_labelled && expected[2] <= 0.0 {
            continue;
        }
        let [dx, dy] = match is_labelled {
            true => [found[0] - expected[0], found[1] - expected[1]],
            false => [outside(found[0], 0), outside(found[1], 1)],
        };
        // A truth of area 0 is similar to itself.
        let exponent = (dx * dx + dy * dy) / variance / (truth.area + f64::EPSILON) / 2.0;
        sum += (-exponent).exp();
        count += 1;
    }
    sum / f64::from(count.max(1))
}
