//! Areas and IoU of boxes, clipping, and the removal of small boxes.

use burn::tensor::{DType, Device, Distribution, Tensor};
use burn_roi_detection::{box_area, box_iou, box_iou_3d, box_volume, clip_boxes_to_image, remove_small_boxes};

use crate::backends::backends;
use crate::cases::check_all;

#[test]
fn areas_are_those_of_torchvision() {
    check_all("box_area", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        case.assert_floats(0, box_area(boxes), 1e-6, backend);
    });
}

#[test]
fn ious_are_those_of_torchvision() {
    check_all("box_iou", |case, backend| {
        let left = case.floats("left", &backend.device);
        let right = case.floats("right", &backend.device);
        case.assert_floats(0, box_iou(left, right), 1e-6, backend);
    });
}

#[test]
fn clipping_is_that_of_torchvision() {
    check_all("clip", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let clipped = clip_boxes_to_image(boxes, case.option("image_size"));
        case.assert_floats(0, clipped, 0.0, backend);
    });
}

#[test]
fn small_boxes_are_those_of_torchvision() {
    check_all("small", |case, backend| {
        let boxes = case.floats("boxes", &backend.device);
        let kept = remove_small_boxes(boxes, case.option("min_size"));
        case.assert_ints(0, kept, backend);
    });
}

/// Boxes `[x1, y1, x2, y2, z1, z2]` of 1 to 9 pixels, of which most overlap.
fn volumes(count: usize, dtype: DType, device: &Device) -> Tensor<2> {
    let [first, sides] = [(-4.0, 4.0), (1.0, 9.0)]
        .map(|(least, most)| Tensor::<2>::random([count, 3], Distribution::Uniform(least, most), (device, dtype)));
    let last = first.clone() + sides;
    let columns = |corners: &Tensor<2>, range| corners.clone().slice_dim(1, range);
    let columns = [
        columns(&first, 0..2),
        columns(&last, 0..2),
        columns(&first, 2..3),
        columns(&last, 2..3),
    ];
    Tensor::cat(columns.to_vec(), 1)
}

fn rows(boxes: &Tensor<2>) -> Vec<[f64; 6]> {
    let values: Vec<f64> = boxes.to_data().iter::<f64>().collect();
    values.as_chunks::<6>().0.to_vec()
}

/// Compares volumes and IoU with formulas in f64.
#[test]
fn volumes_and_their_ious_are_those_of_the_formula() {
    let volume = |[x1, y1, x2, y2, z1, z2]: [f64; 6]| (x2 - x1) * (y2 - y1) * (z2 - z1);
    let length = |first: f64, last: f64| (last - first).max(0.0);
    for backend in backends() {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            if !backend.supports(dtype) {
                continue;
            }
            let [left, right] = [40, 30].map(|count| volumes(count, dtype, &backend.device));
            let (volumes, ious) = (box_volume(left.clone()), box_iou_3d(left.clone(), right.clone()));
            let expected_dtype = if dtype == DType::F64 { dtype } else { DType::F32 };
            assert_eq!([volumes.dtype(), ious.dtype()], [expected_dtype; 2], "{}", backend.name);

            let [left, right] = [rows(&left), rows(&right)];
            let expected = left.iter().map(|&left| volume(left));
            for (volume, expected) in volumes.into_data().iter::<f64>().zip(expected) {
                assert!(
                    (volume / expected - 1.0).abs() < 1e-5,
                    "{}: {volume}, {expected}",
                    backend.name
                );
            }
            let pairs = left
                .iter()
                .flat_map(|&left| right.iter().map(move |&right| (left, right)));
            let mut overlapping = 0;
            for (iou, (left, right)) in ious.into_data().iter::<f64>().zip(pairs) {
                let overlap =
                    |start: usize, end: usize| length(left[start].max(right[start]), left[end].min(right[end]));
                let intersection = overlap(0, 2) * overlap(1, 3) * overlap(4, 5);
                let expected = intersection / (volume(left) + volume(right) - intersection);
                assert!((iou - expected).abs() < 1e-5, "{}: {iou}, {expected}", backend.name);
                overlapping += usize::from(expected > 0.05);
            }
            assert!(overlapping > 100, "{overlapping} pairs overlap");
        }
    }
}

#[test]
fn boxes_of_depth_1_have_the_areas_and_ious_of_two_axes() {
    for backend in backends() {
        let flat = FLAT.map(|rows| Tensor::<2>::from_floats(rows, &backend.device));
        let z = Tensor::<2>::full([3, 1], 5.0, &backend.device);
        let deep = flat
            .clone()
            .map(|boxes| Tensor::cat(vec![boxes, z.clone(), z.clone() + 1.0], 1));
        let bits = |tensor: Tensor<2>| tensor.into_data().iter::<f32>().map(f32::to_bits).collect::<Vec<_>>();
        let ious = box_iou(flat[0].clone(), flat[1].clone());
        let deep_ious = box_iou_3d(deep[0].clone(), deep[1].clone());
        assert_eq!(bits(ious), bits(deep_ious), "{}", backend.name);
        let areas = box_area(flat[0].clone()).unsqueeze();
        assert_eq!(
            bits(areas),
            bits(box_volume(deep[0].clone()).unsqueeze()),
            "{}",
            backend.name
        );
    }
}

/// Boxes with fractions, without area, and inverted ones.
const FLAT: [[[f32; 4]; 3]; 2] = [
    [[0.1, 0.2, 7.3, 5.9], [1.0, 1.0, 1.0, 4.0], [5.0, 5.0, 2.0, 3.0]],
    [[0.3, -0.7, 6.1, 4.4], [1e-3, 2e-3, 8.0, 8.0], [4.0, 3.0, 3.0, 9.0]],
];
