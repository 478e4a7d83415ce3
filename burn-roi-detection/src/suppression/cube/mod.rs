//! NMS, and the largest values of groups, as CubeCL kernels, for every runtime but CubeCL's own on a CPU.
//!
//! [`rank`] sorts the boxes by score, into blocks of [`BLOCK`]. [`overlap`] compares each box with the later boxes of
//! its block. Then, block after block, [`keep`] lists the boxes that none of them suppresses, and [`suppress`] compares
//! all later boxes with these. The memory is linear in the number of boxes, and the host waits for nothing in between.
//!
//! The boxes that are kept are those of the host, by [`iou`].

mod best;
mod iou;
mod keep;
mod layout;
mod overlap;
mod rank;
mod suppress;

// The macro below writes paths that begin with `burn`. This one has `burn::backend::fusion` for every CubeCL build,
// whether or not Burn's own fusion is on: an application may turn it on without telling this crate.
use with_fusion as burn;
mod with_fusion {
    pub mod backend {
        pub use ::burn::backend::*;
        pub use burn_fusion as fusion;
    }
}

use ::burn::backend::cubecl::dtype_to_storage_type;
use ::burn::backend::tensor::{FloatTensor, IntTensor};
use ::burn::backend::{Backend, TensorMetadata, backend_extension};
use ::burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

pub use best::GROUP;
use best::{select_best, sort_best};
use iou::MidpointLaunch;
pub use iou::{LEAST_THRESHOLD_3D, Midpoint};
use keep::keep_in_block;
use layout::{BLOCK, UNITS, WORDS, values_of};
use overlap::overlaps_in_blocks;
pub use rank::Least;
use rank::{LeastLaunch, rank_boxes};
use suppress::suppress_later;

/// What runs on the device.
#[backend_extension(Cube, Fusion)]
pub trait NmsKernels: Backend {
    /// Greedy NMS within each class, of at least one box of two or three axes, without those that are below `least`.
    /// Returns N + 1 integers of a dtype: the number of kept boxes, then their indices. The number is N + 1 if the
    /// kernels don't have the host's result for a box.
    #[fusion(dtype = *dtype, shape = Shape::new([boxes[0] + 1]))]
    fn kept_boxes(
        boxes: FloatTensor<Self>,
        scores: FloatTensor<Self>,
        classes: IntTensor<Self>,
        midpoint: Midpoint,
        least: Least,
        dtype: DType,
    ) -> IntTensor<Self>;

    /// The rows of the largest of `values` of each of `groups`, at most so many of each and `total` in all: group after
    /// group, by decreasing value. Of equal values the lower row comes first; NaN comes last.
    #[fusion(dtype = groups, shape = Shape::new([*total]))]
    fn best_rows(values: FloatTensor<Self>, groups: IntTensor<Self>, most: usize, total: usize) -> IntTensor<Self>;
}

impl NmsKernels for CubeBackend {
    fn kept_boxes(
        boxes: CubeTensor,
        scores: CubeTensor,
        classes: CubeTensor,
        midpoint: Midpoint,
        least: Least,
        dtype: DType,
    ) -> CubeTensor {
        let count = scores.shape()[0];
        let output = tensor(&boxes, count + 1, dtype);
        let sorted = sort(boxes, scores, classes, least, midpoint);
        let overlaps = sorted.overlaps();
        let kept = tensor(&output, BLOCK + 1, DType::U32);
        for first in (0..count).step_by(BLOCK) {
            sorted.keep(&overlaps, &kept, &output, first);
            sorted.suppress(&kept, first + BLOCK);
        }
        output
    }

    fn best_rows(values: CubeTensor, groups: CubeTensor, most: usize, total: usize) -> CubeTensor {
        let [rows, keys] = [(); 2].map(|()| tensor(&values, total, DType::U32));
        let sorted = tensor(&values, total, groups.dtype);
        let count = (groups.shape()[0] / GROUP) as u32;
        let groups = into_contiguous(groups);
        let of_groups = dtype_to_storage_type(groups.dtype);
        select_best::launch(
            &values.client.clone(),
            CubeCount::Static(count, 1, 1),
            CubeDim::new_1d(UNITS as u32),
            into_contiguous(values.clone()).into_tensor_arg(),
            groups.clone().into_tensor_arg(),
            rows.clone().into_tensor_arg(),
            keys.clone().into_tensor_arg(),
            [dtype_to_storage_type(values.dtype), of_groups],
        );
        sort_best::launch(
            &values.client,
            CubeCount::Static(most.div_ceil(UNITS) as u32, count, 1),
            CubeDim::new_1d(UNITS as u32),
            groups.into_tensor_arg(),
            rows.into_tensor_arg(),
            keys.into_tensor_arg(),
            sorted.clone().into_tensor_arg(),
            of_groups,
        );
        sorted
    }
}

/// Boxes by decreasing score. Those whose score is NaN come last. They are suppressed, as
/// those below the least.
struct Sorted {
    /// The values of all boxes, one after the other.
    values: CubeTensor,
    classes: CubeTensor,
    /// The index of each box, with [`SUPPRESSED`] and [`UNUSUAL`].
    entries: CubeTensor,
    count: usize,
    axes: usize,
    midpoint: Midpoint,
}

fn sort(boxes: CubeTensor, scores: CubeTensor, classes: CubeTensor, least: Least, midpoint: Midpoint) -> Sorted {
    let (count, axes) = (scores.shape()[0], boxes.shape()[1] / 2);
    let sorted = Sorted {
        values: tensor(&boxes, values_of(axes) * count, DType::F32),
        classes: tensor(&boxes, count, classes.dtype),
        entries: tensor(&boxes, count, DType::U32),
        count,
        axes,
        midpoint,
    };
    rank_boxes::launch(
        &boxes.client.clone(),
        cubes(count),
        CubeDim::new_1d(UNITS as u32),
        into_contiguous(boxes.clone()).into_tensor_arg(),
        into_contiguous(scores.clone()).into_tensor_arg(),
        into_contiguous(classes.clone()).into_tensor_arg(),
        sorted.values.clone().into_tensor_arg(),
        sorted.classes.clone().into_tensor_arg(),
        sorted.entries.clone().into_tensor_arg(),
        LeastLaunch::new(least.side, least.score),
        midpoint.argument(),
        axes,
        [boxes.dtype, scores.dtype, classes.dtype].map(dtype_to_storage_type),
    );
    sorted
}

impl Sorted {
    /// For each box a bit for each box of its block. Those of the box itself and of boxes before it are not set. A word
    /// without later boxes is not written: it is only read for boxes whose bits are set anyway.
    fn overlaps(&self) -> CubeTensor {
        let overlaps = tensor(&self.values, self.count * WORDS, DType::U32);
        overlaps_in_blocks::launch(
            &self.values.client,
            CubeCount::Static(self.count.div_ceil(UNITS) as u32, WORDS as u32, 1),
            CubeDim::new_1d(UNITS as u32),
            self.values.clone().into_tensor_arg(),
            self.classes.clone().into_tensor_arg(),
            overlaps.clone().into_tensor_arg(),
            self.midpoint.argument(),
            self.axes,
            dtype_to_storage_type(self.classes.dtype),
        );
        overlaps
    }

    /// Lists the boxes that are kept of the block that begins at box `first`.
    fn keep(&self, overlaps: &CubeTensor, kept: &CubeTensor, output: &CubeTensor, first: usize) {
        keep_in_block::launch(
            &output.client,
            cubes(1),
            CubeDim::new_1d(UNITS as u32),
            self.entries.clone().into_tensor_arg(),
            overlaps.clone().into_tensor_arg(),
            kept.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            first,
            dtype_to_storage_type(output.dtype),
        );
    }

    /// Marks the boxes from `first` on that a listed box suppresses.
    fn suppress(&self, kept: &CubeTensor, first: usize) {
        if first >= self.count {
            return;
        }
        suppress_later::launch(
            &kept.client,
            cubes(self.count - first),
            CubeDim::new_1d(UNITS as u32),
            self.values.clone().into_tensor_arg(),
            self.classes.clone().into_tensor_arg(),
            self.entries.clone().into_tensor_arg(),
            kept.clone().into_tensor_arg(),
            first,
            self.midpoint.argument(),
            self.axes,
            dtype_to_storage_type(self.classes.dtype),
        );
    }
}

/// A tensor on the device of another one.
fn tensor(of: &CubeTensor, length: usize, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(of.client.clone(), of.device.clone(), Shape::new([length]), dtype)
}

/// As many cubes as so many units are in.
fn cubes(units: usize) -> CubeCount {
    CubeCount::Static(units.div_ceil(UNITS) as u32, 1, 1)
}

impl Midpoint {
    fn argument(self) -> MidpointLaunch {
        MidpointLaunch::new(self.high, self.low, self.fall, self.zero)
    }
}
