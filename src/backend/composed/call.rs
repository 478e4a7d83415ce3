//! A call of the composition: which regions are computed together, in which blocks of channels.

use std::ops::Range;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Scalar, Shape, Slice};

use super::pixels::Pixels;
use super::{Operator, Sum, cast};
use crate::backend::host::{Region, regions};
use crate::backend::output_shape;
use crate::geometry::convention::AreaRange;
use crate::geometry::plan::hull;

/// How many numbers the pixels of an image hold at most, 48 MiB of f32.
const PIXELS: usize = 12 << 20;

/// How many output elements of a channel are computed together at most, each with 64 bytes of its plan.
const ELEMENTS: usize = 1 << 18;

/// As many channels are computed at a time, rather than more regions.
const LEAST_BLOCK: usize = 64;

/// The tensors of a call, with its regions on the host.
pub struct Call<B: Backend, R> {
    features: FloatTensor<B>,
    regions: Vec<Region<R>>,
    output_size: [usize; 2],
    shape: Shape,
}

impl<B: Backend, R: Sum> Call<B, R> {
    pub fn new(
        features: FloatTensor<B>,
        boxes: FloatTensor<B>,
        batch_indices: IntTensor<B>,
        output_size: [usize; 2],
        columns: [usize; 4],
        areas: &AreaRange,
    ) -> Self {
        let shape = output_shape(&features.shape(), &boxes.shape(), output_size);
        let batch = features.shape()[0];
        Self {
            regions: regions::<B, R>(boxes, batch_indices, batch, columns, areas),
            features,
            output_size,
            shape,
        }
    }

    /// Computes the regions of the level, `[K, C, P, Q]`, into what other levels have left.
    pub fn run<O: Operator<R>>(self, pooled: Option<FloatTensor<B>>, operator: &O) -> FloatTensor<B> {
        // Regions that read no pixel keep this value, which the first level gives to all.
        let mut output = pooled.unwrap_or_else(|| self.filled(operator.outside()));
        for image in 0..self.features.shape()[0] {
            let regions = self.regions_that_read(operator, image);
            let window = [0, 1].map(|axis| hull(regions.iter().map(|(_, window)| window[axis].clone())));
            let windows: usize = regions.iter().map(|(_, window)| area(window)).sum();
            // What regions share is laid out once, unless their windows are smaller than what they span.
            if O::AT_ONCE || windows > area(&window) {
                let rows: Vec<usize> = regions.into_iter().map(|(row, _)| row).collect();
                output = self.write(output, operator, image, &rows, &window);
            } else {
                for (row, window) in regions {
                    output = self.write(output, operator, image, &[row], &window);
                }
            }
        }
        output
    }

    /// The output, of one value.
    fn filled(&self, value: f64) -> FloatTensor<B> {
        let device = self.features.device();
        let dtype: FloatDType = self.features.dtype().into();
        match value {
            0.0 => B::float_zeros(self.shape.clone(), &device, dtype),
            value => B::float_full(self.shape.clone(), Scalar::from(value), &device, dtype),
        }
    }

    /// The rows of an image's regions that read some pixel, with their windows.
    fn regions_that_read<O: Operator<R>>(&self, operator: &O, image: usize) -> Vec<(usize, [Range<usize>; 2])> {
        let of_image = |(_, region): &(usize, &Region<R>)| region.in_level && region.image == Some(image);
        let windows = self
            .regions
            .iter()
            .enumerate()
            .filter(of_image)
            .map(|(row, region)| (row, operator.window(&operator.plan(region))));
        windows.filter(|(_, window)| area(window) > 0).collect()
    }

    /// Computes regions of an image whose pixels lie in `window`, and writes them.
    fn write<O: Operator<R>>(
        &self,
        mut output: FloatTensor<B>,
        operator: &O,
        image: usize,
        rows: &[usize],
        window: &[Range<usize>; 2],
    ) -> FloatTensor<B> {
        if rows.is_empty() {
            return output;
        }
        let [height, width] = self.output_size;
        let dtype: FloatDType = self.features.dtype().into();
        // Where regions are computed together, a few tensors of their results' size are held as well. Of
        // 300 regions, 128 channels at a time are faster than 256: memory is not given back in between.
        let copies = if O::AT_ONCE { 6 } else { 1 };
        let of_a_group = match O::AT_ONCE {
            true => {
                let elements = ELEMENTS.min(PIXELS / (copies * LEAST_BLOCK.min(self.shape[1])));
                (elements / (height * width)).clamp(1, rows.len())
            }
            false => 1,
        };
        let largest = copies * area(window).max(of_a_group * height * width);
        // About as many channels each time, in whole vectors.
        let most = (PIXELS / largest).max(1);
        let times = self.shape[1].div_ceil(most);
        let block = self.shape[1].div_ceil(times).next_multiple_of(16).min(most);
        // Rows of all elements are moved faster than those of Q.
        let [regions, count, ..] = self.shape.dims::<4>();
        output = B::float_reshape(output, Shape::new([regions, count, height * width]));
        for start in (0..self.shape[1]).step_by(block) {
            let channels = start..(start + block).min(self.shape[1]);
            let pixels = Pixels::<B>::lay_out::<R>(&self.features, image, &channels, window);
            for rows in rows.chunks(of_a_group) {
                let plans: Vec<_> = rows.iter().map(|&row| operator.plan(&self.regions[row])).collect();
                let results = cast::<B>(operator.compute(&pixels, &plans), dtype);
                let results = B::float_swap_dims(results, 1, 2);
                output = write_runs::<B>(output, results, rows, &channels);
            }
        }
        B::float_reshape(output, self.shape.clone())
    }
}

/// Writes the results `[rows, C, P * Q]` to their rows of the output, `[K, C, P * Q]`.
fn write_runs<B: Backend>(
    mut output: FloatTensor<B>,
    results: FloatTensor<B>,
    rows: &[usize],
    channels: &Range<usize>,
) -> FloatTensor<B> {
    let elements = results.shape()[2];
    let mut first = 0;
    for run in runs(rows) {
        let part = match run.len() == rows.len() {
            true => results.clone(),
            false => B::float_slice(results.clone(), &[Slice::from(first..first + run.len())]),
        };
        first += run.len();
        let slices = [run, channels.clone(), 0..elements].map(Slice::from);
        output = B::float_slice_assign(output, &slices, part);
    }
    output
}

/// How many pixels a window has.
fn area([rows, columns]: &[Range<usize>; 2]) -> usize {
    rows.len() * columns.len()
}

/// Increasing numbers as ranges of neighbours.
fn runs(numbers: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}
