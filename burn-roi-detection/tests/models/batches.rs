//! Batches of odd pictures, detectors without a feature pyramid, and the order of classes.

use std::thread;

use burn::tensor::{Device, Tensor};
use burn_roi::internal::reads;
use burn_roi_detection::models::{
    Background, BodyConfig, BoxHeadConfig, Detector, DetectorConfig, MaskHeadConfig, Picture, Stage, StageObserver,
};
use burn_roi_detection::weights::{NameTable, StateDict};

use super::narrow::narrow;
use crate::backends::{Backend, backends};
use crate::bad_input::assert_error;

/// Pixels of a picture with `width` columns.
fn pixels([height, width]: [usize; 2]) -> Vec<u8> {
    let pixels = (0..height * width).flat_map(|pixel| [pixel % width, pixel / width, 90]);
    pixels.map(|value| value as u8).collect()
}

fn pictures<'a>(sizes: &[[usize; 2]], bytes: &'a [Vec<u8>]) -> Vec<Picture<'a>> {
    let pairs = sizes.iter().zip(bytes);
    pairs.map(|(&size, bytes)| Picture::from_rgb(size, bytes)).collect()
}

#[test]
fn pictures_of_any_sizes_are_one_batch() {
    let sizes = [[1, 1], [400, 1], [23, 37], [1, 300]];
    let bytes = sizes.map(pixels);
    let pictures = pictures(&sizes, &bytes);
    for name in [
        "maskrcnn_resnet50_fpn_v2",
        "keypointrcnn_resnet50_fpn",
        "fasterrcnn_mobilenet_v3_large_fpn",
    ] {
        // `find_objects` detects on every backend. Each model compiles kernels of its own on a GPU.
        for backend in backends().into_iter().filter(Backend::is_host) {
            let config = narrow(name);
            let (masks, keypoints) = (config.mask_head.is_some(), config.keypoint_head.is_some());
            let found = Detector::new(config, &backend.device).detect(&pictures);
            assert_eq!(found.len(), sizes.len());
            for (instances, size) in found.iter().zip(sizes) {
                assert_eq!(instances.size, size);
                assert_eq!(instances.masks.len(), if masks { instances.len() } else { 0 });
                assert_eq!(instances.keypoints.len(), if keypoints { instances.len() } else { 0 });
                assert!(instances.masks.iter().all(|mask| mask.size() == size));
                for [x1, y1, x2, y2] in &instances.boxes {
                    assert!(*x1 >= 0.0 && *y1 >= 0.0 && x1 <= x2 && y1 <= y2);
                    assert!(*x2 <= size[1] as f32 * 1.001 && *y2 <= size[0] as f32 * 1.001);
                }
            }
        }
    }
}

/// Each thread has the results that one has alone.
#[test]
fn threads_share_a_detector() {
    let size = [40, 56];
    let bytes = pixels(size);
    let pictures = [Picture::from_rgb(size, &bytes)];
    for backend in backends().into_iter().filter(Backend::is_host) {
        let detector = Detector::new(narrow("maskrcnn_resnet50_fpn"), &backend.device);
        let alone = detector.detect(&pictures);
        let of_threads = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| detector.detect(&pictures))).collect();
            let results = threads.into_iter().map(|thread| thread.join().expect("its detections"));
            results.collect::<Vec<_>>()
        });
        assert!(!alone[0].is_empty());
        for found in of_threads {
            assert_eq!(found[0].boxes, alone[0].boxes);
            assert_eq!(found[0].scores, alone[0].scores);
            assert_eq!(found[0].masks, alone[0].masks);
        }
    }
}

/// A read waits until the device has done all that it was given, so that one a picture and class would be slow.
#[test]
fn a_device_is_read_as_often_for_three_pictures_as_for_one() {
    let sizes = [[40, 56], [30, 30], [64, 20]];
    let bytes = sizes.map(pixels);
    let pictures = pictures(&sizes, &bytes);
    for backend in backends().into_iter().filter(|backend| !backend.is_host()) {
        let detector = Detector::new(narrow("maskrcnn_resnet50_fpn"), &backend.device);
        let reads = [1, 3].map(|count| {
            let before = reads();
            let found = detector.detect(&pictures[..count]);
            assert!(found.iter().all(|instances| instances.masks.len() > 1));
            reads() - before
        });
        // Proposals, scores of classes, detections, what was detected, and masks. Where there are no kernels,
        // objectness is read too, and boxes and scores for NMS.
        let expected = if backend.name == "remote" { 8 } else { 5 };
        assert_eq!(reads, [expected; 2], "{}", backend.name);
    }
}

#[test]
fn masks_are_pasted_on_request() {
    let sizes = [[40, 56], [30, 30]];
    let bytes = sizes.map(pixels);
    let pictures = pictures(&sizes, &bytes);
    for Backend { name, device } in backends() {
        let mut config = narrow("maskrcnn_resnet50_fpn");
        let at_once = Detector::new(config.clone(), &device);
        let expected = at_once.detect(&pictures);
        config.mask_head.as_mut().unwrap().pasted = false;
        let mut later = Detector::new(config, &device);
        let state = StateDict::of(&at_once, NameTable::torchvision).unwrap();
        state.load_into(&mut later, NameTable::torchvision).unwrap();
        let before = reads();
        let found = later.detect(&pictures);
        let read = reads() - before;
        assert!(!Stage::of(later.config()).contains(&Stage::Masks));
        assert!(
            found
                .iter()
                .all(|found| found.masks.is_empty() && found.class_masks.is_some())
        );
        // All but the masks, as the test above counts them.
        if name == "wgpu" {
            assert_eq!(read, 4);
        }
        let second = later.paste_masks(found[1..].to_vec());
        assert!(second.len() == 1 && second[0].masks == expected[1].masks, "{name}");
        let both = later.paste_masks(found.clone());
        assert!(
            both.iter()
                .zip(&expected)
                .all(|(found, expected)| found.masks == expected.masks)
        );

        let mut fewer = found;
        fewer[0].boxes.pop();
        let text = "`instances` is without a mask for each box, but must be what this detector detected";
        assert_error(later.try_paste_masks(fewer), text);
    }
}

#[test]
fn nothing_is_found_in_nothing() {
    let device = Device::flex();
    let bytes = pixels([30, 40]);
    let picture = Picture::from_rgb([30, 40], &bytes);
    let mut no_proposal = narrow("maskrcnn_resnet50_fpn");
    no_proposal.region_proposals.score_threshold = 1.1;
    let mut no_detection = narrow("keypointrcnn_resnet50_fpn");
    no_detection.box_head.score_threshold = 1.0;
    for config in [no_proposal, no_detection] {
        let detector = Detector::new(config, &device);
        let found = detector.detect(&[picture.clone(), picture.clone()]);
        assert!(found.len() == 2 && found.iter().all(|instances| instances.is_empty()));
        assert!(detector.detect(&[]).is_empty());
    }
}

/// The stages that began and ended.
#[derive(Default)]
struct Seen(Vec<Stage>, Vec<Stage>);

impl StageObserver for Seen {
    fn waits(&self) -> bool {
        true
    }

    fn begins(&mut self, stage: Stage) {
        self.0.push(stage);
    }

    fn ends(&mut self, stage: Stage) {
        self.1.push(stage);
    }
}

#[test]
fn an_observer_sees_all_stages_in_order() {
    let bytes = pixels([30, 40]);
    for name in ["maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"] {
        let detector = Detector::new(narrow(name), &Device::flex());
        let mut seen = Seen::default();
        let found = detector.detect_observed(&[Picture::from_rgb([30, 40], &bytes)], &mut seen);
        assert!(!found[0].is_empty());
        assert_eq!(seen.0, Stage::of(detector.config()));
        assert_eq!(seen.1, seen.0);
    }
}

/// detectron2's C4: one map of 1/16, whose regions the body's last layer reads; and DC5: one map of a dilated layer.
#[test]
fn a_detector_without_a_pyramid_reads_one_map() {
    let bytes = pixels([48, 64]);
    for on_regions in [true, false] {
        let mut config = narrow("maskrcnn_resnet50_fpn");
        config.feature_pyramid = None;
        config.region_proposals.anchor_sizes = vec![vec![8.0, 16.0, 32.0]];
        config.background = Background::Last;
        if let BodyConfig::ResNet(body) = &mut config.body {
            body.last_layer_on_regions = on_regions;
            body.last_dilation = if on_regions { 1 } else { 2 };
        }
        if on_regions {
            config.box_head = BoxHeadConfig {
                pooled_size: 14,
                score_threshold: 0.0,
                ..BoxHeadConfig::new(vec![], vec![])
            };
            config.mask_head = Some(MaskHeadConfig::new(vec![], 4));
        }
        let detector = Detector::new(config, &Device::flex());
        let images = detector.prepare(&[Picture::from_rgb([48, 64], &bytes)]);
        let levels = detector.feature_pyramid(detector.body(&images));
        assert_eq!(levels.len(), 1);
        // 64 x 85, padded to 64 x 96.
        assert_eq!(levels[0].dims(), [1, 16, 4, 6]);
        let found = &detector.detect(&[Picture::from_rgb([48, 64], &bytes)])[0];
        let side = if on_regions { 14 } else { 28 };
        assert_eq!(found.class_masks.as_ref().unwrap().dims(), [found.len(), 1, side, side]);
        assert!(found.labels.iter().all(|&label| label < 2));
    }
}

/// The same weights with the background moved from the first class to the last are the same detections.
#[test]
fn the_background_may_be_the_last_class() {
    let device = Device::flex();
    let bytes = pixels([48, 64]);
    let first = Detector::new(narrow("maskrcnn_resnet50_fpn"), &device);
    let mut state = StateDict::of(&first, NameTable::torchvision).unwrap();
    let classes = first.config().classes.len();
    let moved = [
        "box_predictor.cls_score",
        "box_predictor.bbox_pred",
        "mask_predictor.mask_fcn_logits",
    ];
    for name in moved {
        for kind in ["weight", "bias"] {
            let data = state.tensors.get_mut(&format!("roi_heads.{name}.{kind}")).unwrap();
            let mut shape = data.shape().to_vec();
            let row: usize = shape[1..].iter().product();
            let (values, rows) = (data.clone().try_to_vec::<f32>().unwrap(), shape[0] / classes);
            let (background, rest) = values.split_at(row * rows);
            let mut values = rest.to_vec();
            if name.ends_with("cls_score") {
                values.extend(background);
            } else {
                shape[0] -= rows;
            }
            *data = burn::tensor::TensorData::new(values, shape);
        }
    }
    let mut config = first.config().clone();
    config.background = Background::Last;
    let mut last = Detector::new(config, &device);
    state.load_into(&mut last, NameTable::torchvision).unwrap();
    let [first, last] = [first, last].map(|detector| detector.detect(&[Picture::from_rgb([48, 64], &bytes)]).remove(0));
    assert!(!first.is_empty());
    assert_eq!(
        first.labels,
        last.labels.iter().map(|label| label + 1).collect::<Vec<_>>()
    );
    assert_eq!([first.boxes, vec![]], [last.boxes, vec![]]);
    assert_eq!(first.masks, last.masks);
}

#[test]
fn heads_may_be_on_another_device_and_pictures_tensors() {
    let device = Device::flex();
    let bytes = pixels([20, 30]);
    let values: Vec<f32> = (0..3)
        .flat_map(|channel| {
            bytes
                .iter()
                .skip(channel)
                .step_by(3)
                .map(|&byte| f32::from(byte) / 255.0)
        })
        .collect();
    let tensor = Tensor::<3>::from_data(burn::tensor::TensorData::new(values, [3, 20, 30]), &device);
    let detector = Detector::new(narrow("maskrcnn_resnet50_fpn"), &device);
    let expected = detector.detect(&[Picture::from_rgb([20, 30], &bytes)]).remove(0);
    for backend in backends() {
        let detector = detector.clone().with_heads_on(&backend.device);
        let found = detector.detect(&[Picture::from_tensor(tensor.clone())]).remove(0);
        assert_eq!(found.labels, expected.labels, "on {}", backend.name);
        let differences = found.boxes.as_flattened().iter().zip(expected.boxes.as_flattened());
        assert!(differences.fold(0.0, |largest: f32, (one, other)| largest.max((one - other).abs())) < 1e-2);
    }
}

#[test]
fn pictures_that_are_none_are_refused() {
    let device = Device::flex();
    let cases = [
        (
            Picture::try_from_rgb([2, 2], &[0; 11]).unwrap_err(),
            "must have length 12",
        ),
        (
            Picture::try_from_rgb([0, 2], &[]).unwrap_err(),
            "`size` is of 0 rows and 2 columns",
        ),
        (
            Picture::try_from_rgb([usize::MAX, 2], &[]).unwrap_err(),
            "must have length",
        ),
        (
            Picture::try_from_tensor(Tensor::zeros([4, 2, 2], &device)).unwrap_err(),
            "[3, H, W]",
        ),
        (
            Picture::try_from_tensor(Tensor::zeros([3, 2, 0], &device)).unwrap_err(),
            "above 0 in height and in width",
        ),
    ];
    for (error, expected) in cases {
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut config: DetectorConfig = narrow("fasterrcnn_resnet50_fpn");
    config.preprocessing.min_size = 1 << 40;
    config.preprocessing.max_size = 1 << 40;
    let bytes = pixels([2, 2]);
    let error = Detector::new(config, &device)
        .try_detect(&[Picture::from_rgb([2, 2], &bytes)])
        .unwrap_err();
    assert!(error.to_string().contains("must fit into the memory"), "{error}");
}

#[test]
fn heads_of_other_classes_are_refused() {
    let device = Device::flex();
    let detector = Detector::new(narrow("maskrcnn_resnet50_fpn"), &device);
    let classes = detector.config().classes.clone();
    let heads = detector.heads().clone();
    let same = detector.clone().try_with_heads(heads.clone(), classes.clone()).unwrap();
    assert_eq!(same.config(), detector.config());
    let more = [classes.clone(), vec!["cross".to_string()]].concat();
    let error = detector.clone().try_with_heads(heads, more).unwrap_err().to_string();
    assert_eq!(
        error,
        "`heads` is modules whose box_predictor.bbox_pred.bias is [12], but must be modules for this config and these \
         classes"
    );
    let heads = Detector::new(narrow("keypointrcnn_resnet50_fpn"), &device)
        .heads()
        .clone();
    let error = detector.try_with_heads(heads, classes).unwrap_err().to_string();
    assert!(error.contains("`heads` is modules whose"), "{error}");
}
