//! Maxima of quantized bins, from tables of maxima.
//!
//! A table holds, for each pixel, the maximum of the square or oblong of 2^i by 2^j pixels that begins
//! there. Any bin is covered by four of these, which may overlap: a maximum minds no pixel counted twice.
//! So all bins of all regions are four selections of rows, whatever their sizes.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::tensor::IntTensor;
use burn::backend::{Backend, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{Shape, Slice, TensorData};

use super::{Operator, Pixels, Sum, concatenate};
use crate::backend::host::Region;
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::{Coordinate, hull};

/// Maxima of quantized bins.
pub struct Bins<R: Coordinate> {
    output_size: [usize; 2],
    map: [usize; 2],
    rules: [R::BinRule; 2],
}

impl<R: Sum> Bins<R> {
    pub fn new(bins: &RegionBins, map: [usize; 2]) -> Self {
        Self {
            output_size: bins.output_size,
            map,
            rules: R::bin_rules(bins),
        }
    }
}

impl<R: Sum> Operator<R> for Bins<R> {
    type Plan = [Vec<Range<usize>>; 2];

    const AT_ONCE: bool = true;

    fn plan(&self, region: &Region<R>) -> [Vec<Range<usize>>; 2] {
        let (mut y, mut x) = (Vec::new(), Vec::new());
        R::bin(
            &self.rules[0],
            region.y,
            self.output_size[0],
            self.map[0],
            &mut y,
        );
        R::bin(
            &self.rules[1],
            region.x,
            self.output_size[1],
            self.map[1],
            &mut x,
        );
        [y, x]
    }

    fn window(&self, plan: &[Vec<Range<usize>>; 2]) -> [Range<usize>; 2] {
        plan.each_ref().map(|bins| hull(bins.iter().cloned()))
    }

    fn outside(&self) -> f64 {
        0.0
    }

    fn compute<B: Backend>(
        &self,
        pixels: &Pixels<B>,
        plans: &[[Vec<Range<usize>>; 2]],
    ) -> FloatTensor<B> {
        let bins = Bin::all(plans, [pixels.rows.start, pixels.columns.start]);
        let deepest = [0, 1].map(|axis| bins.iter().flatten().map(|bin| bin.level[axis]).max());
        let [deepest_y, deepest_x] = deepest.map(Option::unwrap_or_default);

        // The first row is what empty bins give.
        let mut order = vec![0; bins.len()];
        let zero = Shape::new([1, pixels.channels]);
        let mut parts = vec![B::float_zeros(zero, &pixels.tensor.device(), R::DTYPE)];
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
                parts.push(maxima_of_four::<B>(&table, &members));
            }
        }
        let maxima = B::float_select(
            concatenate::<B>(parts, 0),
            0,
            indices::<B>(order, &pixels.tensor.device()),
        );
        let [rows, columns] = self.output_size;
        B::float_reshape(
            maxima,
            Shape::new([plans.len(), rows * columns, pixels.channels]),
        )
    }
}

/// A bin that is not empty.
struct Bin {
    /// Its place among all bins.
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
    fn all(plans: &[[Vec<Range<usize>>; 2]], origin: [usize; 2]) -> Vec<Option<Self>> {
        let pairs = plans
            .iter()
            .flat_map(|[y, x]| y.iter().flat_map(move |y| x.iter().map(move |x| [y, x])));
        let bin = |(number, bin): (usize, [&Range<usize>; 2])| {
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

    /// The first pixels of the four oblongs that cover it, at most two along an axis.
    fn corners(&self) -> [[usize; 2]; 4] {
        let last =
            [0, 1].map(|axis| self.start[axis] + self.length[axis] - (1 << self.level[axis]));
        let first = self.start;
        [first, [first[0], last[1]], [last[0], first[1]], last]
    }
}

/// From the maxima of 2^(level - 1) pixels along a dimension those of 2^level; level 0 is the pixels.
fn next_level<B: Backend>(table: FloatTensor<B>, dim: usize, level: u32) -> FloatTensor<B> {
    if level == 0 {
        return table;
    }
    let half = 1 << (level - 1);
    let length = table.shape()[dim] - half;
    let part = |start: usize| {
        let mut slices = [Slice::full(); 3];
        slices[dim] = Slice::from(start..start + length);
        B::float_slice(table.clone(), &slices)
    };
    larger::<B>(part(0), part(half))
}

/// The maxima `[bins, C]` of bins of one level, from its table `[H, W, C]`.
fn maxima_of_four<B: Backend>(table: &FloatTensor<B>, bins: &[&Bin]) -> FloatTensor<B> {
    let [height, width, channels] = table.shape().dims();
    let flat = B::float_reshape(table.clone(), Shape::new([height * width, channels]));
    let corner = |corner: usize| {
        let rows = bins.iter().map(|bin| {
            let [y, x] = bin.corners()[corner];
            y * width + x
        });
        B::float_select(
            flat.clone(),
            0,
            indices::<B>(rows.collect(), &table.device()),
        )
    };
    // Where a bin is one power of two, its corners coincide.
    let [one_y, one_x] =
        [0, 1].map(|axis| bins.iter().all(|bin| bin.length[axis].is_power_of_two()));
    let above = if one_x {
        corner(0)
    } else {
        larger::<B>(corner(0), corner(1))
    };
    match (one_y, one_x) {
        (true, _) => above,
        (false, true) => larger::<B>(above, corner(2)),
        (false, false) => larger::<B>(above, larger::<B>(corner(2), corner(3))),
    }
}

/// The larger of two tensors, number by number.
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
