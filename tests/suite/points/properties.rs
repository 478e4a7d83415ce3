//! What must hold of every result: no reference is needed.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;

use crate::agreement::{drawn, largest_error};
use crate::backends::backends;
use crate::problem::random_numbers;

fn random<const D: usize>(seed: u64, shape: [usize; D], device: &Device) -> Tensor<D> {
    let numbers = random_numbers(seed, shape.iter().product());
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
}

/// Regions of one image.
fn upright(boxes: &[[f32; 4]], device: &Device) -> Rois {
    let numbers = boxes.as_flattened().to_vec();
    Rois::from_images(vec![Tensor::from_data(
        TensorData::new(numbers, [boxes.len(), 4]),
        device,
    )])
}

fn rotated(boxes: &[[f32; 5]], device: &Device) -> RotatedRois {
    let numbers = boxes.as_flattened().to_vec();
    RotatedRois::from_images(vec![Tensor::from_data(
        TensorData::new(numbers, [boxes.len(), 5]),
        device,
    )])
}

/// A box around a map of 12 pixels: centre and size.
fn boxes() -> impl Strategy<Value = Vec<[f32; 4]>> {
    // On 64ths, so that corners are exact, and off the places where samples jump.
    let number = |low: i32, high: i32| (low..high).prop_map(|number| (number * 2 + 1) as f32 / 64.0);
    proptest::collection::vec(
        (number(0, 380), number(0, 380), number(16, 300), number(16, 300)).prop_map(|(x, y, w, h)| [x, y, w, h]),
        1..5,
    )
}

proptest! {
    #![proptest_config(drawn(30))]

    #[test]
    fn a_rotated_box_of_angle_0_is_roi_align(boxes in boxes(), size in [1usize..5, 1usize..5], seed in any::<u64>()) {
        for backend in backends() {
            let device = &backend.device;
            let features = random(seed, [1, 3, 12, 12], device);
            let corners: Vec<_> =
                boxes.iter().map(|[x, y, w, h]| [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]).collect();
            let config = RoiAlignConfig::new(size).with_aligned(true).with_sampling_ratio(2);
            let expected = roi_align(features.clone(), &upright(&corners, device), config).into_data();
            let flat: Vec<_> = boxes.iter().map(|[x, y, w, h]| [*x, *y, *w, *h, 0.0]).collect();
            let config = RoiAlignRotatedConfig::new(size).with_sampling_ratio(2);
            let found = roi_align_rotated(features, &rotated(&flat, device), config).into_data();
            let error = largest_error(&found, &expected);
            prop_assert!(error <= 1e-4, "{}: {error:e}", backend.name);
        }
    }

    /// A quarter of a turn counter-clockwise samples what the map turned clockwise has upright.
    #[test]
    fn a_quarter_of_a_turn_turns_the_map(boxes in boxes(), seed in any::<u64>()) {
        for backend in backends() {
            let device = &backend.device;
            let features = random(seed, [1, 2, 12, 12], device);
            // Turned clockwise: what was at the left is at the top.
            let turned = features.clone().swap_dims(2, 3).flip([3]);
            let config = || RoiAlignRotatedConfig::new([3, 3])
                .with_sampling_ratio(2)
                .with_angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE);
            let quarter: Vec<_> = boxes.iter().map(|[x, y, w, h]| [*x, *y, *w, *h, 90.0]).collect();
            let there: Vec<_> = boxes.iter().map(|[x, y, w, h]| [12.0 - y, *x, *w, *h, 0.0]).collect();
            let found = roi_align_rotated(features, &rotated(&quarter, device), config()).into_data();
            let expected = roi_align_rotated(turned, &rotated(&there, device), config()).into_data();
            let error = largest_error(&found, &expected);
            prop_assert!(error <= 1e-4, "{}: {error:e}", backend.name);
        }
    }

    #[test]
    fn deformable_with_offsets_of_0_is_roi_align(
        boxes in boxes(), size in [1usize..5, 1usize..5], seed in any::<u64>(),
    ) {
        for backend in backends() {
            let device = &backend.device;
            let features = random(seed, [1, 3, 12, 12], device);
            let corners: Vec<_> = boxes.iter().map(|[x, y, w, h]| [*x, *y, x + w, y + h]).collect();
            let rois = upright(&corners, device);
            let config = RoiAlignConfig::new(size).with_aligned(true);
            let expected = roi_align(features.clone(), &rois, config).into_data();
            let zeros = Tensor::<4>::zeros([boxes.len(), 2, size[0], size[1]], device);
            for offsets in [None, Some(zeros)] {
                let config = DeformRoiPoolConfig::new(size);
                let found = deform_roi_pool(features.clone(), &rois, offsets, config).into_data();
                let error = largest_error(&found, &expected);
                prop_assert!(error <= 1e-5, "{}: {error:e}", backend.name);
            }
        }
    }

    /// One part of a region is all of it.
    #[test]
    fn a_crop_of_one_part_is_crop_and_resize(boxes in boxes(), size in [1usize..5, 1usize..5], seed in any::<u64>()) {
        for backend in backends() {
            let device = &backend.device;
            let features = random(seed, [1, 3, 12, 12], device);
            let corners: Vec<_> =
                boxes.iter().map(|[x, y, w, h]| [*x, *y, x + w, y + h].map(|number| number / 13.0)).collect();
            let rois = upright(&corners, device);
            let config = CropAndResizeConfig::new(size).with_box_format(BoxFormat::Xyxy);
            let expected = crop_and_resize(features.clone(), &rois, config).into_data();
            let found = ps_crop_and_resize(features, &rois, PsCropAndResizeConfig::new(size, [1, 1])).into_data();
            let error = largest_error(&found, &expected);
            prop_assert!(error <= 1e-4, "{}: {error:e}", backend.name);
        }
    }
}

/// An orientation channel of 1 moves to the next one for each whole step of the angle.
#[test]
fn orientations_turn_with_the_box() {
    for backend in backends() {
        let device = &backend.device;
        let values: Vec<f32> = (0..4).flat_map(|orientation| [orientation as f32; 64]).collect();
        let features = Tensor::<4>::from_data(TensorData::new(values, [1, 4, 8, 8]), device);
        // A little above a whole step, since the last bit decides at it.
        let step = |steps: f32| (steps + 1e-4) * std::f32::consts::FRAC_PI_2;
        let boxes: Vec<_> = [0.0, 1.0, 2.0, -1.0, 9.0]
            .map(|steps| [4.0, 4.0, 2.0, 2.0, step(steps)])
            .into();
        let config = RiRoiAlignRotatedConfig::new([1, 1]).with_orientations(4);
        let found = riroi_align_rotated(features, &rotated(&boxes, device), config).into_data();
        let found: Vec<f32> = found.iter::<f32>().map(f32::round).collect();
        let expected = [
            [0.0, 1.0, 2.0, 3.0],
            [3.0, 0.0, 1.0, 2.0],
            [2.0, 3.0, 0.0, 1.0],
            [1.0, 2.0, 3.0, 0.0],
            [3.0, 0.0, 1.0, 2.0],
        ];
        assert_eq!(found, expected.concat(), "{}", backend.name);
    }
}

/// The sum over classes of offsets is the call of each class by itself.
#[test]
fn classes_are_calls_one_by_one() {
    for backend in backends() {
        let device = &backend.device;
        let features = random(1, [1, 24, 12, 12], device);
        let rois = upright(&[[1.0, 2.0, 9.0, 8.0], [0.0, 0.0, 5.0, 11.0]], device);
        let offsets = random(2, [2, 4, 2, 2], device);
        let config = |channels| DeformPsRoiPoolConfig::new([2, 3], channels).with_part_size([2, 2]);
        let found = deform_ps_roi_pool(features.clone(), &rois, Some(offsets.clone()), config(4));
        let class = |class: usize| {
            let features = features.clone().narrow(1, class * 12, 12);
            deform_ps_roi_pool(
                features,
                &rois,
                Some(offsets.clone().narrow(1, 2 * class, 2)),
                config(2),
            )
        };
        let expected = Tensor::cat(vec![class(0), class(1)], 1).into_data();
        assert_eq!(found.into_data(), expected, "{}", backend.name);
    }
}

/// Without regions there is no output, on every backend.
#[test]
fn no_region_gives_no_output() {
    for backend in backends() {
        let device = &backend.device;
        let features = random(1, [2, 8, 6, 6], device);
        let none = Tensor::<1, Int>::zeros([0], device);
        let boxes = |columns| Tensor::<2>::zeros([0, columns], device);
        let upright = Rois::new(boxes(4), none.clone());
        let rotated = RotatedRois::new(boxes(5), none);
        let offsets = Tensor::<4>::zeros([0, 2, 2, 2], device);
        let outputs = [
            roi_align_rotated(features.clone(), &rotated, RoiAlignRotatedConfig::new([2, 2])),
            riroi_align_rotated(features.clone(), &rotated, RiRoiAlignRotatedConfig::new([2, 2])),
            deform_roi_pool(
                features.clone(),
                &upright,
                Some(offsets),
                DeformRoiPoolConfig::new([2, 2]),
            ),
        ];
        for output in outputs {
            assert_eq!(output.dims(), [0, 8, 2, 2], "{}", backend.name);
        }
    }
}
