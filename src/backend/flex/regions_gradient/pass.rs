//! The way from a call to its regions, and from a region to its kernel.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use pulp::{Scalar, Simd};

use crate::backend::flex::drive::{filter_map, in_parallel};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::kernels::SampleWinners;
use crate::backend::flex::lanes::{self, ChannelWork, LANES};
use crate::backend::flex::memory::AlignedPixels;
use crate::backend::flex::pixels::{InLanes, LARGEST_TILE, LaneChannels, OneByOne, Planes, Rows, Source, Tile};
use crate::backend::flex::planned::RegionPlan;
use crate::geometry::plan::{ChannelGroup, Planner, Region, pixel_count};

/// How the gradient of output elements goes to the columns of their region.
pub trait PullRegion<S: Sum>: Sync {
    /// The plan of a region, with slopes.
    type Plan: RegionPlan<S>;

    /// How many sums over channels the gradient of a region takes: one for each end of a box, y1, y2, x1 and x2.
    fn sum_count(_plan: &Self::Plan) -> usize {
        4
    }

    /// Adds the gradient of all elements of a group in `L` channels to the sums. `columns` are the columns of its
    /// window, and `features` has the window's pixels.
    #[allow(clippy::too_many_arguments)]
    fn add<const L: usize>(
        &self,
        plan: &Self::Plan,
        group: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut PullScratch<S, L>,
        sums: &mut [f64],
    );

    /// The gradient of a region's columns.
    fn region_gradient(planner: &Planner<S>, _plan: &Self::Plan, sums: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; sums.len()];
        for (column, sum) in planner.operator.box_format.columns().into_iter().flatten().zip(sums) {
            gradient[column] = *sum;
        }
        gradient
    }
}

/// Memory that a task reuses.
#[derive(Default)]
pub struct PullScratch<S: Sum, const L: usize> {
    /// Rows of the window over which gradients are spread: by weights, and by the slopes for both ends.
    pub spread: [AlignedPixels<S, L>; 3],
    /// The largest samples of a row of the output.
    pub winners: SampleWinners<S, L>,
}

/// The gradient `[K, columns]` of the regions, in the dtype of sums, from that of the output, `[K, channels, P, Q]`.
/// `gradient` is contiguous, and `features` have contiguous rows.
pub fn pull<S: Sum, K: PullRegion<S>>(
    gradient: &FlexTensor,
    features: &FlexTensor,
    regions: &[Region],
    planner: &Planner<S>,
    kernel: &K,
) -> FlexTensor {
    let [count, channels, height, width] = gradient.layout().shape().dims();
    let parallel = in_parallel(gradient.layout().num_elements());
    let flat = gradient.reshape(Shape::new([count, channels, 1, height * width]));
    let pass = RegionsPass {
        kernel,
        features: &Planes::new(features),
        gradient: &Planes::new(&flat),
        planner,
        channels,
    };
    let gradients = filter_map(regions, 1, parallel, |row, region| {
        let region_gradient = match planner.pools(region) {
            true => pass.region_gradient(row, region),
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

struct RegionsPass<'a, S: Sum, K> {
    kernel: &'a K,
    features: &'a Planes<'a, S>,
    /// `[K, channels, 1, P * Q]`.
    gradient: &'a Planes<'a, S>,
    planner: &'a Planner<S>,
    /// The channels of the output.
    channels: usize,
}

impl<S: Sum, K: PullRegion<S>> RegionsPass<'_, S, K> {
    /// The gradient of a region in a row of the output.
    fn region_gradient(&self, row: usize, region: &Region) -> Vec<f64> {
        let plan = &K::Plan::make(self.planner, region, true);
        let mut sums = vec![0.0; K::sum_count(plan)];
        for group in &self.planner.groups {
            let window = plan.window_of(group);
            let pixels = pixel_count(&window);
            if pixels == 0 {
                continue;
            }
            let work = GroupOfRegion {
                pass: self,
                plan,
                group,
                row,
                image: region.image,
                window,
                sums: &mut sums,
            };
            lanes::compute_gradient::<S>(work, self.channels, pixels <= LARGEST_TILE);
        }
        K::region_gradient(self.planner, plan, &sums)
    }
}

/// A group of a region's elements.
struct GroupOfRegion<'a, S: Sum, K: PullRegion<S>> {
    pass: &'a RegionsPass<'a, S, K>,
    plan: &'a K::Plan,
    group: &'a ChannelGroup,
    /// The region's row in the output.
    row: usize,
    image: usize,
    window: [Range<usize>; 2],
    /// What its gradient is added to.
    sums: &'a mut [f64],
}

impl<S: Sum, K: PullRegion<S>> ChannelWork for GroupOfRegion<'_, S, K> {
    #[inline(always)]
    fn in_lanes(self, simd: impl Simd) {
        let pixels = InLanes::<_, _, LANES>::new(simd, self.pass.features, None);
        add_group(simd, self, pixels);
    }

    #[inline(never)]
    fn one_by_one(self) {
        let pixels = OneByOne::new(self.pass.features);
        add_group(Scalar::new(), self, pixels);
    }
}

#[inline(always)]
fn add_group<V: Simd, S: Sum, K: PullRegion<S>, const L: usize>(
    simd: V,
    work: GroupOfRegion<'_, S, K>,
    mut pixels: impl Source<S, L>,
) {
    let (pass, indices) = (work.pass, work.group.indices());
    let mut gradient = Tile::<S, L>::default();
    let mut scratch = PullScratch::default();
    for start in (0..pass.channels).step_by(L) {
        let channels = start..(start + L).min(pass.channels);
        pixels.turn_to(channels.clone());
        let features = pixels.load(work.image, work.group, &work.window);
        gradient.clear(1, indices.clone());
        gradient.load(simd, pass.gradient, work.row, &LaneChannels::adjacent(&channels), 0..1);
        // Lanes beyond the last channel hold a copy of it.
        gradient.clear_lanes(channels.len());
        pass.kernel.add(
            work.plan,
            work.group,
            work.window[1].clone(),
            gradient.row(0, indices.clone()),
            &features,
            &mut scratch,
            work.sums,
        );
    }
}
