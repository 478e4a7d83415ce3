//! A large output of Flex against those of its parts. Flex writes the large one past the caches, and computes more of
//! its channels together.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;

use crate::problem::random_numbers;

/// 189 channels are no multiple of those that are computed together.
const SHAPE: [usize; 4] = [1, 189, 40, 44];

/// With 12 x 12 elements, outputs of 18 MB in f16 and 36 MB in f32: more than half of an L3 cache of 32 MiB.
const ROWS: usize = 330;

/// The channels and the regions of a part.
const CHANNELS_OF_A_PART: usize = 7;
const ROWS_OF_A_PART: usize = 30;

fn boxes() -> Vec<f32> {
    let numbers = random_numbers(5, 4 * ROWS);
    let boxes = numbers.as_chunks::<4>().0.iter().flat_map(|numbers| {
        let [x, y, width, height] = numbers.map(f32::abs);
        let (x1, y1) = (40.0 * x, 36.0 * y);
        [x1, y1, x1 + 20.0 * width, y1 + 20.0 * height]
    });
    boxes.collect()
}

type Call = fn(Tensor<4>, Tensor<2>) -> Tensor<4>;

const CALLS: [(&str, Call); 3] = [
    ("roi_align", |features, boxes| {
        roi_align(features, &Rois::from_images(vec![boxes]), RoiAlignConfig::new([12, 12]))
    }),
    ("roi_pool", |features, boxes| {
        roi_pool(features, &Rois::from_images(vec![boxes]), RoiPoolConfig::new([12, 12]))
    }),
    ("roi_align_rotated", |features, boxes| {
        let angles = boxes.clone().slice([0..boxes.dims()[0], 0..1]);
        let rois = RotatedRois::from_images(vec![Tensor::cat(vec![boxes, angles], 1)]);
        roi_align_rotated(
            features,
            &rois,
            RoiAlignRotatedConfig::new([12, 12]).with_sampling_ratio(1),
        )
    }),
];

#[test]
fn a_large_output_is_that_of_its_parts() {
    let device = Device::flex();
    let numbers = TensorData::new(random_numbers(4, SHAPE.iter().product()), SHAPE);
    let boxes = TensorData::new(boxes(), [ROWS, 4]);
    for dtype in [DType::F32, DType::F16] {
        let features = Tensor::<4>::from_data(numbers.clone().convert_dtype(dtype), (&device, dtype));
        let boxes = Tensor::<2>::from_data(boxes.clone().convert_dtype(dtype), (&device, dtype));
        for (operator, call) in CALLS {
            let whole = call(features.clone(), boxes.clone());
            for channel in (0..SHAPE[1]).step_by(CHANNELS_OF_A_PART) {
                let channels = channel..channel + CHANNELS_OF_A_PART;
                let features = features.clone().slice([0..1, channels.clone()]);
                // Every third part: all of them take longer than the whole.
                let first = channel / CHANNELS_OF_A_PART % 3 * ROWS_OF_A_PART;
                for row in (first..ROWS).step_by(3 * ROWS_OF_A_PART) {
                    let rows = row..row + ROWS_OF_A_PART;
                    let part = call(features.clone(), boxes.clone().slice([rows.clone()])).into_data();
                    let of_whole = whole.clone().slice([rows.clone(), channels.clone()]).into_data();
                    let place = format!("{operator} in {dtype:?}, channels {channels:?} of regions {rows:?}");
                    assert!(part.as_bytes() == of_whole.as_bytes(), "{place}");
                }
            }
        }
    }
}
