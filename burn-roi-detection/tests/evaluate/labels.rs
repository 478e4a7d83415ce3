//! Labels of a detector, and categories of a data set.

use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::evaluate::coco::CocoDetection;
use burn_roi_detection::models::{Background, Instances};
use serde_json::json;

#[test]
fn a_label_is_its_category_wherever_the_background_is() {
    let coco = json!({
        "images": [{"id": 1, "width": 9, "height": 8, "file_name": "a.png"}],
        "annotations": [],
        "categories": [{"id": 7, "name": "dog"}, {"id": 3, "name": "cat"}],
    });
    let dataset = CocoDataset::from_json(coco.to_string().as_bytes()).unwrap();
    for (background, labels) in [(Background::First, [1, 2]), (Background::Last, [0, 1])] {
        let names = dataset.classes(background);
        let categories = dataset.categories_of(&names);
        for label in labels {
            let found = Instances {
                boxes: vec![[1.0, 2.0, 5.0, 6.0]],
                scores: vec![0.9],
                labels: vec![label],
                ..Instances::default()
            };
            let detections = CocoDetection::of_instances(&found, 1, &categories);
            let category = dataset.category(detections[0].category_id).unwrap();
            assert_eq!(category.name, names[label], "{background:?}");
        }
    }
}
