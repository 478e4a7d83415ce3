//! Flaws of masks and of sizes.

use burn_roi_detection::data::coco::CocoFlaw;
use burn_roi_detection::evaluate::coco::{CocoEvaluationConfig, CocoKind, try_evaluate_coco};
use serde_json::{Value, json};

use super::{BOTH, BOXES, SQUARE, ap, check, file, found, read, run_lengths, with};
use crate::bad_input::assert_error;

/// pycocotools refuses masks whose first polygon is one of these.
#[test]
fn example_1_a_bad_polygon_does_not_cost_the_others() {
    for polygon in [
        json!([50, 40]),
        json!([50, 50, 60, 60]),
        json!([]),
        json!([50, 50, "x", 60, 70, 70]),
    ] {
        for polygons in [json!([SQUARE, polygon]), json!([polygon, SQUARE])] {
            check(&with("segmentation", Some(polygons)), BOTH, &[CocoFlaw::Polygons]);
        }
    }
    let nine = [&SQUARE[..], &[5]].concat();
    check(&with("segmentation", Some(json!([nine]))), BOTH, &[CocoFlaw::Polygons]);
    let (dataset, _) = read(&with("segmentation", Some(json!([SQUARE, [50, 40]]))));
    let problem = "annotation 1: `segmentation`: `polygons` is a polygon of 2 coordinates, but must be of an even \
        number of coordinates, 6 at least";
    assert_eq!(dataset.problems()[0].to_string(), problem);
    // A list of numbers is one polygon. pycocotools refuses it.
    check(&with("segmentation", Some(json!(SQUARE))), BOTH, &[]);
}

/// pycocotools refuses the polygons. With these run lengths its AP of masks is 0.
#[test]
fn example_2_a_bad_mask_does_not_cost_the_box() {
    let cases = [
        (
            json!([[]]),
            "`segmentation`: `polygons` is a polygon of 0 coordinates, but must be of an even number of coordinates, 6 \
            at least",
        ),
        (
            json!([[10, 10, 30, 30]]),
            "`segmentation`: `polygons` is a polygon of 4 coordinates, but must be of an even number of coordinates, 6 \
            at least",
        ),
        (
            json!({"size": [100, 80], "counts": [8000]}),
            "`segmentation` has size [100, 80], but the image has [80, 100] pixels (height, width)",
        ),
        (
            json!({"size": [80, 100], "counts": [5, 5]}),
            "`segmentation`: the run lengths have 2 runs of 10 pixels in all, but must have runs of 80 * 100 pixels in \
            all",
        ),
        (
            json!({"size": [80, 100], "counts": [-5, 8005]}),
            "`segmentation`: `counts` must be a string or a list of integers from 0 to 2^32 - 1",
        ),
        (
            json!({"size": [80, -1], "counts": "xx"}),
            "`segmentation`: `size` is [80, -1], but must be integers of at least 0",
        ),
        (
            json!(true),
            "`segmentation` is true, but must be a list of polygons or an object with run lengths",
        ),
    ];
    for (mask, message) in cases {
        let file = with("segmentation", Some(mask));
        check(&file, BOXES, &[CocoFlaw::Mask]);
        let (dataset, _) = read(&file);
        assert_eq!(dataset.problems()[0].message, message);
        let result = try_evaluate_coco(&dataset, &[], &CocoEvaluationConfig::new(CocoKind::Segm));
        let expected = format!("no usable `segmentation` ({message}), but must have one to evaluate segm");
        assert_error(result, &format!("`dataset`: annotation 1 has {expected}"));
    }
    for none in [None, Some(Value::Null), Some(json!([]))] {
        check(&with("segmentation", none), BOXES, &[]);
    }
    // A detection's mask of another size matters to masks alone, too.
    let mut detection = found();
    detection["segmentation"] = json!({"size": [2, 2], "counts": [4]});
    let (dataset, _) = read(&file());
    assert!(ap(&dataset, &json!([detection]), CocoKind::Bbox) > 0.99);
}

/// An edge takes memory by the columns that it goes across. pycocotools draws these polygons.
#[test]
fn polygons_across_too_many_columns() {
    let zigzag = |edges: usize| -> Vec<usize> { (0..edges).flat_map(|edge| [edge % 2 * 100, edge % 80]).collect() };
    check(
        &with("segmentation", Some(json!([SQUARE, zigzag(42_000)]))),
        BOTH,
        &[CocoFlaw::Polygons],
    );
    for polygons in [json!([zigzag(42_000)]), json!([zigzag(21_000), zigzag(21_000)])] {
        let file = with("segmentation", Some(polygons));
        check(&file, BOXES, &[CocoFlaw::Mask]);
        let (dataset, _) = read(&file);
        let message = "`segmentation`: `polygons` is polygons whose edges go across 4200000 columns, but must be of \
            edges across 4194304 columns at most in all";
        assert_eq!(dataset.problems()[0].message, message);
        let result = try_evaluate_coco(&dataset, &[], &CocoEvaluationConfig::new(CocoKind::Segm));
        let expected = format!("no usable `segmentation` ({message}), but must have one to evaluate segm");
        assert_error(result, &format!("`dataset`: annotation 1 has {expected}"));
    }
    check(&with("segmentation", Some(json!([zigzag(21_000)]))), BOXES, &[]);
}

/// pycocotools refuses to draw polygons in these images, but for the last one.
#[test]
fn example_3_an_image_without_a_usable_size() {
    let sizes = [
        json!({}),
        json!({"width": -1, "height": -1}),
        json!({"width": 0, "height": 0}),
        json!({"width": 100}),
        json!({"width": "wide", "height": 80}),
        json!({"width": 65536, "height": 65536}),
    ];
    for size in sizes {
        let mut file = file();
        file["images"][0] = size;
        file["images"][0]["id"] = json!(154);
        check(&file, BOXES, &[CocoFlaw::ImageSize]);
        let (dataset, _) = read(&file);
        assert_eq!(dataset.images()[0].size, None);
        let result = try_evaluate_coco(&dataset, &[], &CocoEvaluationConfig::new(CocoKind::Segm));
        let expected = "polygons in image 154, which has no size, but must have one to evaluate segm";
        assert_error(result, &format!("`dataset`: annotation 1 has {expected}"));
        // Run lengths have a size of their own.
        file["annotations"][0]["segmentation"] = run_lengths();
        check(&file, BOTH, &[CocoFlaw::ImageSize]);
        file["annotations"][0]["segmentation"] = json!({"size": [1, 8000], "counts": [0, 8000]});
        let (dataset, _) = read(&file);
        assert_eq!(ap(&dataset, &json!([found()]), CocoKind::Segm), 0.0);
    }
    let mut file = file();
    file["images"][0] = json!({"id": 154, "height": "80", "width": 100.0});
    check(&file, BOTH, &[]);
}
