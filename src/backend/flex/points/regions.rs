//! The gradient of boxes and offsets: a task owns a region.

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd, WithSimd};

use super::forward::lane_channels;
use crate::backend::flex::drive::{filter_map, in_parallel};
use crate::backend::flex::engine::FEWEST_LANES;
use crate::backend::flex::numbers::{Sum, dispatch_gradient, has_lanes};
use crate::backend::flex::pixels::{Features, LANES, LARGEST_TILE, Rows, Tile, tile_capacity};
use crate::geometry::plan::{PointPart, PointPlanner, PointWeights, Region, pixel_count};

/// The gradient of regions `[K, columns]`, in the dtype of sums. `gradient` is contiguous, and `features` have
/// contiguous rows.
pub fn regions_gradient<S: Sum>(
    gradient: &FlexTensor,
    features: &FlexTensor,
    regions: &[Region],
    planner: &PointPlanner,
) -> FlexTensor {
    let [count, channels, rows, columns] = gradient.layout().shape().dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    let flat = gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let work = Work {
        features: &Features::new(features),
        gradient: &Features::new(&flat),
        planner,
        channels,
    };
    let gradients = filter_map(regions, 1, parallel, |row, region| {
        let of_region = match planner.pools::<S>(region) {
            true => {
                let plan = planner.plan::<S>(region, true);
                planner.region_gradient(&plan, &work.products(&plan, region.image, row))
            }
            false => vec![0.0; planner.columns()],
        };
        Some(of_region.into_iter().map(S::from_f64).collect::<Vec<S>>())
    });
    FlexTensor::new(
        Bytes::from_elems(gradients.concat()),
        Layout::contiguous(Shape::new([count, planner.columns()])),
        S::dtype(),
    )
}

/// What all regions share.
struct Work<'a, S: Sum> {
    features: &'a Features<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, S>,
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
}

impl<S: Sum> Work<'_, S> {
    /// For each weight of a region in a row of the output, the sum over channels of its pixel times its element's
    /// gradient.
    fn products(&self, plan: &PointWeights<S>, image: usize, row: usize) -> Vec<f64> {
        let mut products = vec![0.0; plan.weights.len()];
        for part in plan.parts.iter().filter(|part| pixel_count(&part.window) > 0) {
            let of_part = OfPart {
                work: self,
                plan,
                part,
                image,
                row,
                products: &mut products,
            };
            if self.channels < FEWEST_LANES || tile_capacity(&part.window) > LARGEST_TILE {
                add_one_by_one(of_part);
            } else {
                dispatch_gradient::<S, _>(of_part);
            }
        }
        products
    }
}

/// A part of a region, to whose products is added. All that it calls is inlined: only then is it compiled for the
/// processor's vector instructions.
struct OfPart<'a, S: Sum> {
    work: &'a Work<'a, S>,
    plan: &'a PointWeights<S>,
    part: &'a PointPart,
    image: usize,
    /// The region's row in the output.
    row: usize,
    products: &'a mut [f64],
}

impl<S: Sum> WithSimd for OfPart<'_, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if const { has_lanes::<V>() } {
            add_in_lanes(simd, self);
        } else {
            add_one_by_one(self);
        }
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn add_in_lanes<S: Sum>(simd: impl Simd, region: OfPart<'_, S>) {
    let (work, part) = (region.work, region.part);
    let [rows, columns] = part.window.clone();
    let channels = work.planner.channels_of_group(part.group, work.channels);
    let mut tile = Tile::<S, LANES>::new();
    let mut gradient = Tile::<S, LANES>::new();
    for start in (0..work.channels).step_by(LANES) {
        let count = LANES.min(work.channels - start);
        tile.clear(rows.len(), columns.clone());
        let lanes = lane_channels(channels, start, count);
        tile.load(simd, work.features, region.image, &lanes, rows.clone());
        gradient.clear(1, part.elements.clone());
        let lanes = lane_channels([0, 1], start, count);
        gradient.load(simd, work.gradient, region.row, &lanes, 0..1);
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(count);
        let of_elements = gradient.row(0, part.elements.clone());
        add_products(region.plan, part, &tile, of_elements, region.products);
    }
}

/// One channel at a time, from where its pixels are: a window of a large map is not copied. So few numbers gain little
/// from vectors: it is compiled without.
#[inline(never)]
fn add_one_by_one<S: Sum>(region: OfPart<'_, S>) {
    let (simd, work, part) = (Scalar::new(), region.work, region.part);
    let [first, step] = work.planner.channels_of_group(part.group, work.channels);
    let mut tile = Tile::<S, 1>::new();
    let mut gradient = Tile::<S, 1>::new();
    for channel in 0..work.channels {
        gradient.clear(1, part.elements.clone());
        let lane = lane_channels([0, 1], channel, 1);
        gradient.load(simd, work.gradient, region.row, &lane, 0..1);
        let of_elements = gradient.row(0, part.elements.clone());
        if let Some(plane) = work.features.plane(region.image, first + channel * step) {
            add_products(region.plan, part, &plane, of_elements, region.products);
        } else if const { S::SUMS_HALVES } {
            let [rows, columns] = part.window.clone();
            tile.clear(rows.len(), columns);
            let lane = lane_channels([first, step], channel, 1);
            tile.load(simd, work.features, region.image, &lane, rows);
            add_products(region.plan, part, &tile, of_elements, region.products);
        }
    }
}

/// Adds the products of a part's weights in `L` channels.
#[inline(always)]
fn add_products<S: Sum, const L: usize>(
    plan: &PointWeights<S>,
    part: &PointPart,
    rows: &impl Rows<S, L>,
    gradient: &[[S; L]],
    products: &mut [f64],
) {
    for (read, of_element) in plan.elements(part).zip(gradient) {
        let mut products = products[read.weights].iter_mut();
        for span in read.spans {
            for pixel in rows.row(span.row as usize, span.columns()) {
                *products.next().expect("each pixel has a weight") += dot(pixel, of_element).into();
            }
        }
    }
}

/// The sum of the products of two pixels' channels.
#[inline(always)]
fn dot<S: Sum, const L: usize>(left: &[S; L], right: &[S; L]) -> S {
    let mut sum = S::default();
    for (&left, &right) in left.iter().zip(right) {
        sum += left * right;
    }
    sum
}
