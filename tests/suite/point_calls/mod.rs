//! Calls of the operators whose samples are no grid of rows and columns of the map: what the suite and the fuzz target
//! share.
//!
//! A [`PointProblem`] is a valid call, `strategies` draws them at random, `any_call` changes them into calls that may
//! be wrong, and `reference` is what both are compared with.

pub mod any_call;
pub mod gradients;
pub mod reference;
pub mod strategies;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;

use crate::problem::{Layout, random_numbers};
use crate::reference::Coordinates;
use reference::Expected;

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum PointOperator {
    Rotated(RoiAlignRotatedConfig),
    RiRotated(RiRoiAlignRotatedConfig),
    Deform(DeformRoiPoolConfig),
    DeformPs(DeformPsRoiPoolConfig),
    PsCrop(PsCropAndResizeConfig),
}

impl PointOperator {
    pub fn output_size(&self) -> [usize; 2] {
        match self {
            Self::Rotated(config) => config.output_size,
            Self::RiRotated(config) => config.output_size,
            Self::Deform(config) => config.output_size,
            Self::DeformPs(config) => config.output_size,
            Self::PsCrop(config) => config.output_size,
        }
    }

    pub fn spatial_scale(&self) -> f64 {
        match self {
            Self::Rotated(config) => config.spatial_scale,
            Self::RiRotated(config) => config.spatial_scale,
            Self::Deform(config) => config.spatial_scale,
            Self::DeformPs(config) => config.spatial_scale,
            Self::PsCrop(config) => config.spatial_scale,
        }
    }

    /// How many columns a box has.
    pub fn columns(&self) -> usize {
        match self {
            Self::Rotated(_) | Self::RiRotated(_) => 5,
            _ => 4,
        }
    }

    /// How many channels of the features there are for each channel of the output.
    pub fn input_channels(&self) -> usize {
        match self {
            Self::DeformPs(config) => config.output_size.iter().product(),
            Self::PsCrop(config) => config.parts.iter().product(),
            _ => 1,
        }
    }

    /// Calls it.
    pub fn call(
        &self,
        features: Tensor<4>,
        boxes: Tensor<2>,
        indices: Tensor<1, Int>,
        offsets: Option<Tensor<4>>,
    ) -> Result<Tensor<4>, RoiError> {
        match self.clone() {
            Self::Rotated(config) => try_roi_align_rotated(features, &RotatedRois::try_new(boxes, indices)?, config),
            Self::RiRotated(config) => {
                try_riroi_align_rotated(features, &RotatedRois::try_new(boxes, indices)?, config)
            }
            Self::Deform(config) => try_deform_roi_pool(features, &Rois::try_new(boxes, indices)?, offsets, config),
            Self::DeformPs(config) => {
                try_deform_ps_roi_pool(features, &Rois::try_new(boxes, indices)?, offsets, config)
            }
            Self::PsCrop(config) => try_ps_crop_and_resize(features, &Rois::try_new(boxes, indices)?, config),
        }
    }
}

/// A call that is right in everything.
#[derive(Debug, Clone)]
pub struct PointProblem {
    pub operator: PointOperator,
    pub layout: Layout,
    pub shape: [usize; 4],
    /// Rows of as many columns as the operator's boxes have.
    pub boxes: Vec<Vec<f64>>,
    pub batch_indices: Vec<i32>,
    /// `[K, 2 * classes, rows, columns]`.
    pub offsets: Option<([usize; 4], Vec<f64>)>,
    pub seed: u64,
}

/// What a call is computed of.
#[derive(Debug, Clone)]
pub struct Inputs {
    pub features: Tensor<4>,
    pub boxes: Tensor<2>,
    pub offsets: Option<Tensor<4>>,
}

impl PointProblem {
    pub fn inputs(&self, device: &Device, dtype: DType) -> Inputs {
        self.rounded_inputs(device, dtype, dtype)
    }

    /// Inputs that are rounded to one dtype, in another.
    pub fn rounded_inputs(&self, device: &Device, rounding: DType, dtype: DType) -> Inputs {
        let floats = |numbers: Vec<f64>, shape: Vec<usize>| {
            let data = TensorData::new(numbers, shape);
            // Features and boxes are f32 first, as in all random problems.
            data.convert_dtype(DType::F32)
                .convert_dtype(rounding)
                .convert_dtype(dtype)
        };
        let features = self.layout.features(self.shape, |shape| {
            let numbers = random_numbers(self.seed, shape.iter().product());
            let numbers = numbers.into_iter().map(f64::from).collect();
            Tensor::from_data(floats(numbers, shape.to_vec()), (device, dtype))
        });
        let boxes = floats(self.boxes.concat(), vec![self.boxes.len(), self.operator.columns()]);
        let offsets = self.offsets.as_ref().map(|(shape, numbers)| {
            let data = floats(numbers.clone(), shape.to_vec());
            Tensor::from_data(data, (device, dtype))
        });
        Inputs {
            features,
            boxes: Tensor::from_data(boxes, (device, dtype)),
            offsets,
        }
    }

    pub fn indices(&self, device: &Device) -> Tensor<1, Int> {
        let count = self.batch_indices.len();
        Tensor::from_data(TensorData::new(self.batch_indices.clone(), [count]), device)
    }

    pub fn call(&self, inputs: Inputs, device: &Device) -> Tensor<4> {
        let Inputs {
            features,
            boxes,
            offsets,
        } = inputs;
        let output = self.operator.call(features, boxes, self.indices(device), offsets);
        output.expect("the problem is right")
    }

    /// Computes it on a device, in a dtype.
    pub fn run(&self, device: &Device, dtype: DType) -> TensorData {
        self.call(self.inputs(device, dtype), device).into_data()
    }

    /// What it should give, where the reference computes that.
    pub fn expected(&self, device: &Device, dtype: DType, coordinates: Coordinates) -> Option<Expected> {
        let features = self.inputs(device, dtype).features;
        let features: Vec<f64> = features.into_data().iter::<f64>().collect();
        reference::output(self, &features, coordinates)
    }
}
