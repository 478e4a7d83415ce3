//! Any call, right or wrong: what the fuzz target and the suite's random calls are made of.

use burn::tensor::{DType, Device, Element, Int, IntDType, Tensor, TensorData};
use burn_roi::*;

use crate::problem::{Layout, Operator, random_numbers};

mod bytes;
mod configs;
mod gradient;
mod verdict;

use gradient::{OutputGradient, verdict_of_gradients};
use verdict::{Levels, verdict};

/// A call.
#[derive(Debug, Clone)]
pub struct AnyCall {
    pub operator: Operator,
    pub layout: Layout,
    pub shape: [usize; 4],
    pub dtype: DType,
    pub seed: u64,
    /// Rows of as many numbers as there are columns, which should be 4.
    pub boxes: Vec<f64>,
    pub columns: usize,
    pub box_dtype: DType,
    /// Numbers of any integer type, and the type that they are cast to.
    pub indices: Vec<i64>,
    pub index_dtype: IntDType,
    /// Where there is one, `roi_align` is `multi_scale_roi_align`, and the shape is that of its first level.
    pub pyramid: Option<Pyramid>,
    /// Where there is one, the gradients are computed in place of the output.
    pub gradient: Option<OutputGradient>,
}

/// How a region's level is found.
#[derive(Debug, Clone)]
pub struct Pyramid {
    pub scales: Vec<f64>,
    pub canonical_scale: f64,
    pub canonical_level: i32,
    pub ratio_epsilon: f64,
    pub level_epsilon: f64,
}

impl Pyramid {
    fn config(&self, roi_align: &RoiAlignConfig) -> MultiScaleRoiAlignConfig {
        MultiScaleRoiAlignConfig::new(roi_align.clone())
            .with_canonical_scale(self.canonical_scale)
            .with_canonical_level(self.canonical_level)
            .with_ratio_epsilon(self.ratio_epsilon)
            .with_level_epsilon(self.level_epsilon)
    }
}

impl AnyCall {
    /// How many regions there are boxes for.
    pub fn count(&self) -> usize {
        self.boxes.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Makes the call: the text of the error that it is rightly refused with, if it is. Where the outcome is wrong,
    /// the error says what is.
    pub fn check(&self, device: &Device, host: bool) -> Result<Option<String>, String> {
        let refused = match &self.gradient {
            None => {
                let outcome = self.run(device);
                verdict(self, &outcome, host)?;
                outcome.err()
            }
            Some(gradient) => {
                let outcome = self.run_backward(gradient, device);
                verdict_of_gradients(self, gradient, &outcome, device, host)?;
                outcome.err()
            }
        };
        Ok(refused.map(|error| error.to_string()))
    }

    /// The dtypes of its tensors.
    pub fn dtypes(&self) -> Vec<DType> {
        let of_gradient = self.gradient.as_ref().map(|gradient| gradient.dtype);
        let dtypes = [self.dtype, self.box_dtype, DType::from(self.index_dtype)];
        dtypes.into_iter().chain(of_gradient).collect()
    }

    /// Whether its features have more channels than memory holds, by one that is seen as many.
    pub fn is_too_large(&self) -> bool {
        self.shape[1] >= 1 << 40
    }

    /// How many samples all elements have together, where the call says how many an element has. In f64, as `rounds`.
    pub fn fixed_samples(&self) -> f64 {
        let count = match &self.operator {
            Operator::RoiAlign(RoiAlignConfig {
                sampling: Sampling::Fixed(count),
                ..
            })
            | Operator::PsRoiAlign(PsRoiAlignConfig {
                sampling: Sampling::Fixed(count),
                ..
            }) => *count as f64,
            _ => return 0.0,
        };
        let elements: f64 = self.operator.output_size().iter().map(|&size| size as f64).product();
        let channels = self.shape[1] as f64 / self.operator.input_channels() as f64;
        self.count() as f64 * channels * elements * count.powi(2)
    }

    /// How many rounds the loops of a GPU's unit take together at most, where they may take many: the gradients of a
    /// maximum look at all samples of some elements again. In f64, since a size that is refused can be so large that a
    /// product of integers overflows.
    pub fn rounds(&self) -> f64 {
        let [_, channels, height, width] = self.shape.map(|size| size as f64);
        let samples = match &self.operator {
            _ if self.gradient.is_none() => return 0.0,
            Operator::RoiAlign(config) if config.reduction != Reduction::Average => {
                // Adaptive samples are at most two a pixel.
                let along = |side: f64| match config.sampling {
                    Sampling::Fixed(count) => count as f64,
                    Sampling::Clamped { minimum, .. } => (2.0 * side + 2.0).max(minimum as f64),
                    _ => 2.0 * side + 2.0,
                };
                along(height) * (along(width) + 1.0)
            }
            Operator::RoiPool(_) => height * (width + 1.0),
            _ => return 0.0,
        };
        // A unit looks for the winner of one of 32 elements of each region, or of one of 256 in all channels of its
        // own.
        let elements: f64 = self.operator.output_size().iter().map(|&size| size as f64).product();
        let of_features = self.count() as f64 * (elements / 32.0).ceil();
        let of_boxes = (channels * elements / 256.0).ceil();
        of_features.max(of_boxes) * (samples + 40.0)
    }

    /// Calls the operator.
    pub fn run(&self, device: &Device) -> Result<TensorData, RoiError> {
        let rois = Rois::try_new(self.boxes(device), self.batch_indices(device))?;
        let features = self.features(device, 0);
        let output = match &self.operator {
            Operator::RoiAlign(config) if let Some(pyramid) = &self.pyramid => {
                let levels = 0..pyramid.scales.len();
                let features = levels.map(|level| self.features(device, level)).collect();
                try_multi_scale_roi_align(features, &rois, &pyramid.scales, pyramid.config(config))
            }
            operator => operator.call(features, &rois),
        };
        Ok(output?.into_data())
    }

    /// `[N, C, H, W]` of a level of the pyramid, half as high and wide as the one before.
    pub fn shape_of_level(&self, level: usize) -> [usize; 4] {
        let [batch, channels, height, width] = self.shape;
        let half = |side: usize| (side >> level).max(side.min(1));
        [batch, channels, half(height), half(width)]
    }

    fn features(&self, device: &Device, level: usize) -> Tensor<4> {
        self.layout.features(self.shape_of_level(level), |shape| {
            let seed = self.seed.wrapping_add(level as u64);
            let numbers = random_numbers(seed, shape.iter().product());
            let data = TensorData::new(numbers, shape).convert_dtype(self.dtype);
            Tensor::from_data(data, (device, self.dtype))
        })
    }

    /// The numbers of the features of each level, in order.
    fn levels_on_host(&self) -> Levels {
        let levels = self.pyramid.as_ref().map_or(1, |pyramid| pyramid.scales.len());
        let numbers = |level| {
            self.features(&Device::flex(), level)
                .into_data()
                .iter::<f64>()
                .collect()
        };
        (0..levels).map(numbers).collect()
    }

    fn boxes(&self, device: &Device) -> Tensor<2> {
        let data = TensorData::new(self.boxes.clone(), [self.count(), self.columns]);
        Tensor::from_data(data.convert_dtype(self.box_dtype), (device, self.box_dtype))
    }

    fn batch_indices(&self, device: &Device) -> Tensor<1, Int> {
        fn data<E: Element>(indices: &[i64], cast: impl Fn(i64) -> E) -> TensorData {
            let indices: Vec<E> = indices.iter().map(|&index| cast(index)).collect();
            let count = indices.len();
            TensorData::new(indices, [count])
        }
        let indices = &self.indices;
        let data = match self.index_dtype {
            IntDType::I64 => data(indices, |index| index),
            IntDType::I32 => data(indices, |index| index as i32),
            IntDType::I16 => data(indices, |index| index as i16),
            IntDType::I8 => data(indices, |index| index as i8),
            IntDType::U64 => data(indices, |index| index as u64),
            IntDType::U32 => data(indices, |index| index as u32),
            IntDType::U16 => data(indices, |index| index as u16),
            IntDType::U8 => data(indices, |index| index as u8),
        };
        Tensor::from_data(data, (device, DType::from(self.index_dtype)))
    }

    /// The regions as the operator sees them: boxes rounded to their dtype and indices cast to theirs.
    pub fn regions(&self) -> Vec<(i128, [f64; 4])> {
        let boxes = TensorData::new(self.boxes.clone(), [self.boxes.len()]);
        let boxes: Vec<f64> = boxes.convert_dtype(self.box_dtype).iter::<f64>().collect();
        let indices = self.indices.iter().map(|&index| match self.index_dtype {
            IntDType::I64 => index.into(),
            IntDType::I32 => (index as i32).into(),
            IntDType::I16 => (index as i16).into(),
            IntDType::I8 => (index as i8).into(),
            IntDType::U64 => (index as u64).into(),
            IntDType::U32 => (index as u32).into(),
            IntDType::U16 => (index as u16).into(),
            IntDType::U8 => (index as u8).into(),
        });
        let corners = |row: &[f64]| [row[0], row[1], row[2], row[3]];
        indices.zip(boxes.chunks_exact(4).map(corners)).collect()
    }
}
