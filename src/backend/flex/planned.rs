//! Regions and their plans, made on several threads.

use std::ops::Range;

use super::drive::filter_map;
use crate::geometry::plan::{AxisPlan, ChannelGroup, Coordinate, Planner, PointWeights, Region, hull};

/// A region and its plan.
pub struct Planned<P> {
    pub plan: P,
    pub image: usize,
    /// Its row among all regions.
    pub row: usize,
    /// The rows and columns of the pixels that it reads.
    pub window: [Range<usize>; 2],
}

/// What the elements of a region read: the axis plans of y and of x, those of a volume, or a point plan.
pub trait RegionPlan<S: Coordinate>: Sized + Send + Sync {
    /// How many regions are planned in a task.
    const TASK: usize;

    /// Plans a region, with derivatives or without.
    fn make(planner: &Planner<S>, region: &Region, slopes: bool) -> Self;

    /// The rows and columns of the pixels that a group of elements reads.
    fn window_of(&self, group: &ChannelGroup) -> [Range<usize>; 2];

    /// The rows and columns of the pixels that any element reads.
    fn window(&self) -> [Range<usize>; 2];

    /// How many regions are planned before [`is_batch`](Self::is_batch) is asked, for batches of so many numbers.
    fn chunk(planner: &Planner<S>, numbers: usize) -> usize;

    /// Whether plans hold enough numbers. It is true where the size of a plan is known before it is made, since
    /// [`chunk`](Self::chunk) counts a whole batch there.
    fn is_batch(_planned: &[Planned<Self>], _numbers: usize) -> bool {
        true
    }
}

impl<S: Coordinate, P: AxisPlan<S>> RegionPlan<S> for [P; 2] {
    const TASK: usize = 16;

    fn make(planner: &Planner<S>, region: &Region, slopes: bool) -> Self {
        let sizes = planner.operator.output_size;
        [0, 1].map(|axis| P::make(&planner.run(region, axis, 0..sizes[axis], slopes)))
    }

    fn window_of(&self, group: &ChannelGroup) -> [Range<usize>; 2] {
        [0, 1].map(|axis| self[axis].window_of(group.elements[axis].clone()))
    }

    fn window(&self) -> [Range<usize>; 2] {
        self.each_ref().map(AxisPlan::window)
    }

    /// A whole batch.
    fn chunk(planner: &Planner<S>, numbers: usize) -> usize {
        (numbers / P::size(planner)).max(1)
    }
}

impl<S: Coordinate> RegionPlan<S> for PointWeights<S> {
    const TASK: usize = 4;

    fn make(planner: &Planner<S>, region: &Region, slopes: bool) -> Self {
        S::point_weights(planner, region, slopes)
    }

    fn window_of(&self, group: &ChannelGroup) -> [Range<usize>; 2] {
        self.windows[group.index].clone()
    }

    fn window(&self) -> [Range<usize>; 2] {
        [0, 1].map(|axis| hull(self.windows.iter().map(|window| window[axis].clone())))
    }

    /// A plan may hold a weight for each pixel of the map.
    fn chunk(planner: &Planner<S>, numbers: usize) -> usize {
        let [height, width] = planner.map;
        (numbers / (height * width)).clamp(1, 32)
    }

    fn is_batch(planned: &[Planned<Self>], numbers: usize) -> bool {
        planned.iter().map(|region| region.plan.size()).sum::<usize>() > numbers
    }
}

/// What a region of a volume reads.
pub struct VolumePlan<P> {
    /// In each slice.
    pub slices: [P; 2],
    /// Which slices, for each element along the depth.
    pub depth: P,
    /// From the first of these slices to the last one.
    pub window: Range<usize>,
    /// Which of them are read: samples that lie slices apart leave slices out.
    reads: Vec<bool>,
}

impl<P> VolumePlan<P> {
    /// Whether some element reads a slice.
    #[inline(always)]
    pub fn reads(&self, slice: &ChannelGroup) -> bool {
        self.window.contains(&slice.index) && self.reads[slice.index - self.window.start]
    }
}

impl<S: Coordinate, P: AxisPlan<S>> RegionPlan<S> for VolumePlan<P> {
    const TASK: usize = <[P; 2] as RegionPlan<S>>::TASK;

    fn make(planner: &Planner<S>, region: &Region, slopes: bool) -> Self {
        let along_depth = of_volumes(planner);
        let ends = Region {
            image: region.image,
            corners: [0.0, region.rest[0], 0.0, region.rest[1]],
            rest: Box::default(),
        };
        let elements = 0..along_depth.operator.output_size[0];
        let depth = P::make(&along_depth.run(&ends, 0, elements.clone(), slopes));
        let window = depth.window();
        let mut reads = vec![false; window.len()];
        for element in elements {
            let slices = depth.window_of(element..element + 1);
            if !slices.is_empty() {
                reads[slices.start - window.start..slices.end - window.start].fill(true);
            }
        }
        Self {
            slices: RegionPlan::make(planner, region, slopes),
            depth,
            window,
            reads,
        }
    }

    fn window_of(&self, group: &ChannelGroup) -> [Range<usize>; 2] {
        match self.reads(group) {
            true => self.slices.window_of(group),
            false => [0..0, 0..0],
        }
    }

    fn window(&self) -> [Range<usize>; 2] {
        RegionPlan::window(&self.slices)
    }

    fn chunk(planner: &Planner<S>, numbers: usize) -> usize {
        let along_depth = of_volumes(planner);
        let (planes, depth) = (along_depth.operator.output_size[0], along_depth.map[0]);
        // Weights, and for the gradient a window for each slice.
        (numbers / (P::size(planner) + 4 * planes + 8 * depth)).max(1)
    }
}

/// The planner along the depth.
pub fn of_volumes<S: Coordinate>(planner: &Planner<S>) -> &Planner<S> {
    planner.along_depth.as_ref().expect("a planner of volumes")
}

/// Plans those of some regions that the operator pools, and hands them over in batches, if only an empty one. The plans
/// of a batch hold about so many numbers.
///
/// Regions come image after image, each about from its top to its bottom. So a batch copies pixels that others don't.
/// In the order of the call, two batches of box-p2's 1000 regions both copied the whole map: 1.35 times the time.
pub fn plan_in_batches<S: Coordinate, P: RegionPlan<S>>(
    regions: &[Region],
    planner: &Planner<S>,
    numbers: usize,
    parallel: bool,
    mut batch: impl FnMut(Vec<Planned<P>>),
) {
    let mut rows: Vec<_> = (0..regions.len()).collect();
    rows.retain(|&row| planner.pools(&regions[row]));
    rows.sort_by(|&first, &second| planner.compare_places(&regions[first], &regions[second]));
    let chunks = rows.len().div_ceil(P::chunk(planner, numbers)).max(1);
    let chunk = rows.len().div_ceil(chunks);
    let mut planned = Vec::new();
    let mut left = rows.as_slice();
    loop {
        let (rows, rest) = left.split_at(chunk.min(left.len()));
        left = rest;
        planned.extend(filter_map(rows, P::TASK, parallel, |_, &row| {
            let plan = P::make(planner, &regions[row], false);
            Some(Planned {
                window: plan.window(),
                plan,
                image: regions[row].image,
                row,
            })
        }));
        if left.is_empty() || P::is_batch(&planned, numbers) {
            batch(std::mem::take(&mut planned));
        }
        if left.is_empty() {
            return;
        }
    }
}
