//! What an entry must be, and what is done if it is not: [`CocoFlaw`] says what becomes of it.

use super::drafts::{AnnotationDraft, CategoryDraft, Field, ImageDraft};
use super::{CocoAnnotation, CocoCategory, CocoFlaw, CocoImage, CocoSegmentation};
use crate::run_lengths::RunLengths;

/// A flaw, and what exactly is wrong.
pub type Found = (CocoFlaw, String);

pub fn image(draft: ImageDraft, found: &mut Vec<Found>) -> CocoImage {
    let fits = |[height, width]: [usize; 2]| {
        let pixels = height.checked_mul(width).and_then(|pixels| u32::try_from(pixels).ok());
        match pixels {
            Some(1..) => Ok([height, width]),
            Some(0) => Err(format!("its size is {height} x {width} pixels, but must be above 0")),
            None => Err(format!(
                "its size is {height} x {width} pixels, but must be below 2^32 in all"
            )),
        }
    };
    let size = draft.size.and_then(fits);
    CocoImage {
        id: draft.id,
        file_name: draft.file_name,
        size: or_flaw(size, CocoFlaw::ImageSize, found),
    }
}

pub fn category(draft: CategoryDraft, found: &mut Vec<Found>) -> CocoCategory {
    let name = draft.name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| "`name` is missing or empty".to_string());
    CocoCategory {
        id: draft.id,
        name: or_flaw(name, CocoFlaw::Name, found).unwrap_or_else(|| draft.id.to_string()),
        supercategory: draft.supercategory,
        keypoints: or_flaw(draft.keypoints, CocoFlaw::Keypoints, found).unwrap_or_default(),
    }
}

/// The annotation of an image and a category, or why there is none.
///
/// - `image`, `category`: those of its ids, if the data set has them.
pub fn annotation(
    draft: AnnotationDraft,
    image: Option<&CocoImage>,
    category: Option<&CocoCategory>,
    found: &mut Vec<Found>,
) -> Result<CocoAnnotation, Found> {
    let (image_id, category_id) = (draft.image_id, draft.category_id);
    let image = image.ok_or_else(|| {
        let message = format!("`image_id` is {image_id}, which no image of the data set has");
        (CocoFlaw::NoImage, message)
    })?;
    if category.is_none() {
        let message = format!("`category_id` is {category_id}, which no category of the data set has");
        return Err((CocoFlaw::NoCategory, message));
    }
    let segmentation = draft.segmentation.and_then(|mask| match mask {
        Some(mask) => fitting(mask, image.size, found).map(Some),
        None => Ok(None),
    });
    let segmentation = or_flaw(segmentation, CocoFlaw::Mask, found).flatten();
    let bbox = match draft.bbox.and_then(usable_box) {
        Ok(bbox) => bbox,
        Err(message) => {
            let around = segmentation.as_ref().and_then(around);
            let Some(bbox) = around else {
                return Err((CocoFlaw::NoBox, format!("{message}, and there is no mask")));
            };
            found.push((CocoFlaw::Box, message));
            bbox
        }
    };
    let area = or_flaw(draft.area.and_then(usable_area), CocoFlaw::Area, found);
    let keypoints = or_flaw(draft.keypoints.and_then(finite), CocoFlaw::Keypoints, found).flatten();
    let labelled = || keypoints.iter().flatten().filter(|keypoint| keypoint[2] > 0.0).count();
    let count = draft.num_keypoints.and_then(|count| match (count, &keypoints) {
        (Some(count), Some(keypoints)) if count > keypoints.len() => Err(format!(
            "`num_keypoints` is {count}, but `keypoints` has {}",
            keypoints.len()
        )),
        _ => Ok(count),
    });
    let num_keypoints = or_flaw(count, CocoFlaw::KeypointCount, found).flatten();
    if ![0.0, 1.0].contains(&draft.iscrowd) {
        let message = format!("`iscrowd` is {}, but must be 0 or 1", draft.iscrowd);
        found.push((CocoFlaw::Crowd, message));
    }
    let annotation = CocoAnnotation {
        id: draft.id,
        image_id,
        category_id,
        bbox,
        area: area.unwrap_or_else(|| area_of(segmentation.as_ref(), image.size, bbox)),
        is_crowd: draft.iscrowd != 0.0,
        num_keypoints: num_keypoints.unwrap_or_else(labelled),
        segmentation,
        keypoints,
    };
    if let Some(message) = emptiness(&annotation, image.size) {
        found.push((CocoFlaw::EmptyBox, message));
    }
    Ok(annotation)
}

/// The value. If there is none, the flaw is added.
fn or_flaw<T>(value: Field<T>, flaw: CocoFlaw, found: &mut Vec<Found>) -> Option<T> {
    value.map_err(|message| found.push((flaw, message))).ok()
}

fn usable_box(bbox: [f64; 4]) -> Field<[f64; 4]> {
    let [.., w, h] = bbox;
    if !bbox.iter().all(|value| value.is_finite()) {
        return Err(format!("`bbox` is {bbox:?}, but must be finite"));
    }
    if w < 0.0 || h < 0.0 {
        return Err(format!(
            "`bbox` is {bbox:?}, but must have a width and a height of at least 0"
        ));
    }
    Ok(bbox)
}

fn usable_area(area: f64) -> Field<f64> {
    match area >= 0.0 && area.is_finite() {
        true => Ok(area),
        false => Err(format!("`area` is {area}, but must be finite and at least 0")),
    }
}

fn finite(keypoints: Option<Vec<[f64; 3]>>) -> Field<Option<Vec<[f64; 3]>>> {
    match keypoints.iter().flatten().flatten().find(|value| !value.is_finite()) {
        Some(wrong) => Err(format!("`keypoints` has {wrong}, but must be finite")),
        None => Ok(keypoints),
    }
}

/// The part of a mask that can be used. Without a size of the image, run lengths may have any.
fn fitting(mask: CocoSegmentation, size: Option<[usize; 2]>, found: &mut Vec<Found>) -> Field<CocoSegmentation> {
    match mask {
        CocoSegmentation::Polygons(polygons) => {
            // Without a size of the image, the columns that a polygon goes across are not known.
            usable_polygons(polygons, size.unwrap_or_default(), found).map(CocoSegmentation::Polygons)
        }
        CocoSegmentation::RunLengths(run_lengths) => match size.filter(|&size| size != run_lengths.size()) {
            None => Ok(CocoSegmentation::RunLengths(run_lengths)),
            Some(size) => Err(format!(
                "`segmentation` has size {:?}, but the image has {size:?} pixels (height, width)",
                run_lengths.size()
            )),
        },
    }
}

/// The valid polygons, each without a last coordinate that has no partner. One must be left.
fn usable_polygons(polygons: Vec<Vec<f64>>, size: [usize; 2], found: &mut Vec<Found>) -> Field<Vec<Vec<f64>>> {
    let mut first_problem = None;
    let usable = polygons.into_iter().filter_map(|mut polygon| {
        if !polygon.len().is_multiple_of(2) {
            polygon.pop();
            first_problem.get_or_insert_with(|| "a polygon has an odd number of coordinates".to_string());
        }
        match RunLengths::check_polygons(std::slice::from_ref(&polygon), size) {
            Ok(()) => Some(polygon),
            Err(error) => {
                first_problem.get_or_insert_with(|| error.to_string());
                None
            }
        }
    });
    let usable: Vec<_> = usable.collect();
    // Each alone may go across few columns, and all of them across too many.
    RunLengths::check_polygons(&usable, size).map_err(|error| format!("`segmentation`: {error}"))?;
    let Some(message) = first_problem.map(|message| format!("`segmentation`: {message}")) else {
        return Ok(usable);
    };
    if usable.is_empty() {
        return Err(message);
    }
    found.push((CocoFlaw::Polygons, message));
    Ok(usable)
}

/// The box around a mask, if it has a pixel.
fn around(mask: &CocoSegmentation) -> Option<[f64; 4]> {
    match mask {
        CocoSegmentation::Polygons(polygons) => {
            let limits = |axis: usize| {
                let values = polygons.iter().flat_map(|polygon| polygon.iter().skip(axis).step_by(2));
                let start = values.clone().copied().fold(f64::INFINITY, f64::min);
                (start, values.copied().fold(f64::NEG_INFINITY, f64::max) - start)
            };
            let ((x, w), (y, h)) = (limits(0), limits(1));
            Some([x, y, w, h])
        }
        CocoSegmentation::RunLengths(run_lengths) => {
            (run_lengths.area() > 0).then(|| run_lengths.bounding_box().map(f64::from))
        }
    }
}

/// The area of a mask that can be drawn, or that of the box.
fn area_of(mask: Option<&CocoSegmentation>, size: Option<[usize; 2]>, [.., w, h]: [f64; 4]) -> f64 {
    let drawn = mask.and_then(|mask| mask.drawn(size));
    drawn.map_or_else(|| (w * h).min(f64::MAX), |mask| f64::from(mask.area()))
}

/// Whether nothing can be trained on the box, and why.
fn emptiness(annotation: &CocoAnnotation, size: Option<[usize; 2]>) -> Option<String> {
    let limits = size.map_or([f64::INFINITY; 2], |size| size.map(|side| side as f64));
    let is_empty = annotation.corners_in(limits).is_none();
    let within = size.map_or_else(String::new, |[height, width]| {
        format!(" in the image of {height} x {width} pixels (height, width)")
    });
    is_empty.then(|| {
        format!(
            "`bbox` is {:?}, [x, y, w, h], which has no area{within}",
            annotation.bbox
        )
    })
}
