//! Samples and their mirror images.

use burn::tensor::Device;
use burn_roi_detection::RunLengths;
use burn_roi_detection::data::coco::CocoDataset;
use burn_roi_detection::train::{Object, Sample, TrainingBatch, mirrored_keypoints, with_new_classes};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::configs::config;
use super::parity::{Recording, detector};

use crate::bad_input::assert_error;

fn sample() -> Sample {
    let object = Object {
        mask: Some(RunLengths::from_pixels(
            &[true, true, false, false, true, false],
            [2, 3],
        )),
        keypoints: vec![[0.5, 1.0, 2.0], [2.5, 0.0, 1.0], [1.0, 1.0, 0.0]],
        ..Object::new([0.0, 0.0, 2.0, 2.0], 1)
    };
    Sample::new([2, 3], (0..18).collect(), vec![object])
}

#[test]
fn a_mirror_image() {
    let flipped = sample().flip(&mirrored_keypoints(&["left_hand", "right_hand", "nose"]));
    assert_eq!(flipped.pixels[..9], [6, 7, 8, 3, 4, 5, 0, 1, 2]);
    assert_eq!(flipped.pixels[9..], [15, 16, 17, 12, 13, 14, 9, 10, 11]);
    let object = &flipped.objects[0];
    assert_eq!(object.corners, [1.0, 0.0, 3.0, 2.0]);
    let mask = object.mask.as_ref().unwrap();
    assert_eq!(mask.decode(), [false, true, true, false, true, false]);
    // The hands change places, and the nose has no label.
    assert_eq!(object.keypoints, [[0.5, 0.0, 1.0], [2.5, 1.0, 2.0], [0.0; 3]]);
}

#[test]
fn the_mirror_image_of_a_mirror_image_is_the_sample() {
    let mut sample = sample();
    sample.objects[0].keypoints.pop();
    for mirrored in [&[1, 0][..], &[], &[0, 9]] {
        assert_eq!(sample.clone().flip(mirrored).flip(mirrored), sample, "{mirrored:?}");
    }
}

#[test]
fn keypoints_whose_names_have_no_side() {
    assert_eq!(
        mirrored_keypoints(&["left_eye", "nose", "right_eye", "left_ear"]),
        [2, 1, 0, 3]
    );
    assert_eq!(mirrored_keypoints::<&str>(&[]), Vec::<usize>::new());
}

#[test]
fn samples_that_do_not_fit() {
    let of = |size, bytes, object| Sample::try_new(size, vec![0; bytes], vec![object]);
    let object = |corners, label| Object::new(corners, label);
    let fits = object([0.0, 0.0, 1.0, 1.0], 1);
    assert!(of([2, 3], 18, fits.clone()).is_ok());
    assert_error(
        of([0, 3], 0, fits.clone()),
        "`size` is [0, 3], but must be above 0 in height and in width",
    );
    assert_error(
        of([2, 3], 6, fits.clone()),
        "`pixels` has length 6, but must have length 18: one for each channel of each pixel of `size`",
    );
    for (corners, text) in [
        ([1.0, 0.0, 1.0, 1.0], "[1.0, 0.0, 1.0, 1.0]"),
        ([0.0, f32::NAN, 1.0, 1.0], "[0.0, NaN, 1.0, 1.0]"),
    ] {
        assert_error(
            of([2, 3], 18, object(corners, 1)),
            &format!(
                "`objects[_].corners` row 0 of image 0 is {text}, but must be finite, with x1 below x2 and y1 below y2"
            ),
        );
    }
    assert_error(
        of([2, 3], 18, object([0.0, 0.0, 1.0, 1.0], 0)),
        "`objects[_].label` row 0 of image 0 is 0, but must be above 0, which is the background",
    );
    let mask = Some(RunLengths::from_counts(&[6], [3, 2]));
    assert_error(
        of([2, 3], 18, Object { mask, ..fits.clone() }),
        "`objects[_].mask` row 0 of image 0 is of size [3, 2], but must be of the size of the picture",
    );
    let keypoints = vec![[0.0, f32::INFINITY, 1.0]];
    assert_error(
        of([2, 3], 18, Object { keypoints, ..fits }),
        "`objects[_].keypoints` row 0 of image 0 is with inf, but must be finite in f32",
    );
}

#[test]
fn an_image_of_a_coco_file() {
    let json = r#"{
        "images": [{"id": 9, "height": 4, "width": 5}],
        "categories": [{"id": 17, "name": "cat"}, {"id": 20, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 9, "category_id": 20, "iscrowd": 0, "area": 6, "bbox": [3, 1, 9, 2],
             "segmentation": [[3, 1, 5, 1, 5, 3, 3, 3]]},
            {"id": 2, "image_id": 9, "category_id": 17, "iscrowd": 1, "area": 6, "bbox": [0, 0, 2, 2],
             "segmentation": {"size": [4, 5], "counts": [0, 20]}},
            {"id": 3, "image_id": 9, "category_id": 17, "iscrowd": 0, "area": 6, "bbox": [2, 0, 0, 2]}
        ]
    }"#;
    let dataset = CocoDataset::from_json(json.as_bytes()).unwrap();
    let sample = Sample::try_from_coco(&dataset, 9, [4, 5], vec![0; 60]).unwrap();
    // The crowd is left out, and so is a box without a width.
    assert_eq!(sample.objects.len(), 1);
    let object = &sample.objects[0];
    assert_eq!((object.corners, object.label), ([3.0, 1.0, 5.0, 3.0], 2));
    let mask = object.mask.as_ref().unwrap();
    assert_eq!(mask.decode()[5..10], [false, false, false, true, true]);
    assert_eq!(mask.area(), 4);
    assert!(Sample::try_from_coco(&dataset, 9, [5, 5], vec![0; 75]).is_err());
}

/// Flaws that cost an evaluation nothing: an image without a size, a box outside of it, and an invalid mask.
#[test]
fn a_flawed_image_of_a_coco_file() {
    let json = r#"{
        "images": [{"id": 9, "height": 0}],
        "categories": [{"id": 17, "name": "cat"}],
        "annotations": [
            {"id": 1, "image_id": 9, "category_id": 17, "bbox": [3, 1, 9, 2],
             "segmentation": [[3, 1, 5, 1, 5, 3, 3, 3]]},
            {"id": 2, "image_id": 9, "category_id": 17, "bbox": [6, 0, 2, 2]},
            {"id": 3, "image_id": 9, "category_id": 17, "bbox": [1, 0, 2, 2], "segmentation": [[1, 0, 3, 2]]}
        ]
    }"#;
    let dataset = CocoDataset::from_json(json.as_bytes()).unwrap();
    let sample = Sample::try_from_coco(&dataset, 9, [4, 5], vec![0; 60]).unwrap();
    let corners: Vec<[f32; 4]> = sample.objects.iter().map(|object| object.corners).collect();
    assert_eq!(corners, [[3.0, 1.0, 5.0, 3.0], [1.0, 0.0, 3.0, 2.0]]);
    assert_eq!(sample.objects[0].mask.as_ref().unwrap().area(), 4);
    assert_eq!(sample.objects[1].mask, None);
}

#[test]
fn objects_are_resized_with_their_picture() {
    let config = config("mask");
    let mut object = Object::new([1.0, 0.0, 2.0, 2.0], 1);
    object.mask = Some(RunLengths::from_pixels(&[false, true, false, true], [2, 2]));
    let sample = Sample::new([2, 2], vec![0; 12], vec![object]);
    let batch = TrainingBatch::new(&[sample], &config, &Device::flex());
    assert_eq!(batch.images.image_sizes, [[64, 64]]);
    let truth = &batch.truth[0];
    let boxes: Vec<f32> = truth.boxes.to_data().iter::<f32>().collect();
    assert_eq!(boxes, [32.0, 0.0, 64.0, 64.0]);
    let mask: Vec<f32> = truth.masks.as_ref().unwrap().to_data().iter::<f32>().collect();
    assert!(mask.chunks(64).all(|row| row[..32].iter().all(|&pixel| pixel == 0.0)));
    assert!(mask.chunks(64).all(|row| row[32..].iter().all(|&pixel| pixel == 1.0)));
}

#[test]
fn objects_that_the_heads_can_not_learn() {
    let sample = |object| Sample::new([2, 2], vec![0; 12], vec![object]);
    let call = |kind, object| TrainingBatch::try_new(&[sample(object)], &config(kind), &Device::flex());
    let object = |label| Object::new([0.0, 0.0, 1.0, 1.0], label);
    assert!(call("faster", object(2)).is_ok());
    assert_error(
        call("faster", object(3)),
        "`objects[_].label` row 0 of image 0 is 3, but must be above 0, which is the background, and below the 3 \
         classes",
    );
    assert_error(
        call("mask", object(1)),
        "`objects[_].mask` row 0 of image 0 is None, but must be of size [2, 2] as the picture, since there is a mask \
         head",
    );
    assert_error(
        call("keypoint", object(1)),
        "`objects[_].keypoints` row 0 of image 0 is of 0, but must be of the 3 keypoints of the keypoint head",
    );
    assert_error(
        TrainingBatch::try_new(&[], &config("mask"), &Device::flex()),
        "`samples` is an empty list, but must have one entry for each image",
    );
}

#[test]
fn new_classes_keep_the_other_layers() {
    for (kind, classes) in [("mask", ["background", "coin"]), ("cascade", ["coin", "background"])] {
        let before = detector(&Recording::of(kind), kind, &Device::flex());
        let after = with_new_classes(before.clone(), classes.map(String::from).to_vec()).unwrap();
        assert_eq!(after.config().classes.len(), 2);
        let [before, after] = [before, after].map(|detector| StateDict::of(&detector, NameTable::torchvision).unwrap());
        let replaced = ["box_predictor.", "mask_fcn_logits."];
        for (name, data) in &after.tensors {
            let is_replaced = replaced.iter().any(|part| name.contains(part));
            assert_eq!(*data == before.tensors[name], !is_replaced, "{name} of {kind}");
            if name.ends_with("cls_score.weight") {
                assert_eq!(data.shape()[..], [2, 16], "{name} of {kind}");
            }
        }
    }
}
