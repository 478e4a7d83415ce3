//! A call that is right in everything, and how its tensors are made.

use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::primitive::{Backward, RegionTensors, try_backward};
use burn_roi::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum Operator {
    RoiAlign(RoiAlignConfig),
    RoiPool(RoiPoolConfig),
    CropAndResize(CropAndResizeConfig),
    PsRoiAlign(PsRoiAlignConfig),
    PsRoiPool(PsRoiPoolConfig),
    PrRoiPool(PrRoiPoolConfig),
}

impl Operator {
    /// Height and width of the output.
    pub fn output_size(&self) -> [usize; 2] {
        match self {
            Self::RoiAlign(config) => config.output_size,
            Self::RoiPool(config) => config.output_size,
            Self::CropAndResize(config) => config.crop_size,
            Self::PsRoiAlign(config) => config.output_size,
            Self::PsRoiPool(config) => config.output_size,
            Self::PrRoiPool(config) => config.output_size,
        }
    }

    /// How many channels of the features there are for each channel of the output.
    pub fn input_channels(&self) -> usize {
        match self {
            Self::PsRoiAlign(_) | Self::PsRoiPool(_) => {
                let [height, width] = self.output_size();
                height.saturating_mul(width)
            }
            _ => 1,
        }
    }

    /// What a region gives that reads no pixel.
    pub fn value_without_pixels(&self) -> f64 {
        match self {
            Self::RoiAlign(config) if config.reduction == Reduction::MaxFromZero => config.out_of_bounds_value.max(0.0),
            Self::RoiAlign(config) => config.out_of_bounds_value,
            Self::CropAndResize(config) => config.extrapolation_value,
            _ => 0.0,
        }
    }

    /// Calls it.
    pub fn call(&self, features: Tensor<4>, rois: &Rois) -> Result<Tensor<4>, RoiError> {
        match self {
            Self::RoiAlign(config) => try_roi_align(features, rois, config.clone()),
            Self::RoiPool(config) => try_roi_pool(features, rois, config.clone()),
            Self::CropAndResize(config) => try_crop_and_resize(features, rois, config.clone()),
            Self::PsRoiAlign(config) => try_ps_roi_align(features, rois, config.clone()),
            Self::PsRoiPool(config) => try_ps_roi_pool(features, rois, config.clone()),
            Self::PrRoiPool(config) => try_prroi_pool(features, rois, config.clone()),
        }
    }

    /// Its gradients by hand.
    pub fn backward(
        &self,
        gradient: DispatchTensor,
        features: DispatchTensor,
        regions: RegionTensors<Dispatch>,
    ) -> Result<Backward<Dispatch>, RoiError> {
        match self.clone() {
            Self::RoiAlign(config) => try_backward(gradient, features, regions, config),
            Self::RoiPool(config) => try_backward(gradient, features, regions, config),
            Self::CropAndResize(config) => try_backward(gradient, features, regions, config),
            Self::PsRoiAlign(config) => try_backward(gradient, features, regions, config),
            Self::PsRoiPool(config) => try_backward(gradient, features, regions, config),
            Self::PrRoiPool(config) => try_backward(gradient, features, regions, config),
        }
    }
}

/// How the features lie in memory.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    Contiguous,
    ChannelsLast,
    Transposed,
    /// A window of a larger tensor.
    Sliced,
    /// One channel, seen as many.
    Expanded,
}

impl Layout {
    /// Features of a shape that lie in memory so, from a tensor of another shape.
    pub fn features(self, [n, c, h, w]: [usize; 4], random: impl Fn([usize; 4]) -> Tensor<4>) -> Tensor<4> {
        match self {
            Layout::Contiguous => random([n, c, h, w]),
            Layout::ChannelsLast => random([n, h, w, c]).permute([0, 3, 1, 2]),
            Layout::Transposed => random([n, c, w, h]).swap_dims(2, 3),
            Layout::Sliced => random([n + 1, c + 2, h + 3, w + 1]).slice([1..n + 1, 1..c + 1, 2..h + 2, 0..w]),
            // Burn expands to no dimension of 0.
            Layout::Expanded if [n, c, h, w].contains(&0) => random([n, c, h, w]),
            Layout::Expanded => random([n, 1, h, w]).expand([n, c, h, w]),
        }
    }
}

/// A call.
#[derive(Debug, Clone)]
pub struct Problem {
    pub operator: Operator,
    pub layout: Layout,
    pub shape: [usize; 4],
    pub boxes: Vec<[f32; 4]>,
    pub batch_indices: Vec<i32>,
    pub seed: u64,
}

impl Problem {
    /// Computes it on a device, in a dtype; features and boxes are rounded to `rounding` first.
    pub fn run(&self, device: &Device, rounding: DType, dtype: DType) -> TensorData {
        let features = self.features(device, rounding, dtype);
        self.call(features, device, rounding).into_data()
    }

    /// Computes it of other features.
    pub fn call(&self, features: Tensor<4>, device: &Device, rounding: DType) -> Tensor<4> {
        let rois = self.rois(device, rounding, features.dtype());
        self.operator.call(features, &rois).expect("the problem is right")
    }

    pub fn features(&self, device: &Device, rounding: DType, dtype: DType) -> Tensor<4> {
        self.layout.features(self.shape, |shape| {
            let values = random_numbers(self.seed, shape.iter().product());
            tensor::<4>(values, shape, device, rounding, dtype)
        })
    }

    /// The image and the box of each region.
    pub fn regions(&self) -> Vec<(usize, [f64; 4])> {
        let images = self.batch_indices.iter().map(|&image| image as usize);
        let boxes = self.boxes.iter().map(|corners| corners.map(f64::from));
        images.zip(boxes).collect()
    }

    pub fn rois(&self, device: &Device, rounding: DType, dtype: DType) -> Rois {
        let count = self.boxes.len();
        let boxes = self.boxes.iter().flatten().copied().collect();
        let indices = TensorData::new(self.batch_indices.clone(), [count]);
        Rois::new(
            tensor::<2>(boxes, [count, 4], device, rounding, dtype),
            Tensor::<1, Int>::from_data(indices, device),
        )
    }
}

fn tensor<const D: usize>(
    values: Vec<f32>,
    shape: [usize; D],
    device: &Device,
    rounding: DType,
    dtype: DType,
) -> Tensor<D> {
    let data = TensorData::new(values, shape)
        .convert_dtype(rounding)
        .convert_dtype(dtype);
    Tensor::from_data(data, (device, dtype))
}

/// Numbers from -1 to 1 that a seed decides.
pub fn random_numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2) + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// What a strategy draws with these bytes as a seed. Drawing from the bytes themselves never ends where zeros follow
/// them: a uniform number below 10 refuses 0 and draws again.
#[allow(dead_code)]
pub fn drawn_from<S: Strategy>(bytes: &[u8], strategy: S) -> S::Value {
    let mut seed = [0; 32];
    for (place, byte) in bytes.iter().enumerate() {
        seed[place % 32] ^= byte.rotate_left(place as u32 / 32);
    }
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let drawn = strategy.new_tree(&mut runner);
    drawn.expect("no strategy refuses a value").current()
}
