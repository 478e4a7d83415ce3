//! Results where torchvision's are undefined or where it fails: NaN scores, equal scores, masks that are not in bounds,
//! empty images and maps, labels out of range.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_roi_detection::*;

use crate::backends::backends;

const NAN: f32 = f32::NAN;

#[test]
fn nms_drops_nan_scores() {
    for backend in backends() {
        let device = &backend.device;
        let apart = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, 12.0, 4.0], [0.0, 8.0, 4.0, 12.0]];
        let boxes = Tensor::<2>::from_floats(apart, device);
        let scores = Tensor::<1>::from_floats([0.1, NAN, 0.3], device);
        let classes = Tensor::<1, Int>::from_ints([1, 1, 2], device);
        assert_eq!(ints(nms(boxes.clone(), scores.clone(), 0.5)), [2, 0]);
        assert_eq!(ints(batched_nms(boxes.clone(), scores, classes, 0.5)), [2, 0]);

        let none = Tensor::<1>::from_floats([NAN; 3], device);
        assert!(ints(nms(boxes, none, 0.5)).is_empty());
    }
}

#[test]
fn nan_gives_no_detection_and_no_proposal() {
    for backend in backends() {
        let device = &backend.device;
        let logits = Tensor::<2>::from_floats([[0.0, 9.0], [0.0, NAN], [0.0, 9.0]], device);
        let mut deltas = [[0.0; 8]; 3];
        deltas[2][6] = NAN;
        let deltas = Tensor::<2>::from_floats(deltas, device);
        let apart = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, 12.0, 4.0], [0.0, 8.0, 4.0, 12.0]];
        let boxes = Tensor::<2>::from_floats(apart, device);
        let config = DetectionConfig::new();
        let images = postprocess_detections(logits, deltas, vec![boxes], &[[20, 20]], &config);
        assert_eq!(images[0].len(), 1, "{}", backend.name);

        let rows = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, NAN, 4.0], [0.0, 8.0, 4.0, 12.0]];
        let proposals = Tensor::<3>::from_floats([rows], device);
        let objectness = Tensor::<2>::from_floats([[1.0, 1.0, NAN]], device);
        let config = ProposalConfig::new();
        let (boxes, _) = filter_proposals(proposals, objectness, &[[20, 20]], &[3], &config);
        assert_eq!(boxes[0].dims(), [1, 4], "{}", backend.name);
    }
}

#[test]
fn of_equal_objectness_the_first_anchors_are_taken() {
    for backend in backends() {
        let device = &backend.device;
        let rows = [0.0, 10.0, 20.0, 30.0].map(|x| [x, 0.0, x + 4.0, 4.0]);
        let proposals = Tensor::<3>::from_floats([rows], device);
        let objectness = Tensor::<2>::from_floats([[0.5, 0.5, 0.7, 0.5]], device);
        let config = ProposalConfig {
            pre_nms_top_n: 2,
            ..ProposalConfig::new()
        };
        let (boxes, _) = filter_proposals(proposals, objectness, &[[40, 40]], &[4], &config);
        let kept: Vec<f32> = boxes[0].to_data().iter::<f32>().collect();
        assert_eq!(kept, [20.0, 0.0, 24.0, 4.0, 0.0, 0.0, 4.0, 4.0]);
    }
}

#[test]
fn boxes_that_are_inverted_or_not_in_bounds_have_empty_masks() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = [
            [-30.0, 2.0, -20.0, 9.0],
            [40.0, 2.0, 50.0, 9.0],
            [2.0, -30.0, 9.0, -20.0],
            [2.0, 40.0, 9.0, 50.0],
            [9.0, 9.0, 2.0, 2.0],
            [1e30, -1e30, 2e30, 1e30],
        ];
        let boxes = Tensor::<2>::from_floats(boxes, device);
        let masks = Tensor::<4>::ones([6, 1, 4, 4], device);
        let pasted = paste_masks_in_image(masks, boxes, [16, 12], 1);
        assert_eq!(pasted.dims(), [6, 1, 16, 12]);
        assert!(pasted.into_data().iter::<f32>().all(|value| value == 0.0));
    }
}

#[test]
fn a_huge_box_fills_the_image_with_its_mask() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[-1e9, -1e9, 1e9, 1e9]], device);
        let masks = Tensor::<4>::ones([1, 1, 4, 4], device);
        let pasted = paste_masks_in_image(masks, boxes, [16, 12], 1);
        assert!(pasted.into_data().iter::<f32>().all(|value| value == 1.0));
    }
}

#[test]
fn images_without_pixels_give_masks_without_pixels() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0]], device);
        let masks = Tensor::<4>::ones([1, 1, 4, 4], device);
        assert_eq!(paste_masks_in_image(masks, boxes, [0, 12], 1).dims(), [1, 1, 0, 12]);
    }
}

#[test]
fn feature_maps_without_pixels_have_no_anchors() {
    for backend in backends() {
        let generator = AnchorGeneratorConfig::new(vec![vec![8.0]], vec![vec![1.0]]).init();
        let anchors = generator.forward([16, 16], &[[0, 4]], &backend.device);
        assert_eq!(anchors[0].dims(), [0, 4]);
        let none = AnchorGeneratorConfig::new(vec![], vec![]).init();
        assert!(none.forward([16, 16], &[], &backend.device).is_empty());
    }
}

#[test]
fn class_masks_take_labels_of_any_dtype() {
    // Each mask of class c has the logit c / 100. In u8, the row 200 + 199 of the second mask would overflow.
    let logits: Vec<f32> = (0..400).map(|row| (row % 200) as f32 / 100.0).collect();
    for backend in backends() {
        let device = &backend.device;
        for dtype in [DType::U8, DType::I32, DType::I64] {
            if !device.supports_dtype(dtype) {
                continue;
            }
            let logits = Tensor::<4>::from_data(TensorData::new(logits.clone(), [2, 200, 1, 1]), device);
            let labels = Tensor::<1, Int>::from_data(TensorData::new(vec![1u8, 199], [2]), (device, dtype));
            let masks: Vec<f32> = maskrcnn_inference(logits, labels).into_data().iter::<f32>().collect();
            for (mask, logit) in masks.into_iter().zip([0.01f32, 1.99]) {
                let expected = 1.0 / (1.0 + (-logit).exp());
                assert!((mask - expected).abs() < 1e-5, "{} {dtype:?}: {mask}", backend.name);
            }
        }
    }
}

#[test]
fn a_label_out_of_range_has_an_empty_mask_on_devices_that_are_not_read() {
    for backend in backends().into_iter().filter(|backend| !backend.is_host()) {
        let device = &backend.device;
        let logits = Tensor::<4>::ones([3, 2, 2, 2], device);
        let labels = Tensor::<1, Int>::from_ints([1, 2, -1], device);
        let sums = maskrcnn_inference(logits, labels).sum_dim(3).sum_dim(2);
        let sums: Vec<f32> = sums.into_data().iter::<f32>().collect();
        assert!(sums[0] > 2.0 && sums[1] == 0.0 && sums[2] == 0.0, "{sums:?}");
    }
}

#[test]
fn no_images_give_no_detections_and_no_proposals() {
    for backend in backends() {
        let device = &backend.device;
        let (logits, deltas) = (Tensor::zeros([0, 3], device), Tensor::zeros([0, 12], device));
        let config = DetectionConfig::new();
        assert!(postprocess_detections(logits, deltas, vec![], &[], &config).is_empty());

        let (boxes, scores) = (Tensor::zeros([0, 5, 4], device), Tensor::zeros([0, 5], device));
        let config = ProposalConfig::new();
        let (boxes, scores) = filter_proposals(boxes, scores, &[], &[5], &config);
        assert!(boxes.is_empty() && scores.is_empty());
    }
}

#[test]
fn detections_from_f16_are_f16() {
    for backend in backends() {
        if !backend.supports(DType::F16) {
            continue;
        }
        let half = (&backend.device, DType::F16);
        let logits = Tensor::<2>::from_data([[0.0, 4.0], [0.0, 2.0]], half);
        let deltas = Tensor::<2>::zeros([2, 8], half);
        let rows = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, 12.0, 4.0]];
        let boxes = Tensor::<2>::from_data(rows, half);
        let config = DetectionConfig::new();
        let images = postprocess_detections(logits, deltas, vec![boxes], &[[20, 10]], &config);
        assert_eq!(images[0].boxes.dtype(), DType::F16);
        assert_eq!(images[0].scores.dtype(), DType::F16);
        let kept: Vec<f32> = images[0].boxes.to_data().iter::<f32>().collect();
        assert_eq!(kept, [0.0, 0.0, 4.0, 4.0, 8.0, 0.0, 10.0, 4.0]);
    }
}

fn ints(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}
