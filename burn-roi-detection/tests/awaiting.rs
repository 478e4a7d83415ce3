//! The asynchronous form of each function gives what the blocking one gives, from any thread.

use std::thread;

use burn::tensor::{Device, Distribution, Int, Tensor, TensorData, read_sync};
use burn_roi::{AngleConvention, Rois, RotatedRois};
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use crate::backends::backends;

const BOXES: [[f32; 4]; 4] = [
    [0.0, 0.0, 10.0, 10.0],
    [0.0, 0.0, 10.0, 9.0],
    [20.0, 4.0, 20.5, 30.0],
    [12.0, 12.0, 30.0, 28.0],
];

/// Drives a future to its end on a thread of its own, as an executor does that moves its tasks.
fn awaited<T: Send + 'static>(future: impl Future<Output = Result<T, DetectionError>> + Send + 'static) -> T {
    thread::spawn(|| read_sync(future)).join().unwrap().unwrap()
}

fn boxes(device: &Device) -> Tensor<2> {
    Tensor::from_floats(BOXES, device)
}

fn rotated(device: &Device) -> Tensor<2> {
    let angles = Tensor::<2>::from_floats([[0.0], [30.0], [-45.0], [90.0]], device);
    Tensor::cat(vec![boxes(device) + 1.0, angles], 1)
}

fn scores(device: &Device) -> Tensor<1> {
    Tensor::from_floats([0.6, 0.9, 0.7, 0.8], device)
}

fn ints(values: [i64; 4], device: &Device) -> Tensor<1, Int> {
    Tensor::from_ints(values, device)
}

/// The data of one tensor or of many, to compare.
fn data<const D: usize, K: burn::tensor::kind::Basic>(tensors: &[Tensor<D, K>]) -> Vec<TensorData> {
    tensors.iter().map(Tensor::to_data).collect()
}

#[test]
fn regions_are_validated() {
    for backend in backends() {
        let device = &backend.device;
        let rois = Rois::new(boxes(device), ints([0, 1, 0, 1], device));
        awaited({
            let rois = rois.clone();
            async move { Ok(rois.validate_async(2).await?) }
        });
        let expected = burn_roi::RoiError::BatchIndex {
            row: 1,
            index: 1,
            batch: 1,
        };
        assert_eq!(rois.validate(1), Err(expected.clone()), "{}", backend.name);
        assert_eq!(read_sync(rois.validate_async(1)), Err(expected), "{}", backend.name);

        let rotated = RotatedRois::from_images(vec![rotated(device) / 0.0]);
        assert_eq!(
            format!("{:?}", read_sync(rotated.validate_async(1))),
            format!("{:?}", rotated.validate(1)),
            "{}",
            backend.name
        );
    }
}

#[test]
fn boxes_are_chosen() {
    for backend in backends() {
        let device = &backend.device;
        let (all, scores, classes) = (boxes(device), scores(device), ints([1, 1, 2, 2], device));
        let z = Tensor::<2>::zeros([4, 1], device);
        let deep = Tensor::cat(vec![all.clone(), z.clone(), z + 3.0], 1);
        let pairs = [
            (
                remove_small_boxes(all.clone(), 1.0),
                awaited(remove_small_boxes_async(all.clone(), 1.0)),
            ),
            (
                nms(all.clone(), scores.clone(), 0.5),
                awaited(nms_async(all.clone(), scores.clone(), 0.5)),
            ),
            (
                batched_nms(all.clone(), scores.clone(), classes.clone(), 0.5),
                awaited(batched_nms_async(all, scores.clone(), classes.clone(), 0.5)),
            ),
            (
                nms_3d(deep.clone(), scores.clone(), 0.5),
                awaited(nms_3d_async(deep.clone(), scores.clone(), 0.5)),
            ),
            (
                batched_nms_3d(deep.clone(), scores.clone(), classes.clone(), 0.5),
                awaited(batched_nms_3d_async(deep, scores, classes, 0.5)),
            ),
        ];
        for (number, (blocking, awaited)) in pairs.iter().enumerate() {
            assert_eq!(blocking.to_data(), awaited.to_data(), "{}, pair {number}", backend.name);
            assert!(blocking.dims()[0] < 4, "{}, pair {number}", backend.name);
        }
    }
}

#[test]
fn rotated_boxes_are_chosen_and_compared() {
    let convention = AngleConvention::DEGREES_COUNTER_CLOCKWISE;
    for backend in backends() {
        let device = &backend.device;
        let (all, scores, classes) = (rotated(device), scores(device), ints([1, 1, 2, 2], device));
        let kept = nms_rotated(all.clone(), scores.clone(), 0.1, convention);
        let awaited_kept = awaited(nms_rotated_async(all.clone(), scores.clone(), 0.1, convention));
        assert_eq!(kept.to_data(), awaited_kept.to_data(), "{}", backend.name);

        let kept = batched_nms_rotated(all.clone(), scores.clone(), classes.clone(), 0.1, convention);
        let awaited_kept = awaited(batched_nms_rotated_async(all.clone(), scores, classes, 0.1, convention));
        assert_eq!(kept.to_data(), awaited_kept.to_data(), "{}", backend.name);

        let mode = OverlapMode::Iou;
        let overlaps = box_iou_rotated(all.clone(), all.clone(), convention, mode);
        let awaited_overlaps = awaited(box_iou_rotated_async(all.clone(), all.clone(), convention, mode));
        assert_eq!(overlaps.to_data(), awaited_overlaps.to_data(), "{}", backend.name);

        let overlaps = box_iou_rotated_aligned(all.clone(), all.clone(), convention, mode);
        let awaited_overlaps = awaited(box_iou_rotated_aligned_async(all.clone(), all, convention, mode));
        assert_eq!(overlaps.to_data(), awaited_overlaps.to_data(), "{}", backend.name);
    }
}

#[test]
fn a_detector_awaits_its_device() {
    for backend in backends() {
        let device = &backend.device;
        let objectness = scores(device).reshape([1, 4]);
        let decoded = boxes(device).reshape([1, 4, 4]);
        let config = ProposalConfig::new();
        let sizes = [[32, 32]];
        let (proposals, of_proposals) = filter_proposals(decoded.clone(), objectness.clone(), &sizes, &[3, 1], &config);
        let (awaited_proposals, awaited_scores) = awaited(async move {
            filter_proposals_async(decoded, objectness, &[[32, 32]], &[3, 1], &ProposalConfig::new()).await
        });
        assert_eq!(data(&proposals), data(&awaited_proposals), "{}", backend.name);
        assert_eq!(data(&of_proposals), data(&awaited_scores), "{}", backend.name);

        let count = proposals[0].dims()[0];
        let logits = Tensor::<2>::random([count, 3], Distribution::Default, device) * 4.0;
        let deltas = Tensor::<2>::random([count, 12], Distribution::Default, device);
        let config = DetectionConfig::new();
        let found = postprocess_detections(logits.clone(), deltas.clone(), proposals.clone(), &sizes, &config);
        let awaited_found = awaited(async move {
            postprocess_detections_async(logits, deltas, proposals, &[[32, 32]], &DetectionConfig::new()).await
        });
        assert!(!found[0].is_empty(), "{}", backend.name);
        assert_eq!(
            found[0].boxes.to_data(),
            awaited_found[0].boxes.to_data(),
            "{}",
            backend.name
        );
        assert_eq!(
            found[0].scores.to_data(),
            awaited_found[0].scores.to_data(),
            "{}",
            backend.name
        );
        assert_eq!(
            found[0].labels.to_data(),
            awaited_found[0].labels.to_data(),
            "{}",
            backend.name
        );

        let masks = Tensor::<4>::random([4, 1, 7, 7], Distribution::Default, device);
        let pasted = paste_masks_in_image(masks.clone(), boxes(device), [32, 40], 1);
        let awaited_pasted = awaited(paste_masks_in_image_async(masks, boxes(device), [32, 40], 1));
        assert_eq!(pasted.to_data(), awaited_pasted.to_data(), "{}", backend.name);
    }
}

#[test]
fn errors_are_those_of_the_blocking_form() {
    for backend in backends() {
        let device = &backend.device;
        let few = || Tensor::<1>::ones([3], device);
        let blocking = try_nms(boxes(device), few(), 0.5).unwrap_err();
        assert!(matches!(blocking, DetectionError::Length { .. }), "{blocking}");
        assert_eq!(read_sync(nms_async(boxes(device), few(), 0.5)).unwrap_err(), blocking);

        let masks = || Tensor::<4>::ones([4, 1, 7, 7], device);
        let blocking = try_paste_masks_in_image(masks(), boxes(device) / 0.0, [8, 8], 1).unwrap_err();
        let awaited = read_sync(paste_masks_in_image_async(masks(), boxes(device) / 0.0, [8, 8], 1));
        assert_eq!(awaited.unwrap_err().to_string(), blocking.to_string());
    }
}
