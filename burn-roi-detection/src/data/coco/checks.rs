//! What an entry of a COCO file must be.

use super::{CocoAnnotation, CocoCategory, CocoImage, CocoSegmentation};
use crate::run_lengths::RunLengths;

/// What is wrong with an image, by itself.
pub fn image(image: &CocoImage) -> Result<(), String> {
    let [height, width] = image.size();
    if height == 0 || width == 0 {
        return Err(format!("its size is {height} x {width} pixels, but must be above 0"));
    }
    let pixels = height.checked_mul(width).and_then(|pixels| u32::try_from(pixels).ok());
    pixels
        .map(|_| ())
        .ok_or_else(|| format!("its size is {height} x {width} pixels, but must be below 2^32 in all"))
}

/// What is wrong with a category, by itself.
pub fn category(category: &CocoCategory) -> Result<(), String> {
    if category.name.is_empty() {
        return Err("`name` is empty".to_string());
    }
    Ok(())
}

/// What is wrong with an annotation of an image and a category, which are in the data set if they are whole.
pub fn annotation(
    annotation: &CocoAnnotation,
    image: Option<&CocoImage>,
    category: Option<&CocoCategory>,
) -> Result<(), String> {
    let (image_id, category_id) = (annotation.image_id, annotation.category_id);
    let image = image.ok_or_else(|| format!("`image_id` is {image_id}, which no whole image has"))?;
    if category.is_none() {
        return Err(format!("`category_id` is {category_id}, which no whole category has"));
    }
    bounding_box(&annotation.bbox, image)?;
    let area = annotation.area;
    if !(area >= 0.0 && area.is_finite()) {
        return Err(format!("`area` is {area}, but must be finite and at least 0"));
    }
    if let Some(segmentation) = &annotation.segmentation {
        mask(segmentation, image)?;
    }
    keypoints(annotation)
}

fn bounding_box(bbox: &[f64; 4], image: &CocoImage) -> Result<(), String> {
    let [x, y, w, h] = *bbox;
    if !bbox.iter().all(|value| value.is_finite()) {
        return Err(format!("`bbox` is {bbox:?}, but must be finite"));
    }
    if w < 0.0 || h < 0.0 {
        return Err(format!(
            "`bbox` is {bbox:?}, but must have a width and a height of at least 0"
        ));
    }
    let [height, width] = image.size();
    if x > width as f64 || y > height as f64 || x + w < 0.0 || y + h < 0.0 {
        let image = format!("the image of {height} x {width} pixels (height, width)");
        return Err(format!("`bbox` is {bbox:?}, [x, y, w, h], which is outside of {image}"));
    }
    Ok(())
}

fn mask(segmentation: &CocoSegmentation, image: &CocoImage) -> Result<(), String> {
    match segmentation {
        // Of an image without pixels, no polygon is drawn.
        CocoSegmentation::Polygons(polygons) => {
            let drawn = RunLengths::try_from_polygons(polygons, [0, 0]);
            drawn.map(|_| ()).map_err(|error| format!("`segmentation`: {error}"))
        }
        CocoSegmentation::RunLengths(run_lengths) => {
            let (size, expected) = (run_lengths.size(), image.size());
            if size == expected {
                return Ok(());
            }
            Err(format!(
                "`segmentation` has size {size:?}, but the image has {expected:?} pixels (height, width)"
            ))
        }
    }
}

fn keypoints(annotation: &CocoAnnotation) -> Result<(), String> {
    let Some(keypoints) = &annotation.keypoints else {
        return Ok(());
    };
    if let Some(wrong) = keypoints.iter().flatten().find(|value| !value.is_finite()) {
        return Err(format!("`keypoints` has {wrong}, but must be finite"));
    }
    let (count, labelled) = (keypoints.len(), annotation.num_keypoints);
    if labelled > count {
        return Err(format!("`num_keypoints` is {labelled}, but `keypoints` has {count}"));
    }
    Ok(())
}
