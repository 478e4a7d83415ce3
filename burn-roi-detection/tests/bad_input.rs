//! Errors: each names the argument, its value and what it must be.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Int, Tensor};
use burn_roi::RoiError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use crate::backends::{Backend, backends};

pub fn floats<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::zeros(shape, device)
}

#[track_caller]
pub fn assert_error<T>(result: Result<T, DetectionError>, text: &str) {
    match result {
        Ok(_) => panic!("there should be an error: {text}"),
        Err(error) => assert_eq!(error.to_string(), text),
    }
}

#[test]
fn boxes_of_five_columns() {
    for Backend { device, .. } in &backends() {
        let five = || floats([2, 5], device);
        let boxes = || floats([2, 4], device);
        let text = |name| format!("`{name}` has shape [2, 5], but must have shape [K, 4]");
        assert_error(try_box_area(five()), &text("boxes"));
        assert_error(try_box_iou(five(), boxes()), &text("left"));
        assert_error(try_box_iou(boxes(), five()), &text("right"));
        assert_error(try_clip_boxes_to_image(five(), [4, 4]), &text("boxes"));
        assert_error(try_remove_small_boxes(five(), 1.0), &text("boxes"));
        assert_error(try_nms(five(), floats([2], device), 0.5), &text("boxes"));
        let coder = BoxCoder::new([1.0; 4]);
        assert_error(coder.try_encode(five(), boxes()), &text("reference"));
        assert_error(coder.try_encode(boxes(), five()), &text("proposals"));
        assert_error(coder.try_decode(boxes(), five()), &text("boxes"));
        let masks = floats([2, 1, 4, 4], device);
        assert_error(try_paste_masks_in_image(masks, five(), [4, 4], 1), &text("boxes"));

        let deep = || floats([2, 6], device);
        let text = |name| format!("`{name}` has shape [2, 5], but must have shape [K, 6]");
        assert_error(try_box_volume(five()), &text("boxes"));
        assert_error(try_box_iou_3d(five(), deep()), &text("left"));
        assert_error(try_box_iou_3d(deep(), five()), &text("right"));
        assert_error(try_nms_3d(five(), floats([2], device), 0.5), &text("boxes"));
        let classes = Tensor::<1, Int>::zeros([2], device);
        assert_error(
            try_batched_nms_3d(five(), floats([2], device), classes, 0.5),
            &text("boxes"),
        );
    }
}

#[test]
fn lengths_that_differ() {
    for Backend { device, .. } in &backends() {
        let boxes = || floats([2, 4], device);
        assert_error(
            try_nms(boxes(), floats([3], device), 0.5),
            "`scores` has length 3, but must have length 2: one for each row of `boxes`",
        );
        let classes = Tensor::<1, Int>::from_ints([1], device);
        assert_error(
            try_batched_nms(boxes(), floats([2], device), classes, 0.5),
            "`classes` has length 1, but must have length 2: one for each row of `boxes`",
        );
        assert_error(
            try_nms_3d(floats([2, 6], device), floats([3], device), 0.5),
            "`scores` has length 3, but must have length 2: one for each row of `boxes`",
        );
        let coder = BoxCoder::new([1.0; 4]);
        assert_error(
            coder.try_encode(boxes(), floats([3, 4], device)),
            "`proposals` has length 3, but must have length 2: one for each row of `reference`",
        );
        assert_error(
            coder.try_decode(floats([3, 8], device), boxes()),
            "`deltas` has length 3, but must have length 2: one for each row of `boxes`",
        );
        assert_error(
            coder.try_decode(floats([2, 6], device), boxes()),
            "`deltas` has shape [2, 6], but must have shape [K, 4 * C]",
        );
        let labels = Tensor::<1, Int>::from_ints([1], device);
        assert_error(
            try_maskrcnn_inference(floats([2, 3, 4, 4], device), labels),
            "`labels` has length 1, but must have length 2: one for each row of `mask_logits`",
        );
        assert_error(
            try_paste_masks_in_image(floats([3, 1, 4, 4], device), boxes(), [4, 4], 1),
            "`masks` has length 3, but must have length 2: one for each row of `boxes`",
        );
        let expected = "`masks` has shape [2, 1, 4, 5], but must have shape [K, 1, M, M], with M above 0";
        assert_error(
            try_paste_masks_in_image(floats([2, 1, 4, 5], device), boxes(), [4, 4], 1),
            expected,
        );
        let masks = floats([2, 3, 4, 4], device);
        assert!(try_paste_masks_in_image(masks, boxes(), [4, 4], 1).is_err());
        let masks = floats([2, 1, 0, 0], device);
        assert!(try_paste_masks_in_image(masks, boxes(), [4, 4], 1).is_err());
    }
}

#[test]
fn inputs_of_detections_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let config = DetectionConfig::new();
        let call = |logits: [usize; 2], deltas: [usize; 2], images: &[[usize; 2]], sizes: usize| {
            let proposals = images.iter().map(|&shape| floats(shape, device)).collect();
            let (logits, deltas) = (floats(logits, device), floats(deltas, device));
            try_postprocess_detections(logits, deltas, proposals, &vec![[8, 8]; sizes], &config)
        };
        assert!(call([3, 2], [3, 8], &[[1, 4], [2, 4]], 2).is_ok());
        assert_error(
            call([3, 2], [4, 8], &[[3, 4]], 1),
            "`box_regression` has length 4, but must have length 3: one for each row of `class_logits`",
        );
        assert_error(
            call([3, 2], [3, 12], &[[3, 4]], 1),
            "`box_regression` has shape [3, 12], but must have shape [K, 4 * classes] or [K, 4], \
             where `class_logits` is [K, classes]",
        );
        assert_error(
            call([3, 2], [3, 8], &[[1, 4], [1, 4]], 2),
            "`proposals` has length 2, but must have length 3: one for each row of `class_logits`",
        );
        assert_error(
            call([3, 2], [3, 8], &[[3, 5]], 1),
            "`proposals` has shape [3, 5], but must have shape [K, 4]",
        );
        assert_error(
            call([3, 2], [3, 8], &[[3, 4]], 2),
            "`image_sizes` has length 2, but must have length 1: one for each image of `proposals`",
        );
    }
}

#[test]
fn inputs_of_proposals_that_do_not_match() {
    for Backend { device, .. } in &backends() {
        let config = ProposalConfig::new();
        let call = |proposals: [usize; 3], objectness: [usize; 2], sizes: usize, levels: &[usize]| {
            let (proposals, objectness) = (floats(proposals, device), floats(objectness, device));
            try_filter_proposals(proposals, objectness, &vec![[8, 8]; sizes], levels, &config)
        };
        assert!(call([2, 3, 4], [2, 3], 2, &[1, 2]).is_ok());
        assert_error(
            call([2, 3, 5], [2, 3], 2, &[3]),
            "`proposals` has shape [2, 3, 5], but must have shape [N, A, 4]",
        );
        assert_error(
            call([2, 3, 4], [3, 2], 2, &[3]),
            "`objectness` has shape [3, 2], but must have shape [N, A], where `proposals` is [N, A, 4]",
        );
        assert_error(
            call([2, 3, 4], [2, 3], 1, &[3]),
            "`image_sizes` has length 1, but must have length 2: one for each image of `proposals`",
        );
        assert_error(
            call([2, 3, 4], [2, 3], 2, &[1, 1]),
            "`anchors_per_level` is [1, 1], but must be counts whose sum is A, where `proposals` is [N, A, 4]",
        );
        assert!(call([2, 3, 4], [2, 3], 2, &[usize::MAX, 4]).is_err());
    }
}

#[test]
fn options_out_of_range() {
    let device = &backends()[0].device;
    let boxes = || floats([2, 4], device);
    assert_error(
        try_nms(boxes(), floats([2], device), f64::NAN),
        "`iou_threshold` is NaN, but must be a number",
    );
    assert_error(
        try_nms_3d(floats([2, 6], device), floats([2], device), f64::NAN),
        "`iou_threshold` is NaN, but must be a number",
    );
    assert!(try_remove_small_boxes(boxes(), f64::NAN).is_err());
    assert_error(
        BoxCoder::new([1.0, 0.0, 1.0, 1.0]).try_decode(boxes(), boxes()),
        "`weights` is [1.0, 0.0, 1.0, 1.0], but must be finite and not 0",
    );
    let clip = BoxCoder::new([1.0; 4]).with_bbox_xform_clip(f64::NAN);
    assert!(clip.try_encode(boxes(), boxes()).is_err());

    let configs = [
        DetectionConfig {
            score_threshold: f64::NAN,
            ..DetectionConfig::new()
        },
        DetectionConfig {
            nms_threshold: f64::NAN,
            ..DetectionConfig::new()
        },
        DetectionConfig {
            min_size: f64::NAN,
            ..DetectionConfig::new()
        },
        DetectionConfig {
            box_weights: [0.0; 4],
            ..DetectionConfig::new()
        },
    ];
    for config in configs {
        let (logits, deltas) = (floats([2, 1], device), floats([2, 4], device));
        let images = try_postprocess_detections(logits, deltas, vec![boxes()], &[[8, 8]], &config);
        assert!(matches!(images, Err(DetectionError::Roi(RoiError::Option { .. }))));
    }
    let configs = [
        ProposalConfig {
            score_threshold: f64::NAN,
            ..ProposalConfig::new()
        },
        ProposalConfig {
            nms_threshold: f64::NAN,
            ..ProposalConfig::new()
        },
        ProposalConfig {
            min_size: f64::NAN,
            ..ProposalConfig::new()
        },
    ];
    for config in configs {
        let (proposals, objectness) = (floats([1, 2, 4], device), floats([1, 2], device));
        let proposals = try_filter_proposals(proposals, objectness, &[[8, 8]], &[2], &config);
        assert!(matches!(proposals, Err(DetectionError::Roi(RoiError::Option { .. }))));
    }
}

#[test]
fn options_of_anchors_out_of_range() {
    let device = &backends()[0].device;
    assert_error(
        AnchorGeneratorConfig::new(vec![vec![8.0]; 2], vec![vec![1.0]]).try_init(),
        "`aspect_ratios` has length 1, but must have length 2: one for each list of `sizes`",
    );
    assert_error(
        AnchorGeneratorConfig::new(vec![vec![8.0, -1.0]], vec![vec![1.0]]).try_init(),
        "`sizes` is -1 for one feature map, but must be finite and above 0",
    );
    assert!(
        AnchorGeneratorConfig::new(vec![vec![8.0]], vec![vec![f64::NAN]])
            .try_init()
            .is_err()
    );
    let generator = AnchorGeneratorConfig::new(vec![vec![8.0]; 2], vec![vec![1.0]; 2]).init();
    assert_error(
        generator.try_forward([8, 8], &[[1, 1]], device),
        "`map_sizes` has length 1, but must have length 2: one for each feature map",
    );
    assert_error(
        generator.try_forward([8, 8], &[[1, 1], [1 << 32, 1 << 32]], device),
        "the anchors of a feature map would have shape [4294967296, 4294967296, 1, 4] of F32, but must fit into the \
         memory of its device",
    );
}

#[test]
fn values_out_of_range() {
    for backend in &backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0], [0.0, f32::NAN, 4.0, 4.0]], device);
        assert_error(
            try_paste_masks_in_image(floats([2, 1, 4, 4], device), boxes, [8, 8], 1),
            "`boxes` row 1 is [0.0, NaN, 4.0, 4.0], but must be finite",
        );
        if backend.is_host() {
            for (label, rows) in [(3, [0, 3]), (-1, [2, -1])] {
                let labels = Tensor::<1, Int>::from_ints(rows, device);
                assert_error(
                    try_maskrcnn_inference(floats([2, 3, 4, 4], device), labels),
                    &format!("`labels` row 1 is {label}, but must be at least 0 and below the 3 classes"),
                );
            }
        }
    }
}

#[test]
fn dtypes_that_differ() {
    for backend in &backends() {
        if !backend.supports(DType::F64) {
            continue;
        }
        let device = &backend.device;
        let double = Tensor::<2>::zeros([2, 4], (device, DType::F64));
        let expected = "`right` is of dtype F64, but must be of F32, as `left` is";
        assert_error(try_box_iou(floats([2, 4], device), double.clone()), expected);
        let deep = Tensor::<2>::zeros([2, 6], (device, DType::F64));
        assert_error(try_box_iou_3d(floats([2, 6], device), deep), expected);
        let coder = BoxCoder::new([1.0; 4]);
        assert!(coder.try_encode(floats([2, 4], device), double.clone()).is_err());
        // Decoded boxes have the dtype of the boxes, whatever the dtype of the box deltas.
        let decoded = coder.try_decode(floats([2, 4], device), double);
        assert_eq!(decoded.expect("dtypes may differ").dtype(), DType::F64);
    }
}

#[test]
#[cfg(all(feature = "flex", feature = "ndarray"))]
fn devices_that_differ() {
    #[allow(deprecated)]
    let (left, right) = (&Device::flex(), &Device::ndarray());
    let on_right = |result: Result<(), DetectionError>| {
        assert!(
            matches!(result, Err(DetectionError::Roi(RoiError::Device { .. }))),
            "{result:?}"
        );
    };
    let boxes = || floats([2, 4], left);
    on_right(try_box_iou(boxes(), floats([2, 4], right)).map(drop));
    on_right(try_nms(boxes(), floats([2], right), 0.5).map(drop));
    on_right(try_box_iou_3d(floats([2, 6], left), floats([2, 6], right)).map(drop));
    on_right(try_nms_3d(floats([2, 6], left), floats([2], right), 0.5).map(drop));
    let classes = Tensor::<1, Int>::from_ints([1, 1], right);
    on_right(try_batched_nms(boxes(), floats([2], left), classes, 0.5).map(drop));
    let coder = BoxCoder::new([1.0; 4]);
    on_right(coder.try_encode(boxes(), floats([2, 4], right)).map(drop));
    on_right(coder.try_decode(floats([2, 4], right), boxes()).map(drop));
    let labels = Tensor::<1, Int>::from_ints([1, 1], right);
    on_right(try_maskrcnn_inference(floats([2, 3, 4, 4], left), labels).map(drop));
    on_right(try_paste_masks_in_image(floats([2, 1, 4, 4], right), boxes(), [8, 8], 1).map(drop));

    let config = DetectionConfig::new();
    let logits = floats([2, 1], left);
    let proposals = vec![floats([2, 4], right)];
    on_right(try_postprocess_detections(logits, boxes(), proposals, &[[8, 8]], &config).map(drop));
    let config = ProposalConfig::new();
    let (proposals, objectness) = (floats([1, 2, 4], left), floats([1, 2], right));
    on_right(try_filter_proposals(proposals, objectness, &[[8, 8]], &[2], &config).map(drop));
}

#[test]
fn panics_have_the_text_of_the_error() {
    let device = &backends()[0].device;
    let panic = catch_unwind(AssertUnwindSafe(|| box_area(floats([2, 5], device)))).expect_err("the shape is wrong");
    let text = panic.downcast_ref::<String>().expect("a panic should have text");
    assert_eq!(text, "`boxes` has shape [2, 5], but must have shape [K, 4]");
}
