//! A call on Flex: regions are planned once, gathered in groups that share pixels, and divided into tasks.
//!
//! Every output element is computed by one task in one order, so results don't depend on how many
//! threads there are.

use std::ops::Range;

use burn::tensor::{Bytes, Shape};
use burn_flex::{FlexTensor, Layout};
use rayon::prelude::*;

use super::features::Features;
use super::groups::{Planned, divide, group};
use super::number::{Number, Sum};
use super::output::zeros;
use super::task::compute;
use super::tile::Rows;
use crate::backend::host::Region;

/// An operator on one region.
pub trait Kernel<S: Sum>: Sync {
    /// What of a region is common to its channels.
    type Plan: Send + Sync;

    /// The value of a region that names no image.
    fn outside(&self) -> S;

    /// About how many numbers a plan holds.
    fn size_of_plan(&self) -> usize;

    /// Plans a region.
    fn plan(&self, region: &Region<S>) -> Self::Plan;

    /// The rows and the columns of the map that a region reads.
    fn window(&self, plan: &Self::Plan) -> [Range<usize>; 2];

    /// Computes rows of the output, as many elements as `output` has, in `L` channels. `columns` are those
    /// of the window, `along_y` has room for a row of it, and `rows` has its pixels.
    fn compute<const L: usize>(
        &self,
        plan: &Self::Plan,
        output_rows: Range<usize>,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    );
}

/// How many numbers the plans hold that are there at a time, 4 MiB.
const PLANNED: usize = 1 << 19;

/// A call of fewer output elements is not worth waking threads for.
const PARALLEL: usize = 1 << 14;

/// Computes the regions of the level: `shape` is that of the output, `[K, C, P, Q]`, and `pooled` is what
/// other levels have left.
pub fn run<E: Number, K: Kernel<E::Sum>>(
    pooled: Option<FlexTensor>,
    features: &FlexTensor,
    regions: &[Region<E::Sum>],
    shape: Shape,
    kernel: &K,
) -> FlexTensor {
    let [_, channels, rows, columns] = shape.dims();
    let of_a_region = channels * rows * columns;
    let batch = (PLANNED / kernel.size_of_plan()).max(1);
    let features = Features::<E>::new(features);

    let parallel = shape.num_elements() >= PARALLEL && rayon::current_num_threads() > 1;
    let mut output = match pooled {
        Some(pooled) => pooled.to_contiguous(),
        None => FlexTensor::new(
            Bytes::from_elems(zeros::<E>(shape.num_elements(), parallel)),
            Layout::contiguous(shape.clone()),
            E::dtype(),
        ),
    };
    let start = output.layout().start_offset();
    let numbers = &mut output.storage_mut::<E>()[start..start + shape.num_elements()];
    let batches = regions.chunks(batch).zip(numbers.chunks_mut(batch * of_a_region));
    for (regions, output) in batches {
        let groups = group(plan(regions, kernel, parallel));
        fill_the_rest(regions, output, of_a_region, E::store(kernel.outside()));
        let tasks = divide(&groups, output, channels, rows * columns, parallel);
        let run = |task| compute(kernel, &features, [rows, columns], task);
        if parallel {
            tasks.into_par_iter().for_each(run);
        } else {
            tasks.into_iter().for_each(run);
        }
    }
    output
}

/// Plans the regions of the level that name an image.
fn plan<S: Sum, K: Kernel<S>>(regions: &[Region<S>], kernel: &K, parallel: bool) -> Vec<Planned<K::Plan>> {
    let plan = |(number, region): (usize, &Region<S>)| {
        let image = region.image.filter(|_| region.in_level)?;
        let plan = kernel.plan(region);
        let window = kernel.window(&plan);
        Some(Planned {
            plan,
            image,
            number,
            window,
        })
    };
    if parallel {
        let regions = regions.par_iter().with_min_len(16).enumerate();
        return regions.filter_map(plan).collect();
    }
    regions.iter().enumerate().filter_map(plan).collect()
}

/// Regions that name no image give one value.
fn fill_the_rest<S, E: Copy>(regions: &[Region<S>], output: &mut [E], of_a_region: usize, value: E) {
    for (region, output) in regions.iter().zip(output.chunks_exact_mut(of_a_region)) {
        if region.in_level && region.image.is_none() {
            output.fill(value);
        }
    }
}
