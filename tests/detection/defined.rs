//! What torchvision leaves open or fails on, and what is said of it here.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_roi::detection::*;

use crate::backends::backends;

const NAN: f32 = f32::NAN;

#[test]
fn scores_that_are_nan_are_not_kept() {
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
fn numbers_that_are_nan_are_no_detections_and_no_proposals() {
    for backend in backends() {
        let device = &backend.device;
        let logits = Tensor::<2>::from_floats([[0.0, 9.0], [0.0, NAN], [0.0, 9.0]], device);
        let mut codes = [[0.0; 8]; 3];
        codes[2][6] = NAN;
        let codes = Tensor::<2>::from_floats(codes, device);
        let apart = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, 12.0, 4.0], [0.0, 8.0, 4.0, 12.0]];
        let boxes = Tensor::<2>::from_floats(apart, device);
        let config = DetectionConfig::new();
        let found = postprocess_detections(logits, codes, vec![boxes], &[[20, 20]], &config);
        assert_eq!(found[0].len(), 1, "{}", backend.name);

        let rows = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, NAN, 4.0], [0.0, 8.0, 4.0, 12.0]];
        let proposals = Tensor::<3>::from_floats([rows], device);
        let objectness = Tensor::<2>::from_floats([[1.0, 1.0, NAN]], device);
        let config = ProposalConfig::new();
        let (boxes, _) = filter_proposals(proposals, objectness, &[[20, 20]], &[3], &config);
        assert_eq!(boxes[0].dims(), [1, 4], "{}", backend.name);
    }
}

#[test]
fn of_equal_objectness_the_first_are_considered() {
    for backend in backends() {
        let device = &backend.device;
        let rows = [0.0, 10.0, 20.0, 30.0].map(|x| [x, 0.0, x + 4.0, 4.0]);
        let proposals = Tensor::<3>::from_floats([rows], device);
        let objectness = Tensor::<2>::from_floats([[0.5, 0.5, 0.7, 0.5]], device);
        let config = ProposalConfig::new().with_pre_nms_top_n(2);
        let (boxes, _) = filter_proposals(proposals, objectness, &[[40, 40]], &[4], &config);
        let kept: Vec<f32> = boxes[0].to_data().iter::<f32>().collect();
        assert_eq!(kept, [20.0, 0.0, 24.0, 4.0, 0.0, 0.0, 4.0, 4.0]);
    }
}

#[test]
fn masks_outside_of_the_image_or_inverted_are_nothing() {
    for backend in backends() {
        let device = &backend.device;
        let places = [
            [-30.0, 2.0, -20.0, 9.0],
            [40.0, 2.0, 50.0, 9.0],
            [2.0, -30.0, 9.0, -20.0],
            [2.0, 40.0, 9.0, 50.0],
            [9.0, 9.0, 2.0, 2.0],
            [1e30, -1e30, 2e30, 1e30],
        ];
        let boxes = Tensor::<2>::from_floats(places, device);
        let masks = Tensor::<4>::ones([6, 1, 4, 4], device);
        let pasted = paste_masks_in_image(masks, boxes, [16, 12], 1);
        assert_eq!(pasted.dims(), [6, 1, 16, 12]);
        assert!(pasted.into_data().iter::<f32>().all(|value| value == 0.0));
    }
}

#[test]
fn a_mask_of_a_huge_box_costs_no_more_than_the_image() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[-1e9, -1e9, 1e9, 1e9]], device);
        let masks = Tensor::<4>::ones([1, 1, 4, 4], device);
        let pasted = paste_masks_in_image(masks, boxes, [16, 12], 1);
        assert!(pasted.into_data().iter::<f32>().all(|value| value == 1.0));
    }
}

#[test]
fn images_without_pixels_have_masks_without_pixels() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0]], device);
        let masks = Tensor::<4>::ones([1, 1, 4, 4], device);
        assert_eq!(paste_masks_in_image(masks, boxes, [0, 12], 1).dims(), [1, 1, 0, 12]);
    }
}

#[test]
fn maps_without_pixels_have_no_anchors() {
    for backend in backends() {
        let generator = AnchorGeneratorConfig::new(vec![vec![8.0]], vec![vec![1.0]]).init();
        let anchors = generator.forward([16, 16], &[[0, 4]], &backend.device);
        assert_eq!(anchors[0].dims(), [0, 4]);
        let none = AnchorGeneratorConfig::new(vec![], vec![]).init();
        assert!(none.forward([16, 16], &[], &backend.device).is_empty());
    }
}

#[test]
fn labels_of_any_dtype_choose_masks() {
    for backend in backends() {
        let device = &backend.device;
        let logits = Tensor::<4>::zeros([2, 200, 1, 2], device);
        let labels = TensorData::new(vec![1u8, 199], [2]);
        let labels = Tensor::<1, Int>::from_data(labels, (device, DType::I32));
        let masks = maskrcnn_inference(logits, labels);
        assert!(masks.into_data().iter::<f32>().all(|value| value == 0.5));
    }
}

#[test]
fn a_label_that_names_no_class_has_an_empty_mask_where_it_is_not_read() {
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
        let (logits, codes) = (Tensor::zeros([0, 3], device), Tensor::zeros([0, 12], device));
        let config = DetectionConfig::new();
        assert!(postprocess_detections(logits, codes, vec![], &[], &config).is_empty());

        let (boxes, scores) = (Tensor::zeros([0, 5, 4], device), Tensor::zeros([0, 5], device));
        let config = ProposalConfig::new();
        let (boxes, scores) = filter_proposals(boxes, scores, &[], &[5], &config);
        assert!(boxes.is_empty() && scores.is_empty());
    }
}

#[test]
fn halves_stay_halves() {
    for backend in backends() {
        if !backend.supports(DType::F16) {
            continue;
        }
        let half = (&backend.device, DType::F16);
        let logits = Tensor::<2>::from_data([[0.0, 4.0], [0.0, 2.0]], half);
        let codes = Tensor::<2>::zeros([2, 8], half);
        let rows = [[0.0, 0.0, 4.0, 4.0], [8.0, 0.0, 12.0, 4.0]];
        let boxes = Tensor::<2>::from_data(rows, half);
        let config = DetectionConfig::new();
        let found = postprocess_detections(logits, codes, vec![boxes], &[[20, 10]], &config);
        assert_eq!(found[0].boxes.dtype(), DType::F16);
        assert_eq!(found[0].scores.dtype(), DType::F16);
        let kept: Vec<f32> = found[0].boxes.to_data().iter::<f32>().collect();
        assert_eq!(kept, [0.0, 0.0, 4.0, 4.0, 8.0, 0.0, 10.0, 4.0]);
    }
}

fn ints(tensor: Tensor<1, Int>) -> Vec<i64> {
    tensor.into_data().iter::<i64>().collect()
}
