//! Any call, right or wrong: what the fuzz target and the suite's random calls are made of.

use burn::tensor::{DType, Device, Element, Int, IntDType, Tensor, TensorData};
use burn_roi::*;

use crate::problem::{Layout, Operator, random_numbers};

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

impl AnyCall {
    /// How many regions there are boxes for.
    pub fn count(&self) -> usize {
        self.boxes.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Calls the operator.
    pub fn run(&self, device: &Device) -> Result<TensorData, RoiError> {
        let rois = Rois::try_new(self.boxes(device), self.batch_indices(device))?;
        let features = self.features(device, 0);
        let output = match &self.operator {
            Operator::RoiAlign(config) if let Some(pyramid) = &self.pyramid => {
                let levels = 0..pyramid.scales.len();
                let features = levels.map(|level| self.features(device, level)).collect();
                let config = MultiScaleRoiAlignConfig::new(config.clone())
                    .with_canonical_scale(pyramid.canonical_scale)
                    .with_canonical_level(pyramid.canonical_level)
                    .with_ratio_epsilon(pyramid.ratio_epsilon)
                    .with_level_epsilon(pyramid.level_epsilon);
                try_multi_scale_roi_align(features, &rois, &pyramid.scales, config)
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

    /// The numbers of the features of a level, in order.
    pub fn features_on_host(&self, level: usize) -> Vec<f64> {
        let features = self.features(&Device::flex(), level);
        features.into_data().iter::<f64>().collect()
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
