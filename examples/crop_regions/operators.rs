//! The operators on one photograph: three on upright regions, generic over the backend, and one on a turned region.

use std::time::{Duration, Instant};

use burn::backend::Backend;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{Device, Tensor, TensorData, read_sync};
use burn_roi::primitive::{RegionTensors, try_pool};
use burn_roi::{
    AngleConvention, CropAndResizeConfig, RoiAlignConfig, RoiAlignRotatedConfig, RoiBackend, RoiError, RoiPoolConfig,
    RotatedRois, try_roi_align_rotated,
};
use image::RgbImage;

use crate::error::Error;
use crate::pictures;
use crate::regions::{Region, TurnedRegion};

/// How many calls are timed, after one warm-up call.
pub const TIMED_CALLS: usize = 7;

/// The operators of upright regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    CropAndResize,
    RoiAlign,
    RoiPool,
}

impl Operator {
    const ALL: [Self; 3] = [Self::CropAndResize, Self::RoiAlign, Self::RoiPool];

    fn name(self) -> &'static str {
        match self {
            Self::CropAndResize => "crop_and_resize",
            Self::RoiAlign => "roi_align",
            Self::RoiPool => "roi_pool",
        }
    }
}

/// The input for every backend: the photograph as a feature map, and its regions.
pub struct Job {
    /// `[1, 3, height, width]`, 0 to 1.
    pub features: TensorData,
    /// `[x1, y1, x2, y2]` in pixels.
    boxes: TensorData,
    /// TensorFlow's `[y1, x1, y2, x2]`, where 1 is the last pixel.
    normalized_boxes: TensorData,
    /// The image of each region; there is one.
    batch_indices: TensorData,
    /// `[center x, center y, width, height, degrees]`.
    turned_box: [f32; 5],
    output_size: [usize; 2],
}

/// An operator's output for all of its regions.
pub struct Pooled {
    pub operator: &'static str,
    /// `[regions, 3, height, width]`.
    pub shape: [usize; 4],
    pub values: Vec<f32>,
    /// The median time of a call, with its result read back.
    pub time: Duration,
}

/// A [`Job`] on a device.
struct Inputs<B: Backend> {
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    normalized_boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
}

impl Job {
    pub fn new(photograph: &RgbImage, regions: &[Region], turned: &TurnedRegion, size: u16) -> Self {
        let [last_x, last_y] = [photograph.width(), photograph.height()].map(|side| (side - 1).max(1) as f32);
        let boxes = regions.iter().flat_map(|region| region.corners);
        let normalized_boxes = regions.iter().flat_map(|region| {
            let [x1, y1, x2, y2] = region.corners;
            [y1 / last_y, x1 / last_x, y2 / last_y, x2 / last_x]
        });
        let count = regions.len();
        Self {
            features: pictures::to_features(photograph),
            boxes: TensorData::new(boxes.collect(), [count, 4]),
            normalized_boxes: TensorData::new(normalized_boxes.collect(), [count, 4]),
            batch_indices: TensorData::new(vec![0_i32; count], [count]),
            turned_box: {
                let ([x, y], [width, height]) = (turned.rectangle.center, turned.rectangle.sides);
                [x, y, width, height, turned.rectangle.degrees]
            },
            output_size: [usize::from(size); 2],
        }
    }

    /// Runs the operators of upright regions on a backend.
    pub fn run<B: RoiBackend>(&self, device: &B::Device) -> Result<Vec<Pooled>, Error> {
        let inputs = self.upload::<B>(device);
        Operator::ALL
            .into_iter()
            .map(|operator| {
                let call = || read::<B>(pool_regions(operator, &inputs, self.output_size)?);
                let ((shape, values), time) = time(call)?;
                Ok(Pooled {
                    operator: operator.name(),
                    shape,
                    values,
                    time,
                })
            })
            .collect()
    }

    /// Runs `roi_align_rotated` on a device.
    pub fn run_turned(&self, device: &Device) -> Result<Pooled, Error> {
        let features = Tensor::<4>::from_data(self.features.clone(), device);
        let rois = RotatedRois::from_images(vec![Tensor::<2>::from_floats([self.turned_box], device)]);
        let config =
            RoiAlignRotatedConfig::new(self.output_size).with_angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE);
        let call = || {
            let pooled = try_roi_align_rotated(features.clone(), &rois, config.clone())?;
            values_of(pooled.try_into_data()?)
        };
        let ((shape, values), time) = time(call)?;
        Ok(Pooled {
            operator: "roi_align_rotated",
            shape,
            values,
            time,
        })
    }

    fn upload<B: Backend>(&self, device: &B::Device) -> Inputs<B> {
        Inputs {
            features: B::float_from_data(self.features.clone(), device),
            boxes: B::float_from_data(self.boxes.clone(), device),
            normalized_boxes: B::float_from_data(self.normalized_boxes.clone(), device),
            batch_indices: B::int_from_data(self.batch_indices.clone(), device),
        }
    }
}

/// One call, on a backend's own tensors.
fn pool_regions<B: RoiBackend>(
    operator: Operator,
    inputs: &Inputs<B>,
    output_size: [usize; 2],
) -> Result<FloatTensor<B>, RoiError> {
    let features = inputs.features.clone();
    let regions = |boxes: &FloatTensor<B>| RegionTensors::new(boxes.clone(), inputs.batch_indices.clone());
    match operator {
        Operator::CropAndResize => {
            let regions = regions(&inputs.normalized_boxes);
            try_pool::<B>(features, regions, CropAndResizeConfig::new(output_size))
        }
        Operator::RoiAlign => {
            let config = RoiAlignConfig::new(output_size).with_aligned(true);
            try_pool::<B>(features, regions(&inputs.boxes), config)
        }
        Operator::RoiPool => try_pool::<B>(features, regions(&inputs.boxes), RoiPoolConfig::new(output_size)),
    }
}

/// A tensor's shape and values. A GPU call returns before its work is done, and reading the values waits for it, so the
/// times include it.
fn read<B: Backend>(tensor: FloatTensor<B>) -> Result<([usize; 4], Vec<f32>), Error> {
    values_of(read_sync(B::float_into_data(tensor))?)
}

fn values_of(data: TensorData) -> Result<([usize; 4], Vec<f32>), Error> {
    Ok((data.shape().dims(), data.as_slice()?.to_vec()))
}

/// Calls once to warm up, which compiles the kernels on a GPU, then returns the median of `TIMED_CALLS` calls.
fn time<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<(T, Duration), Error> {
    let output = call()?;
    let mut times = [Duration::ZERO; TIMED_CALLS];
    for time in &mut times {
        let start = Instant::now();
        call()?;
        *time = start.elapsed();
    }
    times.sort();
    Ok((output, times[TIMED_CALLS / 2]))
}
