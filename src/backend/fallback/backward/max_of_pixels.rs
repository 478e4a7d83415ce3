//! A maximum over bins of whole pixels. The host finds the pixel that the gradient of a bin goes to, since tensor
//! operations need a sort of each channel for it.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice, TensorData, read_sync};
use rayon::prelude::*;

use super::call::GradientCall;
use crate::backend::fallback::planned::PlannedGroup;
use crate::backend::fallback::tensors::{Number, cast, cut};
use crate::geometry::plan::PixelRanges;

/// How many pixels and elements of the output a block of channels has at most: 16 MiB of f32.
const NUMBERS: usize = 4 << 20;

/// How many channels are compared together.
const LANES: usize = 8;

/// No pixel. A map has fewer: its pixels in 8 channels would be 128 GiB.
const NONE: u32 = u32::MAX;

impl<B: Backend, R: Number> GradientCall<'_, B, R> {
    /// The gradient of features of a maximum over bins.
    pub fn gradient_of_largest_pixels(&self) -> FloatTensor<B> {
        let (device, dtype): (_, FloatDType) = (self.gradient.device(), self.gradient.dtype().into());
        let [images, channels, height, width] = self.shape;
        let mut output = B::float_zeros(Shape::new(self.shape), &device, dtype);
        let numbers = height * width + self.regions.len() * self.elements();
        let block = (NUMBERS / numbers.max(1)).clamp(1, channels.max(1));
        // There is one group: only averages have elements that read channels of their own.
        let group = &self.planner.groups[0];
        let regions = (0..images).map(|image| (image, self.planned(group, image, false)));
        let regions: Vec<_> = regions.filter(|(_, in_image)| !in_image.is_empty()).collect();
        if regions.is_empty() {
            return output;
        }
        // Slices of two dimensions are copied by longer rows. A gradient that is not contiguous is copied here.
        let row = Shape::new([self.regions.len(), channels * self.elements()]);
        let rows = B::float_reshape(self.gradient.clone(), row);
        for channels in cut(0..channels, block) {
            let block_columns = channels.start * self.elements()..channels.end * self.elements();
            let gradient = B::float_slice(rows.clone(), &[Slice::full(), block_columns.into()]);
            let gradient = on_host::<B, R>(gradient);
            for (image, regions) in &regions {
                let place = [*image..image + 1, channels.clone()].map(Slice::from);
                let planes = on_host::<B, R>(B::float_slice(self.features().clone(), &place));
                let sums = self.sums(regions, channels.len(), [&planes, &gradient].map(values));
                let sums = TensorData::new(sums, [1, channels.len(), height, width]);
                let sums = cast::<B>(B::float_from_data(sums, &device), dtype);
                output = B::float_slice_assign(output, &place, sums);
            }
        }
        output
    }

    /// The gradient of the pixels `[C, H, W]` of a block of channels. `gradient` is `[K, C, P, Q]`.
    fn sums(&self, regions: &[PlannedGroup<PixelRanges>], channels: usize, [planes, gradient]: [&[R]; 2]) -> Vec<R> {
        let [.., height, width] = self.shape;
        let (start, elements) = (self.planner.values().start, self.elements());
        let plane = height * width;
        let mut sums = vec![R::default(); planes.len()];
        let lane_blocks = sums.par_chunks_mut(LANES * plane).zip(planes.par_chunks(LANES * plane));
        lane_blocks.enumerate().for_each(|(block, (sums, planes))| {
            let mut pixels = vec![[R::default(); LANES]; plane];
            for (lane, plane) in planes.chunks(plane).enumerate() {
                pixels
                    .iter_mut()
                    .zip(plane)
                    .for_each(|(pixel, &value)| pixel[lane] = value);
            }
            for region in regions {
                let [y, x] = &region.plan;
                let bins = y.iter().flat_map(|rows| x.iter().map(move |columns| [rows, columns]));
                let first = (region.row * channels + block * LANES) * elements;
                for (bin, element) in bins.zip(first..) {
                    let winners = first_largest(&pixels, width, bin, start);
                    for (lane, (sums, winner)) in sums.chunks_mut(plane).zip(winners).enumerate() {
                        if winner != NONE {
                            sums[winner as usize] += gradient[element + lane * elements];
                        }
                    }
                }
            }
        });
        sums
    }

    /// How many elements a channel of a region has.
    fn elements(&self) -> usize {
        self.planner.operator.output_size.iter().product()
    }
}

/// In each channel, the first pixel of a bin, row by row, with the largest value; [`NONE`] if none is above `start`.
fn first_largest<R: Number>(
    pixels: &[[R; LANES]],
    width: usize,
    [rows, columns]: [&Range<usize>; 2],
    start: R,
) -> [u32; LANES] {
    let (mut largest, mut winners) = ([start; LANES], [NONE; LANES]);
    // The columns of an empty bin may lie outside.
    for row in rows.clone().filter(|_| !columns.is_empty()) {
        let first = row * width + columns.start;
        for (index, pixel) in (first as u32..).zip(&pixels[first..first + columns.len()]) {
            // Selections, which the compiler makes vectors of. Branches would be mispredicted in most bins.
            for ((largest, winner), &value) in largest.iter_mut().zip(&mut winners).zip(pixel) {
                let is_larger = value > *largest;
                *largest = if is_larger { value } else { *largest };
                *winner = if is_larger { index } else { *winner };
            }
        }
    }
    winners
}

/// A slice on the host. It is flat, since a slice of one image has a stride of 0: burn-ndarray 0.22 takes it for not
/// contiguous, and copies it a second time, element by element.
fn on_host<B: Backend, R: Number>(slice: FloatTensor<B>) -> TensorData {
    let flat = Shape::new([slice.shape().num_elements()]);
    let tensor = B::float_reshape(cast::<B>(slice, R::DTYPE), flat);
    read_sync(B::float_into_data(tensor)).expect("the device should answer with the tensor's data")
}

fn values<R: Number>(data: &TensorData) -> &[R] {
    data.as_slice().expect("the tensor should have the dtype of sums")
}
