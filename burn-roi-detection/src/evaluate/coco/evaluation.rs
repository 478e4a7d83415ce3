//! [`evaluate_coco`] and its result.

use burn_roi::internal::or_panic;
use rayon::prelude::*;
use serde::Serialize;

use super::cells::by_category;
use super::matching::match_cell;
use super::metrics::metrics;
use super::precision::{Curve, curves};
use super::{CocoDetection, CocoEvaluationConfig, CocoMetrics, checks};
use crate::data::coco::CocoDataset;
use crate::error::DetectionError;

/// The result of [`evaluate_coco`]. Its text is the table that pycocotools prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CocoEvaluation {
    /// The options.
    pub config: CocoEvaluationConfig,
    /// The metrics over all categories.
    pub metrics: CocoMetrics,
    /// The metrics of each category of the data set, by ascending id.
    pub categories: Vec<CocoCategoryMetrics>,
}

/// The metrics of a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CocoCategoryMetrics {
    /// The id of the category.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// The same metrics for this category alone.
    pub metrics: CocoMetrics,
}

/// Compares detections with the truth of a data set, as pycocotools' `COCOeval` does. Every image and every category of
/// the data set counts.
///
/// - `dataset`: the truth.
/// - `detections`: the detections of all images, in any order. Detections of equal score keep their order.
/// - `config`: whether boxes, masks or keypoints are compared, and the options.
///
/// Boxes are compared without their masks. If a detection has a mask and no box, its box is the bounding box of the
/// mask. It runs on rayon's threads, and the result does not depend on their number.
///
/// The [module](self::super) has an example.
///
/// # Panics
///
/// If [`try_evaluate_coco`] returns an error, with its text.
pub fn evaluate_coco(
    dataset: &CocoDataset,
    detections: &[CocoDetection],
    config: &CocoEvaluationConfig,
) -> CocoEvaluation {
    or_panic(try_evaluate_coco(dataset, detections, config))
}

/// Fallible form of [`evaluate_coco`].
///
/// # Errors
///
/// - `RoiError::Option`: an option of the config is out of its range.
/// - `DetectionError::Entry`: a detection has a value that is not finite, a negative width or height, or an image that
///   the data set does not have. Or an annotation or a detection lacks what is compared: a box, a keypoint for each of
///   `sigmas`, or a mask, which has the size of its image.
pub fn try_evaluate_coco(
    dataset: &CocoDataset,
    detections: &[CocoDetection],
    config: &CocoEvaluationConfig,
) -> Result<CocoEvaluation, DetectionError> {
    checks::config(config)?;
    let cells = by_category(dataset, detections, config)?;
    let categories: Vec<[Option<Curve>; 4]> = cells
        .par_iter()
        .map(|cells| {
            let matched: Vec<_> = cells.par_iter().map(|cell| match_cell(cell, dataset, config)).collect();
            curves(&matched, config)
        })
        .collect();

    let all: Vec<_> = categories.iter().collect();
    let of_category = |(category, curves)| {
        let category: &crate::data::coco::CocoCategory = category;
        CocoCategoryMetrics {
            id: category.id,
            name: category.name.clone(),
            metrics: metrics(&[curves], config),
        }
    };
    Ok(CocoEvaluation {
        config: config.clone(),
        metrics: metrics(&all, config),
        categories: dataset.categories().iter().zip(&categories).map(of_category).collect(),
    })
}
