//! Truths and detections, grouped by category and image.

use std::cmp::Ordering;

use super::{CocoDetection, CocoEvaluationConfig, CocoKind, checks};
use crate::data::coco::{CocoAnnotation, CocoDataset};
use crate::error::DetectionError;

/// The truths and the detections of an image and a category. One of both may be empty.
pub struct Cell<'a> {
    /// In the order of the file.
    pub truths: Vec<Truth<'a>>,
    /// By decreasing score, and at most the largest of `max_detections`.
    pub detections: Vec<&'a CocoDetection>,
}

/// A truth, and whether it is ignored whatever its area.
pub struct Truth<'a> {
    pub annotation: &'a CocoAnnotation,
    pub is_ignored: bool,
}

/// An entry's category and image, as indices in the data set, and its own index.
type Key = (u32, u32, u32);

/// The cells of each category of a data set, by ascending id of the image. All entries are checked.
pub fn by_category<'a>(
    dataset: &'a CocoDataset,
    detections: &'a [CocoDetection],
    config: &CocoEvaluationConfig,
) -> Result<Vec<Vec<Cell<'a>>>, DetectionError> {
    let truth_keys = sorted_keys(dataset.annotations(), |_, annotation| {
        checks::truth(annotation, dataset, config)?;
        let category = dataset.category_index(annotation.category_id);
        Ok(category
            .zip(dataset.image_index(annotation.image_id))
            .map(<[usize; 2]>::from))
    })?;
    let detection_keys = sorted_keys(detections, |index, detection| {
        checks::detection(index, detection, dataset, config)
    })?;
    let most = config.maxima().last().copied().unwrap_or(0);

    let mut categories: Vec<_> = dataset.categories().iter().map(|_| Vec::new()).collect();
    let (mut truths_left, mut detections_left) = (truth_keys.as_slice(), detection_keys.as_slice());
    while let Some(place) = first_place(truths_left, detections_left) {
        let truths = take_place(&mut truths_left, place);
        let found = take_place(&mut detections_left, place);
        let mut found: Vec<_> = found.iter().map(|key| &detections[key.2 as usize]).collect();
        found.sort_by(|left, right| descending(left.score, right.score));
        found.truncate(most);
        let truths = truths.iter().map(|key| &dataset.annotations()[key.2 as usize]);
        categories[place.0 as usize].push(Cell {
            truths: truths.map(|annotation| truth(annotation, config)).collect(),
            detections: found,
        });
    }
    Ok(categories)
}

/// The order of scores, the highest first.
pub fn descending(left: f64, right: f64) -> Ordering {
    right.partial_cmp(&left).expect("scores are checked to be finite")
}

/// The sorted keys of entries that have a category and an image.
fn sorted_keys<T>(
    entries: &[T],
    place: impl Fn(usize, &T) -> Result<Option<[usize; 2]>, DetectionError>,
) -> Result<Vec<Key>, DetectionError> {
    let mut keys = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if let Some([category, image]) = place(index, entry)? {
            keys.push((category as u32, image as u32, index as u32));
        }
    }
    keys.sort_unstable();
    Ok(keys)
}

/// The category and the image of the first entry of two sorted lists.
fn first_place(truths: &[Key], detections: &[Key]) -> Option<(u32, u32)> {
    let firsts = [truths.first(), detections.first()].into_iter().flatten();
    firsts.map(|&(category, image, _)| (category, image)).min()
}

/// Takes the entries of this category and image from the front of a sorted list.
fn take_place<'a>(keys: &mut &'a [Key], place: (u32, u32)) -> &'a [Key] {
    let is_there = |&&(category, image, _): &&Key| (category, image) == place;
    let (taken, left) = keys.split_at(keys.iter().take_while(is_there).count());
    *keys = left;
    taken
}

fn truth<'a>(annotation: &'a CocoAnnotation, config: &CocoEvaluationConfig) -> Truth<'a> {
    let has_no_keypoint = config.kind == CocoKind::Keypoints && annotation.num_keypoints == 0;
    Truth {
        annotation,
        is_ignored: annotation.is_crowd || has_no_keypoint,
    }
}
