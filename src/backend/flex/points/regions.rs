//! The gradient of boxes and offsets: a task owns a region.

use burn::tensor::{Bytes, Element, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::forward::lane_channels;
use crate::backend::flex::engine::{FEWEST_LANES, in_parallel};
use crate::backend::flex::numbers::{Number, Sum};
use crate::backend::flex::pixels::{Features, LANES, LARGEST_TILE, Rows, Tile, tile_capacity};
use crate::geometry::plan::{Coordinate, PointPart, PointPlanner, PointWeights, Region, pixel_count};

/// The gradient of regions `[K, columns]`, in the dtype of sums. `gradient` is contiguous, and `features` have
/// contiguous rows.
pub fn regions_gradient<E: Number>(
    gradient: &FlexTensor,
    features: &FlexTensor,
    regions: &[Region],
    planner: &PointPlanner,
) -> FlexTensor {
    let [count, channels, rows, columns] = gradient.layout().shape().dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    let flat = gradient.reshape(Shape::new([count, channels, 1, rows * columns]));
    let work = Work {
        features: &Features::<E>::new(features),
        gradient: &Features::<E>::new(&flat),
        planner,
        channels,
    };
    let of_region = |(row, region): (usize, &Region)| -> Vec<E::Sum> {
        let of_region = match planner.pools::<E::Sum>(region) {
            true => {
                let plan = planner.plan::<E::Sum>(region, true);
                let products = Arch::new().dispatch(Vectorized {
                    work: &work,
                    plan: &plan,
                    image: region.image,
                    row,
                });
                planner.region_gradient(&plan, &products)
            }
            false => vec![0.0; planner.columns()],
        };
        of_region.into_iter().map(E::Sum::from_f64).collect()
    };
    let gradients: Vec<Vec<E::Sum>> = if parallel {
        regions.par_iter().enumerate().map(of_region).collect()
    } else {
        regions.iter().enumerate().map(of_region).collect()
    };
    FlexTensor::new(
        Bytes::from_elems(gradients.concat()),
        Layout::contiguous(Shape::new([count, planner.columns()])),
        E::Sum::dtype(),
    )
}

/// What all regions share.
struct Work<'a, E: Number> {
    features: &'a Features<'a, E>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Features<'a, E>,
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
}

/// What `pulp` is handed. All that it calls is inlined: only then is it compiled for these instructions.
struct Vectorized<'a, E: Number> {
    work: &'a Work<'a, E>,
    plan: &'a PointWeights<E::Sum>,
    image: usize,
    /// The region's row in the output.
    row: usize,
}

impl<E: Number> WithSimd for Vectorized<'_, E> {
    /// For each weight, the sum over channels of its pixel times its element's gradient.
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let mut products = vec![0.0; self.plan.weights.len()];
        for part in self.plan.parts.iter().filter(|part| pixel_count(&part.window) > 0) {
            if self.work.channels < FEWEST_LANES || tile_capacity(&part.window) > LARGEST_TILE {
                add_one_by_one(simd, &self, part, &mut products);
            } else {
                add_in_lanes(simd, &self, part, &mut products);
            }
        }
        products
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn add_in_lanes<E: Number>(simd: impl Simd, region: &Vectorized<'_, E>, part: &PointPart, products: &mut [f64]) {
    let work = region.work;
    let [rows, columns] = part.window.clone();
    let channels = work.planner.channels_of_group(part.group, work.channels);
    let mut tile = Tile::<E::Sum, LANES>::new();
    let mut gradient = Tile::<E::Sum, LANES>::new();
    for start in (0..work.channels).step_by(LANES) {
        let count = LANES.min(work.channels - start);
        tile.clear(rows.len(), columns.clone());
        let lanes = lane_channels(channels, start, count);
        tile.load(simd, work.features, region.image, &lanes, rows.clone());
        gradient.clear(1, part.elements.clone());
        gradient.load(
            simd,
            work.gradient,
            region.row,
            &lane_channels([0, 1], start, count),
            0..1,
        );
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(count);
        add_products(
            region.plan,
            part,
            &tile,
            gradient.row(0, part.elements.clone()),
            products,
        );
    }
}

/// One channel at a time, from where its pixels are: a window of a large map is not copied.
#[inline(always)]
fn add_one_by_one<E: Number>(simd: impl Simd, region: &Vectorized<'_, E>, part: &PointPart, products: &mut [f64]) {
    let work = region.work;
    let [first, step] = work.planner.channels_of_group(part.group, work.channels);
    let mut tile = Tile::<E::Sum, 1>::new();
    let mut gradient = Tile::<E::Sum, 1>::new();
    for channel in 0..work.channels {
        gradient.clear(1, part.elements.clone());
        gradient.load(
            simd,
            work.gradient,
            region.row,
            &lane_channels([0, 1], channel, 1),
            0..1,
        );
        let of_elements = gradient.row(0, part.elements.clone());
        if E::as_sums(&[]).is_some() {
            let plane = work.features.plane(region.image, first + channel * step);
            add_products(region.plan, part, &plane, of_elements, products);
        } else {
            let [rows, columns] = part.window.clone();
            tile.clear(rows.len(), columns);
            tile.load(
                simd,
                work.features,
                region.image,
                &lane_channels([first, step], channel, 1),
                rows,
            );
            add_products(region.plan, part, &tile, of_elements, products);
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
