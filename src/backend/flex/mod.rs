//! Flex: multithreaded SIMD kernels over Flex's storage.
//!
//! - [`drive`]: from tasks to threads.
//! - [`engine`]: a call. `engine::run` plans regions; `groups` gathers those that share pixels and divides the work
//!   into tasks; `task` computes one task with vector instructions; `own_channels` is another way, for elements that
//!   read channels of their own; `kernel` is what all of them ask of a kernel.
//! - [`kernels`]: `average`, `max_of_samples` and `max_of_pixels`, one for each kind of plan. `row_blocks` computes
//!   several rows of the output together, from rows of the window that `along_y` has reduced.
//! - [`pixels`]: `features` as slices, a `tile` of their rows with eight channels interleaved, `aligned` memory for
//!   such pixels, some of it `kept` by the thread from earlier calls, and memory for the `output`, which the `pool`
//!   keeps when the output is dropped.
//! - [`backward`]: gradients, over the same plans and pixels.
//! - [`points`]: operators whose elements read points, and their gradients.
//! - [`numbers`]: sums and dtypes (`number`), 16-bit conversions (`half`), sums and maxima of interleaved channels
//!   (`lanes`), and squares of numbers transposed (`transpose`).

use burn::backend::Flex;
use burn::tensor::Shape;
use burn_flex::FlexTensor;

use super::{HostRegions, RegionKernels, output_shape};
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::{PlanKind, Planner, PointPlanner, Region};

mod backward;
mod drive;
mod engine;
mod kernels;
mod numbers;
mod pixels;
mod points;

use kernels::{Average, MaxOfPixels, MaxOfSamples};
use numbers::{Sum, of_sums};
pub use pixels::pool as kept_outputs;
use pixels::{output_of, with_contiguous_rows};

impl RegionKernels for Flex {
    fn pool(
        features: FlexTensor,
        boxes: FlexTensor,
        _batch_indices: FlexTensor,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FlexTensor {
        pool_into(None, features, boxes, regions, &operator)
    }

    fn pool_level(
        pooled: FlexTensor,
        features: FlexTensor,
        boxes: FlexTensor,
        _batch_indices: FlexTensor,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FlexTensor {
        pool_into(Some(pooled), features, boxes, regions, &operator)
    }

    fn without_pixels(features: FlexTensor, boxes: FlexTensor, operator: RegionOperator) -> FlexTensor {
        let shape = output_shape(features.layout().shape(), boxes.layout().shape(), &operator);
        let output = of_sums!(features.dtype(), output_of);
        let parallel = drive::in_parallel(shape.num_elements());
        output(operator.value_without_pixels(), shape, features.dtype(), parallel)
    }

    fn average_gradient(
        gradient: FlexTensor,
        _boxes: FlexTensor,
        _batch_indices: FlexTensor,
        regions: Option<HostRegions>,
        operator: RegionOperator,
        shape: [usize; 4],
    ) -> FlexTensor {
        backward::features_gradient(gradient, None, Shape::new(shape), &read(regions), &operator)
    }

    fn maximum_gradient(
        gradient: FlexTensor,
        features: FlexTensor,
        _boxes: FlexTensor,
        _batch_indices: FlexTensor,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FlexTensor {
        let shape = features.layout().shape().clone();
        backward::features_gradient(gradient, Some(features), shape, &read(regions), &operator)
    }

    fn boxes_gradient(
        gradient: FlexTensor,
        features: FlexTensor,
        boxes: FlexTensor,
        _batch_indices: FlexTensor,
        regions: Option<HostRegions>,
        operator: RegionOperator,
    ) -> FlexTensor {
        let of_boxes = backward::boxes_gradient(gradient, features, &read(regions), &operator);
        backward::in_dtype(of_boxes, boxes.dtype())
    }
}

fn read(regions: Option<HostRegions>) -> HostRegions {
    regions.expect("the regions of a call on Flex are read")
}

fn pool_into(
    pooled: Option<FlexTensor>,
    features: FlexTensor,
    boxes: FlexTensor,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
) -> FlexTensor {
    let regions = read(regions);
    let shape = output_shape(features.layout().shape(), boxes.layout().shape(), operator);
    let pool = of_sums!(features.dtype(), pool);
    pool(pooled, features, &regions, shape, operator)
}

fn pool<S: Sum>(
    pooled: Option<FlexTensor>,
    features: FlexTensor,
    regions: &[Region],
    shape: Shape,
    operator: &RegionOperator,
) -> FlexTensor {
    let features = with_contiguous_rows(features);
    let [_, _, height, width] = features.layout().shape().dims();
    if let Some(planner) = PointPlanner::new(operator, [height, width]) {
        return points::pool::<S>(pooled, &features, regions, shape, &planner);
    }
    let planner = Planner::<S>::new(operator, [height, width]);
    let call = engine::Call {
        pooled,
        features: &features,
        regions,
        shape,
        planner: &planner,
    };
    match planner.kind() {
        PlanKind::Weights if planner.is_one_run() => engine::run(call, &Average::new(&planner)),
        PlanKind::Weights => engine::run_own_channels(call, &Average::new(&planner)),
        _ if !planner.is_one_run() => unreachable!("an element that reads channels of its own is an average"),
        PlanKind::SampleTaps => engine::run(call, &MaxOfSamples::new(&planner)),
        PlanKind::PixelRanges => engine::run(call, &MaxOfPixels::new(&planner)),
    }
}
