//! Masks above a threshold, as booleans and as run lengths.

use burn::tensor::{Bool, DType, Distribution, Tensor, TensorData, read_sync};
use burn_roi_detection::*;
use proptest::prelude::*;

use crate::backends::{Backend, backends};
use crate::bad_input::assert_error;

fn bools(tensor: Tensor<4, Bool>) -> Vec<bool> {
    tensor.into_data().iter::<bool>().collect()
}

/// What the two functions for binary masks must agree with.
fn pasted_above(masks: &Tensor<4>, boxes: &Tensor<2>, size: [usize; 2], padding: usize, threshold: f64) -> Vec<bool> {
    let pasted = paste_masks_in_image(masks.clone(), boxes.clone(), size, padding);
    bools(pasted.greater_elem(threshold))
}

#[track_caller]
fn check_binary(masks: &Tensor<4>, boxes: &Tensor<2>, size: [usize; 2], padding: usize, threshold: f64) {
    let expected = pasted_above(masks, boxes, size, padding, threshold);
    let pasted = paste_binary_masks_in_image(masks.clone(), boxes.clone(), size, padding, threshold);
    assert_eq!(pasted.dims(), [masks.dims()[0], 1, size[0], size[1]]);
    assert!(bools(pasted) == expected, "binary masks differ");

    let encoded = paste_masks_as_run_lengths(masks.clone(), boxes.clone(), size, padding, threshold);
    assert_eq!(encoded.len(), masks.dims()[0]);
    let pixels = size[0] * size[1];
    for (row, encoded) in encoded.iter().enumerate() {
        let expected = &expected[row * pixels..(row + 1) * pixels];
        assert!(encoded.decode() == expected, "mask {row} differs");
        assert_eq!(encoded.area() as usize, expected.iter().filter(|&&pixel| pixel).count());
        assert_eq!(encoded.size(), size);
        let counts = encoded.counts();
        assert_eq!(counts.iter().map(|&count| count as usize).sum::<usize>(), pixels);
        assert!(pixels == 0 || counts[1..].iter().all(|&count| count > 0), "{counts:?}");
        assert_eq!(read_coco_string(&encoded.to_coco_string()), counts);
    }
}

/// Reads COCO's compressed counts by their description.
fn read_coco_string(text: &str) -> Vec<u32> {
    let mut counts: Vec<i64> = Vec::new();
    let mut characters = text.bytes();
    while let Some(first) = characters.next() {
        let (mut group, mut number, mut shift) = (first - 48, 0, 0);
        loop {
            number |= i64::from(group & 31) << shift;
            shift += 5;
            if group & 32 == 0 {
                break;
            }
            group = characters.next().expect("another group") - 48;
        }
        if group & 16 != 0 {
            number -= 1 << shift;
        }
        let before = if counts.len() > 2 { counts[counts.len() - 2] } else { 0 };
        counts.push(number + before);
    }
    counts.into_iter().map(|count| count as u32).collect()
}

/// Random masks, of which some pixels are NaN or infinite.
fn random_masks() -> impl Strategy<Value = (usize, usize, Vec<f64>)> {
    let special = prop::sample::select(vec![0.0, 1.0, 0.5, -1.0, f64::NAN, f64::INFINITY]);
    let pixel = prop_oneof![9 => 0.0..1.0, 1 => special];
    (0..4usize, 1..8usize).prop_flat_map(move |(count, size)| {
        let pixels = prop::collection::vec(pixel.clone(), count * size * size);
        pixels.prop_map(move |pixels| (count, size, pixels))
    })
}

#[test]
fn binary_masks_are_pasted_masks_above_the_threshold() {
    let coordinate =
        prop_oneof![6 => -20.0..50.0, 2 => (-20..50i32).prop_map(f64::from), 1 => Just(1e30), 1 => Just(-6e4)];
    let boxes = prop::collection::vec(prop::array::uniform4(coordinate), 4);
    let dtypes = prop::sample::select(vec![DType::F32, DType::F64, DType::F16, DType::BF16]);
    let thresholds = prop::sample::select(vec![0.5, 0.0, -0.25, 0.1, 0.3, 1e300, f64::NEG_INFINITY]);
    let backends: Vec<Backend> = backends().into_iter().filter(Backend::is_host).collect();
    let call = (
        random_masks(),
        boxes,
        dtypes,
        [0..40usize, 0..40usize],
        0..3usize,
        thresholds,
    );
    proptest!(|((masks, boxes, dtype, size, padding, threshold) in call)| {
        let (count, side, pixels) = masks;
        for backend in backends.iter().filter(|backend| backend.supports(dtype)) {
            let options = (&backend.device, dtype);
            let masks = Tensor::<4>::from_data(TensorData::new(pixels.clone(), [count, 1, side, side]), options);
            let largest = if dtype == DType::F16 { 6e4 } else { 1e30 };
            let boxes: Vec<f64> = boxes[..count].concat().iter().map(|value: &f64| value.min(largest)).collect();
            let boxes = Tensor::<2>::from_data(TensorData::new(boxes, [count, 4]), options);
            check_binary(&masks, &boxes, size, padding, threshold);
        }
    });
}

/// The host computes pieces of 4096 columns, and a device bands of 2^20 pixels, of which a window here has two.
#[test]
fn binary_masks_of_a_large_image_are_pasted_masks_above_the_threshold() {
    for backend in backends().iter().filter(|backend| backend.is_host()) {
        let device = &backend.device;
        device.seed(3);
        let masks = Tensor::<4>::random([2, 1, 28, 28], Distribution::Default, device);
        let boxes = Tensor::<2>::from_floats([[100.0, 2.0, 8800.0, 118.0], [-3.0, 1.0, 4098.0, 115.5]], device);
        check_binary(&masks, &boxes, [130, 9000], 1, 0.5);
    }
}

/// The strings and areas are those of pycocotools 2.0.
#[test]
fn run_lengths_are_those_of_pycocotools() {
    for backend in backends() {
        let device = &backend.device;
        let encode = |boxes: [f32; 4], size| {
            let (masks, boxes) = (
                Tensor::<4>::ones([1, 1, 1, 1], device),
                Tensor::<2>::from_floats([boxes], device),
            );
            paste_masks_as_run_lengths(masks, boxes, size, 0, 0.5).remove(0)
        };
        // A window goes one pixel beyond the coordinates of its box.
        let none = encode([-9.0, -9.0, -5.0, -5.0], [3, 4]);
        assert_eq!(
            (none.to_coco_string().as_str(), none.counts(), none.area()),
            ("<", &[12][..], 0)
        );
        let all = encode([0.0, 0.0, 3.0, 2.0], [3, 4]);
        assert_eq!(
            (all.to_coco_string().as_str(), all.counts(), all.area()),
            ("0<", &[0, 12][..], 12)
        );
        let empty = encode([0.0, 0.0, 3.0, 2.0], [0, 5]);
        assert_eq!(
            (empty.to_coco_string().as_str(), empty.counts(), empty.area()),
            ("0", &[0][..], 0)
        );
        assert!(empty.decode().is_empty());
        let inside = encode([100.0, 50.0, 349.0, 249.0], [300, 400]);
        assert_eq!(inside.area(), 50_000);
        let zeros = "0".repeat(497);
        assert_eq!(inside.to_coco_string(), format!("R[m0X6T3{zeros}Vc>"));
    }
}

/// 65535 * 65537 is 2^32 - 1. The window has 3 rows and 2 columns.
#[test]
fn run_lengths_of_the_largest_image() {
    for backend in backends() {
        let device = &backend.device;
        let masks = Tensor::<4>::ones([1, 1, 2, 2], device);
        let boxes = Tensor::<2>::from_floats([[65535.0, 65532.0, 65536.0, 65534.0]], device);
        let encoded = paste_masks_as_run_lengths(masks, boxes, [65535, 65537], 0, 0.5);
        assert_eq!(encoded[0].counts(), [u32::MAX - 65535 - 3, 3, 65532, 3]);
        assert_eq!(encoded[0].area(), 6);
    }
}

#[test]
fn binary_masks_that_do_not_fit() {
    for backend in backends() {
        let device = &backend.device;
        let masks = || Tensor::<4>::ones([2, 1, 4, 4], device);
        let boxes = |count| Tensor::<2>::zeros([count, 4], device);
        let refused = |boxes: Tensor<2>, size: [usize; 2], threshold: f64, text: &str| {
            assert_error(
                try_paste_binary_masks_in_image(masks(), boxes.clone(), size, 1, threshold),
                text,
            );
            assert_error(try_paste_masks_as_run_lengths(masks(), boxes, size, 1, threshold), text);
        };
        for size in [[1 << 32, 1 << 32], [1 << 16, 1 << 16], [1, 1 << 32], [usize::MAX, 2]] {
            let text = format!("`image_size` is {size:?}, but must be of at most 4294967295 pixels");
            refused(boxes(2), size, 0.5, &text);
        }
        refused(boxes(2), [8, 8], f64::NAN, "`threshold` is NaN, but must be a number");
        let text = "`masks` has length 2, but must have length 3: one for each row of `boxes`";
        refused(boxes(3), [8, 8], 0.5, text);
        let text = "`boxes` row 0 is [NaN, NaN, NaN, NaN], but must be finite";
        let nan = Tensor::<2>::from_floats([[f32::NAN; 4]; 2], device);
        refused(nan, [8, 8], 0.5, text);
    }
}

#[test]
fn binary_masks_can_be_awaited() {
    for backend in backends() {
        let device = &backend.device;
        let masks = Tensor::<4>::ones([1, 1, 4, 4], device);
        let boxes = Tensor::<2>::from_floats([[2.0, 3.0, 7.0, 9.0]], device);
        let size = [12, 10];
        let pasted = paste_binary_masks_in_image(masks.clone(), boxes.clone(), size, 1, 0.5);
        let awaited = read_sync(paste_binary_masks_in_image_async(
            masks.clone(),
            boxes.clone(),
            size,
            1,
            0.5,
        ));
        assert_eq!(bools(pasted), bools(awaited.unwrap()));
        let encoded = paste_masks_as_run_lengths(masks.clone(), boxes.clone(), size, 1, 0.5);
        let awaited = read_sync(paste_masks_as_run_lengths_async(masks, boxes, size, 1, 0.5));
        assert_eq!(encoded, awaited.unwrap());
        assert!(encoded[0].area() > 0);
    }
}
