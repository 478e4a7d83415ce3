//! A maximum over bins, from a sparse table (range-maximum query).
//!
//! A table holds, for each pixel, the maximum of the 2^i by 2^j pixels that begin there. Four of these cover any bin,
//! and their overlaps do not change the maximum. So all bins of all regions are four selections of rows, whatever their
//! sizes.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{DType, Scalar, Shape, Slice, TensorData, read_sync};

use super::channels_last::ChannelsLast;
use super::planned::{PlannedGroup, Values};
use super::schedule::PoolPlan;
use super::tensors::{Number, concatenate};
use crate::geometry::plan::PixelRanges;

/// How many bins are selected at a time, each with the pixels at its four corners: 4 MiB in 128 channels.
const BINS: usize = 1 << 11;

/// With fewer channels than this, NdArray does not vectorize a pooling.
const POOLED: usize = 32;

impl<R: Number> PoolPlan<R> for PixelRanges {
    const AT_ONCE: bool = true;

    fn pool<B: Backend>(values: Values, pixels: &ChannelsLast<B>, regions: &[PlannedGroup<Self>]) -> FloatTensor<B> {
        let bins = Bin::all(regions, pixels.window.each_ref().map(|range| range.start));
        let deepest = [0, 1].map(|axis| bins.iter().flatten().map(|bin| bin.level[axis]).max());
        let [deepest_y, deepest_x] = deepest.map(Option::unwrap_or_default);

        // The first row is the value of empty bins.
        let mut order = vec![0; bins.len()];
        let bin_shape = Shape::new([1, pixels.channels]);
        let outside = Scalar::from(values.outside);
        let mut parts = vec![B::float_full(bin_shape, outside, &pixels.device(), R::DTYPE)];
        let mut count = 1;
        let mut along_y = pixels.tensor.clone();
        for level_y in 0..=deepest_y {
            along_y = next_level::<B>(along_y, 0, level_y);
            let mut table = along_y.clone();
            for level_x in 0..=deepest_x {
                table = next_level::<B>(table, 1, level_x);
                let here = |bin: &&Bin| bin.level == [level_y, level_x];
                let members: Vec<&Bin> = bins.iter().flatten().filter(here).collect();
                if members.is_empty() {
                    continue;
                }
                for (offset, bin) in members.iter().enumerate() {
                    order[bin.number] = count + offset;
                }
                count += members.len();
                let chunks = members.chunks(BINS);
                parts.extend(chunks.map(|bins| maxima_of_corners::<B>(&table, bins)));
            }
        }
        let maxima = B::float_select(concatenate::<B>(parts, 0), 0, indices::<B>(order, &pixels.device()));
        let elements = bins.len() / regions.len();
        B::float_reshape(maxima, Shape::new([regions.len(), elements, pixels.channels]))
    }
}

/// Features in which NaN and what is smaller than `start`, where a maximum starts, are replaced by `start`.
pub fn from_start<B: Backend>(features: FloatTensor<B>, start: f64) -> FloatTensor<B> {
    let least = match features.dtype() {
        DType::F64 => f64::MIN,
        _ => f32::MIN.into(),
    };
    // A finite sum shows in one pass that there is neither NaN nor infinity, as in nearly all features.
    let sum = B::float_into_data(B::float_sum(features.clone()));
    let sum = read_sync(sum).map(|sum| sum.iter::<f64>().sum());
    if start <= least && sum.is_ok_and(f64::is_finite) {
        return features;
    }
    let bool_dtype = get_or_init_device_settings::<B>(&features.device()).bool_dtype;
    let larger = B::float_greater_elem(features.clone(), Scalar::from(start), bool_dtype);
    B::float_mask_fill(features, B::bool_not(larger), Scalar::from(start))
}

/// A bin that is not empty.
struct Bin {
    /// Its index among all bins.
    number: usize,
    /// Its first pixel along y and along x.
    start: [usize; 2],
    /// How many pixels it has.
    length: [usize; 2],
    /// The largest powers of two that fit.
    level: [u32; 2],
}

impl Bin {
    /// The bins of regions, row by row; none for an empty one.
    fn all(regions: &[PlannedGroup<PixelRanges>], origin: [usize; 2]) -> Vec<Option<Self>> {
        let plans = regions.iter().map(|region| &region.plan);
        let pairs = plans.flat_map(|[y, x]| y.iter().flat_map(move |y| x.iter().map(move |x| [y, x])));
        let bin = |(number, bin): (usize, [&std::ops::Range<usize>; 2])| {
            let length = bin.map(|range| range.len());
            (!length.contains(&0)).then(|| Self {
                number,
                start: [bin[0].start - origin[0], bin[1].start - origin[1]],
                length,
                level: length.map(usize::ilog2),
            })
        };
        pairs.enumerate().map(bin).collect()
    }

    /// Along an axis, the first pixels of the two powers of two that cover it.
    fn corners(&self, axis: usize) -> impl Iterator<Item = usize> {
        let first = self.start[axis];
        let last = first + self.length[axis] - (1 << self.level[axis]);
        [first, last].into_iter()
    }
}

/// Computes the maxima of 2^level pixels along a dimension from those of 2^(level - 1); level 0 is the pixels.
fn next_level<B: Backend>(table: FloatTensor<B>, dim: usize, level: u32) -> FloatTensor<B> {
    if level == 0 {
        return table;
    }
    let (mut two, mut distance) = ([1; 2], [1; 2]);
    two[dim] = 2;
    distance[dim] = 1 << (level - 1);
    maxima::<B>(table, two, [1; 2], distance)
}

/// The maxima `[bins, C]` of bins of one level, from its table `[H, W, C]`.
fn maxima_of_corners<B: Backend>(table: &FloatTensor<B>, bins: &[&Bin]) -> FloatTensor<B> {
    let [height, width, channels] = table.shape().dims();
    // If the length of every bin is a power of two, its corners coincide.
    let corners = [0, 1].map(|axis| {
        let exact = |bin: &&Bin| bin.length[axis].is_power_of_two();
        if bins.iter().all(exact) { 1 } else { 2 }
    });
    let mut rows = Vec::with_capacity(bins.len() * corners[0] * corners[1]);
    for bin in bins {
        for y in bin.corners(0).take(corners[0]) {
            rows.extend(bin.corners(1).take(corners[1]).map(|x| y * width + x));
        }
    }
    let flat = B::float_reshape(table.clone(), Shape::new([height * width, channels]));
    let pixels = B::float_select(flat, 0, indices::<B>(rows, &table.device()));
    let [down, across] = corners;
    let pixels = B::float_reshape(pixels, Shape::new([bins.len() * down, across, channels]));
    let maxima = maxima::<B>(pixels, corners, corners, [1; 2]);
    B::float_reshape(maxima, Shape::new([bins.len(), channels]))
}

/// The maxima of one or two numbers along y and along x of each channel of `[H, W, C]`.
///
/// Backends have no maximum of two tensors, and a comparison with a selection reads them twice. With many channels it
/// is computed as a pooling, which NdArray vectorizes over channels.
fn maxima<B: Backend>(
    pixels: FloatTensor<B>,
    size: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
) -> FloatTensor<B> {
    if size == [1; 2] {
        return pixels;
    }
    let [height, width, channels] = pixels.shape().dims();
    if channels < POOLED {
        return [0, 1].into_iter().fold(pixels, |pixels, axis| match size[axis] {
            1 => pixels,
            _ => maxima_of_two::<B>(pixels, axis, stride[axis], dilation[axis]),
        });
    }
    let image = B::float_reshape(pixels, Shape::new([1, height, width, channels]));
    let image = B::float_permute(image, &[0, 3, 1, 2]);
    let pooled = B::max_pool2d(image, size, stride, [0; 2], dilation, false);
    let pooled = B::float_permute(pooled, &[0, 2, 3, 1]);
    let [_, height, width, channels] = pooled.shape().dims();
    B::float_reshape(pooled, Shape::new([height, width, channels]))
}

/// The maximum of every `step`th element and the element `distance` after it, along an axis.
fn maxima_of_two<B: Backend>(pixels: FloatTensor<B>, axis: usize, step: usize, distance: usize) -> FloatTensor<B> {
    let count = (pixels.shape()[axis] - distance).div_ceil(step);
    let part = |start: usize| {
        let end = start + (count - 1) * step + 1;
        let mut slices = [Slice::full(); 3];
        slices[axis] = Slice::new(start as isize, Some(end as isize), step as isize);
        B::float_slice(pixels.clone(), &slices)
    };
    larger::<B>(part(0), part(distance))
}

pub fn larger<B: Backend>(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
    let dtype = get_or_init_device_settings::<B>(&left.device()).bool_dtype;
    let lower = B::float_lower(left.clone(), right.clone(), dtype);
    B::float_mask_where(left, lower, right)
}

fn indices<B: Backend>(rows: Vec<usize>, device: &B::Device) -> IntTensor<B> {
    let count = rows.len();
    let rows = rows.into_iter().map(|row| row as i64).collect();
    let dtype = get_or_init_device_settings::<B>(device).int_dtype;
    B::int_from_data(
        TensorData::new::<i64, _>(rows, [count]).convert_dtype(dtype.into()),
        device,
    )
}
