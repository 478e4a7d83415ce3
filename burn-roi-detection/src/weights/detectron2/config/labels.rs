//! The names of classes and keypoints, which a config does not have.

use crate::models::config::coco;

/// The classes by label, the background last: those of COCO if the model was trained on it.
pub(super) fn classes(count: usize, trained_on: &[String]) -> Vec<String> {
    let is_coco = |start: &str| trained_on.iter().any(|name| name.starts_with(start));
    let mut names: Vec<String> = if count == 80 && is_coco("coco_") {
        let things = coco::CLASSES.iter().skip(1).filter(|name| **name != "N/A");
        things.map(ToString::to_string).collect()
    } else if count == 1 && is_coco("keypoints_coco_") {
        vec!["person".to_string()]
    } else {
        (0..count).map(|class| format!("class {class}")).collect()
    };
    names.push("background".to_string());
    names
}

/// The keypoints: those of COCO if there are as many.
pub(super) fn keypoints(count: usize) -> Vec<String> {
    match count == coco::KEYPOINTS.len() {
        true => coco::KEYPOINTS.iter().map(ToString::to_string).collect(),
        false => (0..count).map(|keypoint| format!("keypoint {keypoint}")).collect(),
    }
}
