//! Integers that an i64 does not hold.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::AngleConvention;
use burn_roi_detection::*;

use crate::backends::{Backend, backends};
use crate::bad_input::{assert_error, floats};

/// 2⁶³, the first integer that an i64 does not hold.
const LARGE: u64 = 1 << 63;

fn unsigned(values: &[u64], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), (device, DType::U64))
}

fn read(tensor: Tensor<1, Int>) -> Vec<u64> {
    tensor.into_data().iter::<u64>().collect()
}

/// The backends that have integers of 64 bits.
fn with_u64() -> impl Iterator<Item = Backend> {
    let backends = backends().into_iter();
    backends.filter(|backend| backend.is_host())
}

#[test]
fn top_k_of_u64() {
    for Backend { device, name } in with_u64() {
        let input = || unsigned(&[1, LARGE, u64::MAX, LARGE - 1], &device);
        let (elements, indices) = onnx::try_top_k(input(), 3, 0, true).unwrap();
        assert_eq!(elements.dtype(), DType::U64, "{name}");
        assert_eq!(read(elements), [u64::MAX, LARGE, LARGE - 1], "{name}");
        assert_eq!(read(indices), [2, 1, 3], "{name}");
        let (elements, indices) = onnx::try_top_k(input(), 2, 0, false).unwrap();
        assert_eq!(
            (read(elements), read(indices)),
            (vec![1, LARGE - 1], vec![0, 3]),
            "{name}"
        );
    }
}

#[test]
fn classes_of_nms_are_any_u64() {
    for Backend { device, name } in with_u64() {
        let boxes = || Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0]; 3], &device);
        let scores = || Tensor::<1>::from_floats([0.7, 0.8, 0.9], &device);
        let classes = || unsigned(&[LARGE, LARGE, 0], &device);
        let kept = try_batched_nms(boxes(), scores(), classes(), 0.5).unwrap();
        assert_eq!(read(kept), [2, 1], "{name}");

        let rotated = Tensor::<2>::from_floats([[2.0, 2.0, 4.0, 4.0, 0.0]; 3], &device);
        let convention = AngleConvention::DEGREES_COUNTER_CLOCKWISE;
        let kept = try_batched_nms_rotated(rotated, scores(), classes(), 0.5, convention).unwrap();
        assert_eq!(read(kept), [2, 1], "{name}");
    }
}

#[test]
fn labels_above_i64_are_out_of_range() {
    for Backend { device, .. } in with_u64() {
        let text = "`labels` row 1 is 9223372036854775808, but must be at least 0 and below the 2 classes";
        let labels = || unsigned(&[1, LARGE], &device);
        let targets = [floats([2, 4], &device)];
        assert_error(
            try_fastrcnn_loss(floats([2, 2], &device), floats([2, 8], &device), &[labels()], &targets),
            text,
        );
        assert_error(try_maskrcnn_inference(floats([2, 2, 4, 4], &device), labels()), text);
        let sampler = BalancedPositiveNegativeSampler::new(4, 0.5);
        let (objectness, deltas) = (floats([1, 2], &device), floats([1, 2, 4], &device));
        let permutation = &mut random_permutations(0);
        assert_error(
            try_rpn_loss(objectness, deltas, &[labels()], &targets, &sampler, permutation),
            "`labels` row 1 of image 0 is 9223372036854775808, but must be -1, 0 or 1",
        );
    }
}

#[test]
fn ground_truth_above_i64_is_out_of_range() {
    for Backend { device, name } in with_u64() {
        let (boxes, masks) = (
            [Tensor::<2>::from_floats([[0.0, 0.0, 4.0, 4.0]], &device)],
            [floats([1, 8, 8], &device)],
        );
        let (one, large) = ([unsigned(&[1], &device)], [unsigned(&[LARGE], &device)]);
        let largest = match device.settings().int_dtype.into() {
            DType::I64 => i64::MAX,
            DType::I32 => i32::MAX.into(),
            dtype => panic!("{name}: {dtype:?}"),
        };
        assert_error(
            try_assign_targets_to_proposals(&boxes, &boxes, &large, &Matcher::new(0.5, 0.5)),
            &format!(
                "`gt_labels` row 0 of image 0 is 9223372036854775808, but must be at most {largest}, the largest label \
                 that this device keeps"
            ),
        );
        let wide = Tensor::<1, Int>::from_data([(1i64 << 32) + 1], (&device, DType::I64));
        if largest < i64::MAX {
            assert_error(
                try_assign_targets_to_proposals(&boxes, &boxes, &[wide], &Matcher::new(0.5, 0.5)),
                "`gt_labels` row 0 of image 0 is 4294967297, but must be at most 2147483647, the largest label that \
                 this device keeps",
            );
        }
        let (_, labels) = try_assign_targets_to_proposals(&boxes, &boxes, &one, &Matcher::new(0.5, 0.5)).unwrap();
        assert_eq!(read(labels[0].clone()), [1]);

        let logits = || floats([1, 2, 4, 4], &device);
        let rows = [unsigned(&[0], &device)];
        assert!(try_maskrcnn_loss(logits(), &boxes, &masks, &one, &rows, &MaskTargets::new()).is_ok());
        assert_error(
            try_maskrcnn_loss(logits(), &boxes, &masks, &large, &rows, &MaskTargets::new()),
            "`gt_labels` row 0 of image 0 is 9223372036854775808, but must be above 0, which is the background, and \
             below the 2 classes",
        );
        assert_error(
            try_maskrcnn_loss(logits(), &boxes, &masks, &one, &large, &MaskTargets::new()),
            "`mask_matched_idxs` row 0 of image 0 is 9223372036854775808, but must be at least 0 and below the 1 masks \
             of this image",
        );
    }
}

#[test]
fn samples_with_labels_above_i64() {
    for Backend { device, name } in with_u64() {
        let labels = || unsigned(&[0, LARGE, 2], &device);
        let sampler = BalancedPositiveNegativeSampler::new(4, 0.5);
        let (positive, negative) = sampler.try_forward(&[labels()], &mut random_permutations(0)).unwrap();
        assert_eq!(
            (read(positive[0].clone()), read(negative[0].clone())),
            (vec![1, 2], vec![0]),
            "{name}"
        );

        let samples = TrainingSamples {
            proposals: vec![floats([3, 4], &device)],
            matched_idxs: vec![labels()],
            labels: vec![labels()],
            regression_targets: vec![floats([3, 4], &device)],
        };
        let positive = samples.try_positive().unwrap();
        assert_eq!(read(positive.labels[0].clone()), [LARGE, 2], "{name}");
    }
}

#[test]
fn crop_sizes_above_i64_are_refused() {
    for Backend { device, .. } in with_u64() {
        let config: burn_roi::CropAndResizeConfig =
            burn_roi::onnx::CropAndResize::of_tensor(unsigned(&[2, LARGE], &device)).into();
        let rois = burn_roi::Rois::from_images(vec![floats([1, 4], &device)]);
        let crops = burn_roi::try_crop_and_resize(floats([1, 1, 4, 4], &device), &rois, config);
        assert!(matches!(crops, Err(burn_roi::RoiError::Option { .. })), "{crops:?}");
    }
}
