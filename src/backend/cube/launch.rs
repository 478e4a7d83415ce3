//! What the launches of all kernels have in common.

use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Shape};
use burn_cubecl::CubeBackend;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

use crate::backend::RegionCall;

/// How many units a cube of a gradient has.
pub const UNITS: usize = 256;

/// The regions of a call, as an argument of kernels.
#[derive(CubeType, CubeLaunch)]
pub struct Regions<R: Float, I: Int> {
    pub boxes: OwnedTensor<R>,
    pub batch_indices: OwnedTensor<I>,
}

/// What a kernel takes as one argument: a tensor, the levels of a pyramid, or the regions of a call.
pub trait Argument<A>: Tensors {
    fn argument(&self) -> A;
}

/// The tensors of an [`Argument`].
pub trait Tensors {
    /// The [`length`] of the longest.
    fn longest(&self) -> usize;
}

impl Tensors for CubeTensor {
    fn longest(&self) -> usize {
        length(self)
    }
}

impl Argument<TensorArg> for CubeTensor {
    fn argument(&self) -> TensorArg {
        self.clone().into_tensor_arg()
    }
}

impl Tensors for Vec<CubeTensor> {
    fn longest(&self) -> usize {
        self.iter().map(length).max().unwrap_or(0)
    }
}

impl<R: Numeric> Argument<SequenceArg<OwnedTensor<R>>> for Vec<CubeTensor> {
    fn argument(&self) -> SequenceArg<OwnedTensor<R>> {
        self.iter().map(Argument::argument).collect()
    }
}

impl Tensors for RegionCall<CubeBackend> {
    fn longest(&self) -> usize {
        length(&self.boxes).max(length(&self.batch_indices))
    }
}

impl<R: Float, I: Int> Argument<RegionsLaunch<R, I>> for RegionCall<CubeBackend> {
    fn argument(&self) -> RegionsLaunch<R, I> {
        RegionsLaunch::new(self.boxes.argument(), self.batch_indices.argument())
    }
}

/// Launches a kernel on a grid, which is a number of cubes and the size of a cube. The [`Argument`]s in brackets come
/// first, then the others. It runs on the client of the output, which is one of those in brackets.
macro_rules! launch {
    ($kernel:ident, $grid:expr, [$($tensors:expr),+] => $output:ident, $($argument:expr),+) => {{
        use crate::backend::cube::launch::{Argument, Tensors, addresses, units_of_grid};

        let (cubes, cube_size) = $grid;
        let longest = [$($tensors.longest()),+].into_iter().fold(0, usize::max);
        let addresses = addresses(longest, units_of_grid(&cubes, cube_size));
        let client = $output.client.clone();
        $kernel::launch(&client, cubes, cube_size, addresses, $($tensors.argument(),)+ $($argument),+);
    }};
}
pub(super) use launch;

/// The dtypes of a map, and of the boxes and the batch indices of a call.
pub fn dtypes(map: &CubeTensor, call: &RegionCall<CubeBackend>) -> [ElemType; 3] {
    [map.dtype, call.boxes.dtype, call.batch_indices.dtype].map(dtype_to_storage_type)
}

/// An output of a shape and a dtype, on the device of another tensor.
pub fn output(of: &CubeTensor, shape: Shape, dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(of.client.clone(), of.device.clone(), shape, dtype)
}

/// At least this many cubes of so many units, in two dimensions: one holds 65,535 at most.
pub fn grid(cubes: usize, units: usize) -> (CubeCount, CubeDim) {
    const WIDEST: usize = 1 << 15;
    let count = CubeCount::Static(cubes.min(WIDEST) as u32, cubes.div_ceil(WIDEST) as u32, 1);
    (count, CubeDim::new_1d(units as u32))
}

/// How many units a grid has.
pub fn units_of_grid(cubes: &CubeCount, cube_size: CubeDim) -> usize {
    match *cubes {
        CubeCount::Static(x, y, z) => [x, y, z, cube_size.num_elems()]
            .map(|count| count as usize)
            .iter()
            .product(),
        CubeCount::Dynamic(_) => unreachable!("the host knows the grid of each launch"),
    }
}

/// The integer type of indices into tensors up to this length, and of so many units.
///
/// CubeCL's division of a unit's index without a division adds two numbers, each up to the index. In 32 bits the sum
/// wraps from 2^31 on.
pub fn addresses(length: usize, units: usize) -> AddressType {
    AddressType::from_len(length.max(2 * units))
}

/// How many elements a tensor has or its memory has, whichever is more. An expanded tensor has more than its memory.
/// It is asked for seven times in a call, and `shape()` would make a new list each time.
pub fn length(tensor: &CubeTensor) -> usize {
    let in_memory = tensor.handle.size() as usize / tensor.dtype.size();
    tensor.meta.shape.num_elements().max(in_memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_twice_the_number_of_units() {
        assert_eq!(addresses(1 << 20, (1 << 31) - 1), AddressType::U32);
        assert_eq!(addresses(1 << 20, 1 << 31), AddressType::U64);
        assert_eq!(addresses(1 << 32, 1), AddressType::U64);
        let grid = (CubeCount::Static(1 << 15, 1 << 8, 1), CubeDim::new_1d(256));
        assert_eq!(units_of_grid(&grid.0, grid.1), 1 << 31);
    }
}
