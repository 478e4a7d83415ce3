//! COCO files with broken entries.

use burn_roi_detection::data::coco::{CocoDataset, CocoEffect, CocoReadError};
use serde_json::{Value, json};

fn file() -> Value {
    json!({
        "info": {"year": 2026},
        "images": [
            {"id": 3, "file_name": "b.jpg", "height": 4, "width": 5, "license": 1},
            {"id": 2, "height": 4, "width": 5},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 17, "name": "cat", "supercategory": "animal"}],
        "annotations": [annotation(1), annotation(2)],
    })
}

fn annotation(id: i64) -> Value {
    json!({"id": id, "image_id": 3, "category_id": 18, "iscrowd": 0, "area": 4.0, "bbox": [1, 1, 2, 2]})
}

fn bytes(file: &Value) -> Vec<u8> {
    file.to_string().into_bytes()
}

#[test]
fn a_whole_file_is_read() {
    let mut file = file();
    file["annotations"][1]["segmentation"] = json!({"size": [4, 5], "counts": [5, 2, 2, 2, 9]});
    let dataset = CocoDataset::from_json(&bytes(&file)).expect("it is whole");
    let ids: Vec<i64> = dataset.images().iter().map(|image| image.id).collect();
    assert_eq!(ids, [2, 3]);
    assert_eq!(
        (dataset.label_of(17), dataset.label_of(18), dataset.label_of(1)),
        (Some(1), Some(2), None)
    );
    assert_eq!(dataset.category_of_label(2).expect("a category").name, "dog");
    assert!(dataset.category_of_label(0).is_none() && dataset.category_of_label(3).is_none());
    let ids: Vec<i64> = dataset.annotations_of(3).map(|annotation| annotation.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(dataset.annotations_of(2).count() + dataset.annotations_of(9).count(), 0);
    let masks: Vec<_> = dataset
        .annotations()
        .iter()
        .map(|annotation| dataset.mask_of(annotation))
        .collect();
    assert_eq!(masks[0], None);
    assert_eq!(masks[1].as_ref().expect("a mask").bounding_box(), [1, 1, 2, 2]);
}

/// Each change of annotation 2 that makes it broken, and what is said about it.
fn breaks() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("id", json!(1), "annotation 1: an entry before it has the same id"),
        (
            "id",
            json!("two"),
            "annotation at index 1: `id` is \"two\", but must be an integer",
        ),
        (
            "image_id",
            json!(1.5),
            "annotation 2: `image_id` is 1.5, but must be an integer",
        ),
        (
            "image_id",
            json!(9),
            "annotation 2: `image_id` is 9, which no image of the data set has",
        ),
        (
            "category_id",
            json!(1),
            "annotation 2: `category_id` is 1, which no category of the data set has",
        ),
        (
            "bbox",
            json!([1, 1, 2]),
            "annotation 2: `bbox` is [1,1,2], but must be four numbers, and there is no mask",
        ),
        (
            "bbox",
            json!([1, 1, -2, 2]),
            "annotation 2: `bbox` is [1.0, 1.0, -2.0, 2.0], but must have a width and a height of at least 0, and \
            there is no mask",
        ),
    ]
}

#[test]
fn broken_annotations_are_told_or_left_out() {
    for (field, value, expected) in breaks() {
        let mut file = file();
        file["annotations"][1][field] = value;
        let Err(CocoReadError::Broken(problems)) = CocoDataset::from_json(&bytes(&file)) else {
            panic!("should be refused: {expected}");
        };
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(told, [expected]);
        assert_eq!(problems[0].flaw.effect(), CocoEffect::LeftOut);
        let dataset = CocoDataset::from_json_without_broken(&bytes(&file)).expect("the rest is whole");
        assert_eq!(dataset.problems(), problems);
        assert_eq!(dataset.annotations().len(), 1);
        assert_eq!(dataset.annotation(1).expect("it is whole").bbox, [1.0, 1.0, 2.0, 2.0]);
    }
}

/// Of an entry that is left out, nothing else is told, and the error does not list what was mended.
#[test]
fn an_error_lists_what_is_left_out() {
    let mut file = file();
    file["annotations"][0]["area"] = Value::Null;
    file["annotations"][1] = json!({"id": 2, "image_id": 3, "category_id": 18, "segmentation": [[1, 2]]});
    let dataset = CocoDataset::from_json_without_broken(&bytes(&file)).expect("a COCO file");
    let told: Vec<String> = dataset.problems().iter().map(ToString::to_string).collect();
    let left_out = "annotation 2: there is no `bbox`, and there is no mask";
    assert_eq!(told, ["annotation 1: `area` is null, but must be a number", left_out]);
    let error = CocoDataset::from_json(&bytes(&file)).expect_err("an entry is broken");
    assert_eq!(error.to_string(), format!("1 broken entries:\n{left_out}"));
}

#[test]
fn broken_images_and_categories_are_told() {
    let mut file = file();
    file["images"][0]["id"] = json!([3]);
    file["categories"][1]["id"] = json!(18);
    let error = CocoDataset::from_json(&bytes(&file))
        .expect_err("it is broken")
        .to_string();
    let expected = "4 broken entries:\nimage at index 0: `id` is [3], but must be an integer\n\
        category 18: an entry before it has the same id\n\
        annotation 1: `image_id` is 3, which no image of the data set has\n\
        annotation 2: `image_id` is 3, which no image of the data set has";
    assert_eq!(error, expected);
}

#[test]
fn what_is_no_coco_file_is_an_error() {
    for (json, expected) in [
        ("[", "this is no COCO file: EOF while parsing a list at line 1 column 1"),
        ("{}", "this is no COCO file: missing field `images` at line 1 column 2"),
        (
            r#"{"images": NaN}"#,
            "this is no COCO file: expected value at line 1 column 12",
        ),
    ] {
        let error = CocoDataset::from_json(json.as_bytes()).expect_err("it is no COCO file");
        assert_eq!(error.to_string(), expected);
    }
    let path = std::env::temp_dir().join(format!("burn_roi_no_coco_file_{}.json", std::process::id()));
    std::fs::write(&path, "{}").expect("the file should be written");
    let error = CocoDataset::read(&path).expect_err("it is no COCO file").to_string();
    std::fs::remove_file(&path).expect("the file should be removed");
    let expected = "is no COCO file: missing field `images` at line 1 column 2";
    assert_eq!(error, format!("`{}` {expected}", path.display()));
    let error = CocoDataset::read("no such file.json")
        .expect_err("there is no such file")
        .to_string();
    assert!(error.starts_with("`no such file.json` can't be read: "), "{error}");
}
