//! Region operators as compositions of tensor operations: the default for any Burn backend.
//!
//! Boxes are read to the host and planned there. Of each image, the pixels that its regions cover are laid
//! out with channels last, so that a window's rows are long runs of memory; the backend's own slices,
//! products and maxima then work on one region after another. Memory is bounded: a block of channels at a
//! time passes through, and results are written in groups.

use std::ops::Range;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, Element, FloatDType, Scalar, Shape, Slice, TensorData};

use super::host::{Region, regions};
use super::output_shape;
use crate::geometry::convention::{AreaRange, Reduction, RegionBins, RegionSamples};
use crate::geometry::plan::{Coordinate, hull};

mod average;
mod bins;
mod maximum;

use average::Average;
use bins::Bins;
use maximum::Maximum;

/// How many numbers the pixels of an image hold at most, 48 MiB of f32.
const PIXELS: usize = 12 << 20;

/// How many output elements of a channel are computed together at most, each with 64 bytes of its plan.
const ELEMENTS: usize = 1 << 18;

/// As many channels are computed at a time, rather than more regions.
const LEAST_BLOCK: usize = 64;

/// How many numbers any other intermediate tensor holds at most, 16 MiB of f32. A few are alive at once,
/// and a call may take 256 MiB beyond its input and output.
const BLOCK: usize = 4 << 20;

/// See [`RegionKernels::sample_regions`](super::RegionKernels::sample_regions).
pub(super) fn sample_regions<B: Backend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    sample_into::<B>(None, features, boxes, batch_indices, sampling)
}

/// See [`RegionKernels::sample_level`](super::RegionKernels::sample_level).
pub(super) fn sample_level<B: Backend>(
    pooled: FloatTensor<B>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    sample_into::<B>(Some(pooled), features, boxes, batch_indices, sampling)
}

fn sample_into<B: Backend>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    match features.dtype() {
        DType::F64 => sample::<B, f64>(pooled, features, boxes, batch_indices, sampling),
        _ => sample::<B, f32>(pooled, features, boxes, batch_indices, sampling),
    }
}

/// See [`RegionKernels::pool_regions`](super::RegionKernels::pool_regions).
pub(super) fn pool_regions<B: Backend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    bins: &RegionBins,
) -> FloatTensor<B> {
    match features.dtype() {
        DType::F64 => pool::<B, f64>(features, boxes, batch_indices, bins),
        _ => pool::<B, f32>(features, boxes, batch_indices, bins),
    }
}

fn sample<B: Backend, R: Sum>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    sampling: &RegionSamples,
) -> FloatTensor<B> {
    let [_, _, height, width] = features.shape().dims();
    let map = [height, width];
    let call = Call::<B, R>::new(
        features,
        boxes,
        batch_indices,
        sampling.output_size,
        sampling.columns,
        &sampling.areas,
    );
    match sampling.reduction {
        Reduction::Average => call.run(pooled, &Average::new(sampling, map)),
        _ => call.run(pooled, &Maximum::new(sampling, map)),
    }
}

fn pool<B: Backend, R: Sum>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    bins: &RegionBins,
) -> FloatTensor<B> {
    let [_, _, height, width] = features.shape().dims();
    Call::<B, R>::new(
        features,
        boxes,
        batch_indices,
        bins.output_size,
        [0, 1, 2, 3],
        &AreaRange::ALL,
    )
    .run(None, &Bins::new(bins, [height, width]))
}

/// The type that weights and sums have on a backend: f32, or f64 for features of f64.
trait Sum: Coordinate + Element + Default + Into<f64> {
    const DTYPE: FloatDType;

    /// A value of an option in this type.
    fn from_f64(value: f64) -> Self;
}

impl Sum for f32 {
    const DTYPE: FloatDType = FloatDType::F32;

    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Sum for f64 {
    const DTYPE: FloatDType = FloatDType::F64;

    fn from_f64(value: f64) -> Self {
        value
    }
}

/// An operator on regions of an image.
trait Operator<R> {
    /// What of a region is common to its channels.
    type Plan;

    /// Whether the regions of an image are computed together, rather than in groups: where what they
    /// share costs more than what they don't.
    const AT_ONCE: bool;

    /// Plans a region.
    fn plan(&self, region: &Region<R>) -> Self::Plan;

    /// The rows and the columns of the map that a region reads.
    fn window(&self, plan: &Self::Plan) -> [Range<usize>; 2];

    /// The value of a region that reads no pixel.
    fn outside(&self) -> f64;

    /// The results `[K, P * Q, C]` of planned regions that read some pixel.
    fn compute<B: Backend>(&self, pixels: &Pixels<B>, plans: &[Self::Plan]) -> FloatTensor<B>;
}

/// Pixels `[H, W, C]` of a window of an image, in the dtype of sums.
struct Pixels<B: Backend> {
    tensor: FloatTensor<B>,
    rows: Range<usize>,
    columns: Range<usize>,
    channels: usize,
}

impl<B: Backend> Pixels<B> {
    /// The pixels `[H, W, C]` of a window within.
    fn window(&self, rows: &Range<usize>, columns: &Range<usize>) -> FloatTensor<B> {
        let within = |range: &Range<usize>, origin: usize| range.start - origin..range.end - origin;
        let slices = [
            within(rows, self.rows.start),
            within(columns, self.columns.start),
            0..self.channels,
        ];
        B::float_slice(self.tensor.clone(), &slices.map(Slice::from))
    }

    fn device(&self) -> B::Device {
        self.tensor.device()
    }

    /// A tensor of values computed on the host.
    fn constant<R: Sum, const D: usize>(
        &self,
        values: Vec<R>,
        shape: [usize; D],
    ) -> FloatTensor<B> {
        B::float_from_data(TensorData::new(values, shape), &self.device())
    }
}

/// The tensors of a call, with its regions on the host.
struct Call<B: Backend, R> {
    features: FloatTensor<B>,
    regions: Vec<Region<R>>,
    output_size: [usize; 2],
    shape: Shape,
}

impl<B: Backend, R: Sum> Call<B, R> {
    fn new(
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
    fn run<O: Operator<R>>(self, pooled: Option<FloatTensor<B>>, operator: &O) -> FloatTensor<B> {
        // Regions that read no pixel keep this value, which the first level gives to all.
        let mut output = pooled.unwrap_or_else(|| self.filled(operator.outside()));
        for image in 0..self.features.shape()[0] {
            let regions = self.regions_that_read(operator, image);
            let window =
                [0, 1].map(|axis| hull(regions.iter().map(|(_, window)| window[axis].clone())));
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
    fn regions_that_read<O: Operator<R>>(
        &self,
        operator: &O,
        image: usize,
    ) -> Vec<(usize, [Range<usize>; 2])> {
        let of_image =
            |(_, region): &(usize, &Region<R>)| region.in_level && region.image == Some(image);
        let windows = self
            .regions
            .iter()
            .enumerate()
            .filter(of_image)
            .map(|(row, region)| (row, operator.window(&operator.plan(region))));
        windows.filter(|(_, window)| area(window) > 0).collect()
    }

    /// Lays out a window of an image with channels last.
    fn pixels(
        &self,
        image: usize,
        channels: &Range<usize>,
        [rows, columns]: &[Range<usize>; 2],
    ) -> Pixels<B> {
        let slices = [
            image..image + 1,
            channels.clone(),
            rows.clone(),
            columns.clone(),
        ];
        let window = B::float_slice(self.features.clone(), &slices.map(Slice::from));
        let (area, count) = (rows.len() * columns.len(), channels.len());
        let planes = B::float_reshape(window, Shape::new([count, area]));
        // Reshaped after the axes are swapped, which makes the backend move the numbers once, here.
        let pixels = B::float_reshape(
            B::float_swap_dims(cast::<B>(planes, R::DTYPE), 0, 1),
            Shape::new([area * count]),
        );
        Pixels {
            tensor: B::float_reshape(pixels, Shape::new([rows.len(), columns.len(), count])),
            rows: rows.clone(),
            columns: columns.clone(),
            channels: count,
        }
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
            let pixels = self.pixels(image, &channels, window);
            for rows in rows.chunks(of_a_group) {
                let plans: Vec<_> = rows
                    .iter()
                    .map(|&row| operator.plan(&self.regions[row]))
                    .collect();
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

fn cast<B: Backend>(tensor: FloatTensor<B>, dtype: FloatDType) -> FloatTensor<B> {
    if tensor.dtype() == dtype.into() {
        return tensor;
    }
    B::float_cast(tensor, dtype)
}

fn concatenate<B: Backend>(mut parts: Vec<FloatTensor<B>>, dim: usize) -> FloatTensor<B> {
    match parts.len() {
        1 => parts.remove(0),
        _ => B::float_cat(parts, dim),
    }
}
