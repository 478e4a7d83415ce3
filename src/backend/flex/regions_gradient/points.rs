//! The gradient of boxes and offsets by point plans.

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use crate::backend::flex::drive::{filter_map, in_parallel};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::pixels::{LARGEST_TILE, LaneChannels, Planes, Rows, Tile};
use crate::geometry::plan::{PointPart, PointPlanner, PointWeights, Region, pixel_count};

/// The gradient of boxes and offsets, `[K, columns]`, in the dtype of sums. `gradient` is contiguous, and `features`
/// have contiguous rows.
pub fn regions_gradient<S: Sum>(
    gradient: &FlexTensor,
    features: &FlexTensor,
    regions: &[Region],
    planner: &PointPlanner,
) -> FlexTensor {
    let [count, channels, height, width] = gradient.layout().shape().dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    let flat = gradient.reshape(Shape::new([count, channels, 1, height * width]));
    let pass = PointRegionsPass {
        features: &Planes::new(features),
        gradient: &Planes::new(&flat),
        planner,
        channels,
    };
    let gradients = filter_map(regions, 1, parallel, |row, region| {
        let region_gradient = match planner.pools::<S>(region) {
            true => {
                let plan = planner.plan::<S>(region, true);
                planner.region_gradient(&plan, &pass.products(&plan, region.image, row))
            }
            false => vec![0.0; planner.columns()],
        };
        Some(region_gradient.into_iter().map(S::from_f64).collect::<Vec<S>>())
    });
    FlexTensor::new(
        Bytes::from_elems(gradients.concat()),
        Layout::contiguous(Shape::new([count, planner.columns()])),
        S::dtype(),
    )
}

struct PointRegionsPass<'a, S: Sum> {
    features: &'a Planes<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    planner: &'a PointPlanner,
    /// The channels of the output.
    channels: usize,
}

impl<S: Sum> PointRegionsPass<'_, S> {
    /// For each weight of a region in a row of the output, the sum over channels of its pixel times its element's
    /// gradient.
    fn products(&self, plan: &PointWeights<S>, image: usize, row: usize) -> Vec<f64> {
        let mut products = vec![0.0; plan.weights.len()];
        for part in plan.parts_with_pixels() {
            let region_part = RegionPart {
                pass: self,
                plan,
                part,
                image,
                row,
                products: &mut products,
            };
            let fits = pixel_count(&part.window) <= LARGEST_TILE;
            lanes::compute_gradient::<S>(region_part, self.channels, fits);
        }
        products
    }
}

/// A part of a region, whose products are added to `products`.
struct RegionPart<'a, S: Sum> {
    pass: &'a PointRegionsPass<'a, S>,
    plan: &'a PointWeights<S>,
    part: &'a PointPart,
    image: usize,
    /// The region's row in the output.
    row: usize,
    products: &'a mut [f64],
}

impl<S: Sum> ChannelWork for RegionPart<'_, S> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        add_in_lanes(simd, self);
    }

    /// From where the pixels are: a window of a large map is not copied.
    #[inline(never)]
    fn one_by_one(self) {
        let (simd, pass, part) = (Scalar::new(), self.pass, self.part);
        let [first, step] = pass.planner.channels_of_group(part.group, pass.channels);
        let mut tile = Tile::<S, 1>::default();
        let mut gradient = Tile::<S, 1>::default();
        for channel in 0..pass.channels {
            gradient.clear(1, part.elements.clone());
            let lane = LaneChannels::one(channel);
            gradient.load(simd, pass.gradient, self.row, &lane, 0..1);
            let element_gradients = gradient.row(0, part.elements.clone());
            if let Some(plane) = pass.features.plane(self.image, first + channel * step) {
                add_products(self.plan, part, &plane, element_gradients, self.products);
            } else if const { S::SUMS_HALVES } {
                let [rows, columns] = part.window.clone();
                tile.clear(rows.len(), columns);
                let lane = LaneChannels::of_outputs([first, step], channel, 1);
                tile.load(simd, pass.features, self.image, &lane, rows);
                add_products(self.plan, part, &tile, element_gradients, self.products);
            }
        }
    }
}

/// Several channels at a time, from a copy of the pixels in which they are neighbours.
#[inline(always)]
fn add_in_lanes<S: Sum>(simd: impl Simd, region: RegionPart<'_, S>) {
    let (pass, part) = (region.pass, region.part);
    let [rows, columns] = part.window.clone();
    let channels = pass.planner.channels_of_group(part.group, pass.channels);
    let mut tile = Tile::<S, LANES>::default();
    let mut gradient = Tile::<S, LANES>::default();
    for start in (0..pass.channels).step_by(LANES) {
        let count = LANES.min(pass.channels - start);
        tile.clear(rows.len(), columns.clone());
        let lanes = LaneChannels::of_outputs(channels, start, count);
        tile.load(simd, pass.features, region.image, &lanes, rows.clone());
        gradient.clear(1, part.elements.clone());
        let lanes = LaneChannels::adjacent(start, count);
        gradient.load(simd, pass.gradient, region.row, &lanes, 0..1);
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(count);
        let element_gradients = gradient.row(0, part.elements.clone());
        add_products(region.plan, part, &tile, element_gradients, region.products);
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
    for (read, element_gradient) in plan.elements(part).zip(gradient) {
        let mut products = products[read.weights].iter_mut();
        for span in read.spans {
            for pixel in rows.row(span.row as usize, span.columns()) {
                *products.next().expect("each pixel has a weight") += dot(pixel, element_gradient).into();
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
