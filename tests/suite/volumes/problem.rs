//! A call on a volume that is right in everything.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;

use crate::problem::random_numbers;

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum Operator3d {
    Align(RoiAlign3dConfig),
    Pool(RoiPool3dConfig),
    Crop(CropAndResize3dConfig),
}

impl Operator3d {
    pub fn call(&self, features: Tensor<5>, rois: &Rois3d) -> Result<Tensor<5>, RoiError> {
        match self.clone() {
            Self::Align(config) => try_roi_align_3d(features, rois, config),
            Self::Pool(config) => try_roi_pool_3d(features, rois, config),
            Self::Crop(config) => try_crop_and_resize_3d(features, rois, config),
        }
    }
}

/// The columns of x1, y1, x2, y2, z1 and z2 in each format.
pub const FORMATS: [(BoxFormat3d, [usize; 6]); 3] = [
    (BoxFormat3d::Xyxyzz, [0, 1, 2, 3, 4, 5]),
    (BoxFormat3d::Zyxzyx, [2, 1, 5, 4, 0, 3]),
    (BoxFormat3d::Zyzyxx, [4, 1, 5, 3, 0, 2]),
];

#[derive(Debug, Clone)]
pub struct Problem3d {
    pub operator: Operator3d,
    /// `[N, C, D, H, W]`.
    pub shape: [usize; 5],
    /// Whether the features lie in memory with their channels last.
    pub channels_last: bool,
    /// Each `[x1, y1, x2, y2, z1, z2]`.
    pub boxes: Vec<[f32; 6]>,
    pub batch_indices: Vec<i32>,
    /// An index of `FORMATS`.
    pub format: usize,
    pub seed: u64,
}

impl Problem3d {
    pub fn features(&self, device: &Device, dtype: DType) -> Tensor<5> {
        let [n, c, d, h, w] = self.shape;
        let random = |shape: [usize; 5]| {
            let data = TensorData::new(random_numbers(self.seed, shape.iter().product()), shape);
            Tensor::<5>::from_data(data.convert_dtype(dtype), (device, dtype))
        };
        match self.channels_last {
            true => random([n, d, h, w, c]).permute([0, 4, 1, 2, 3]),
            false => random([n, c, d, h, w]),
        }
    }

    /// The boxes, rounded to f32, in the columns of the format.
    pub fn boxes(&self, device: &Device, dtype: DType) -> Tensor<2> {
        let columns = FORMATS[self.format].1;
        let mut boxes = vec![0.0; 6 * self.boxes.len()];
        for (row, of_row) in self.boxes.iter().zip(boxes.chunks_mut(6)) {
            columns
                .into_iter()
                .zip(row)
                .for_each(|(column, end)| of_row[column] = *end);
        }
        let data = TensorData::new(boxes, [self.boxes.len(), 6]);
        Tensor::from_data(data.convert_dtype(dtype), (device, dtype))
    }

    pub fn rois(&self, boxes: Tensor<2>) -> Rois3d {
        let indices = TensorData::new(self.batch_indices.clone(), [self.batch_indices.len()]);
        let indices = Tensor::<1, Int>::from_data(indices, &boxes.device());
        Rois3d::new(boxes, indices, FORMATS[self.format].0)
    }

    pub fn run(&self, device: &Device, dtype: DType) -> TensorData {
        let rois = self.rois(self.boxes(device, dtype));
        let output = self.operator.call(self.features(device, dtype), &rois);
        output.expect("the problem is right").into_data()
    }
}
