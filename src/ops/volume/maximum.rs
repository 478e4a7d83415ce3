//! A maximum of samples along three axes. It is not a maximum of maxima of slices, since a sample lies between slices.
//! So each sample is first computed as an output element.

use burn::tensor::Tensor;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;

use crate::regions::reshaped;

/// An element that is the largest of its samples.
#[derive(Debug, Clone, Copy)]
pub struct Maximum {
    /// How many there are along z, y and x.
    pub samples: [usize; 3],
    /// Whether it is at least 0.
    pub from_zero: bool,
}

impl Maximum {
    /// From samples `[K, C, .., ..]` to elements `[K, C, P, Q * R]`.
    pub fn of(&self, samples: Tensor<4>, [planes, rows, columns]: [usize; 3]) -> Tensor<4> {
        let [regions, channels, ..] = samples.dims();
        let elements = [regions, channels, planes, rows * columns];
        if regions * channels == 0 {
            return reshaped(samples, elements);
        }
        let [z, y, x] = self.samples;
        let slices = samples.reshape([regions, channels * planes * z, rows * y, columns * x]);
        let slices = largest(slices, [y, x]).reshape([regions, channels * planes, z, rows * columns]);
        let pooled = largest(slices, [z, 1]).reshape(elements);
        match self.from_zero {
            true => pooled.clamp_min(0.0),
            false => pooled,
        }
    }
}

/// The largest number of each block of so many rows and columns. NaN is ignored, as it is in maps: `max_pool2d` of Flex
/// returns it, and that of NdArray does not.
fn largest(maps: Tensor<4>, block: [usize; 2]) -> Tensor<4> {
    let is_nan = maps.clone().is_nan();
    max_pool2d(maps.mask_fill(is_nan, f32::NEG_INFINITY), MaxPoolOptions::new(block))
}
