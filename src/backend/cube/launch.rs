//! What the launches of all kernels have in common.

use burn::tensor::{DType, Shape};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

/// How many units a cube of a gradient has.
pub const UNITS: usize = 256;

/// The regions of a call, as an argument of kernels.
#[derive(CubeType, CubeLaunch)]
pub struct Regions<R: Float, I: Int> {
    pub boxes: OwnedTensor<R>,
    pub batch_indices: OwnedTensor<I>,
}

/// Launches a kernel of a grid, which is a number of cubes and the size of a cube, and returns the output.
///
/// The kernel takes the maps that it reads, or the levels of a pyramid, the regions of the call, the output, the other
/// arguments, and the dtypes of the first map, of the boxes, of the batch indices and, behind a semicolon, of others.
macro_rules! launch {
    (
        $kernel:ident, $grid:expr, [$($map:ident),+], $call:ident => $output:ident,
        $($argument:expr),+ $(; $dtype:expr)?
    ) => {
        launch!(
            @ $kernel, $grid, [$(&$map),+], [$($map.into_tensor_arg()),+], $call => $output,
            $($argument),+ $(; $dtype)?
        )
    };
    ($kernel:ident, $grid:expr, levels $maps:ident, $call:ident => $output:ident, $($argument:expr),+) => {
        launch!(
            @ $kernel, $grid, &$maps, [$maps.into_iter().map(CubeTensor::into_tensor_arg).collect()],
            $call => $output, $($argument),+
        )
    };
    (
        @ $kernel:ident, $grid:expr, $maps:expr, [$($of_maps:expr),+], $call:ident => $output:ident,
        $($argument:expr),+ $(; $dtype:expr)?
    ) => {{
        use crate::backend::cube::launch::{RegionsLaunch, address_type, units_of_grid};

        let client = $output.client.clone();
        let (cubes, cube_size) = $grid;
        // Before the arguments, which consume the tensors.
        let mut tensors: Vec<&CubeTensor> = $maps.into_iter().collect();
        let dtypes = [tensors[0].dtype, $call.boxes.dtype, $call.batch_indices.dtype $(, $dtype)?];
        tensors.extend([&$call.boxes, &$call.batch_indices, &$output]);
        let addresses = address_type(&tensors, units_of_grid(&cubes, cube_size));
        $kernel::launch(
            &client,
            cubes,
            cube_size,
            addresses,
            $($of_maps,)+
            RegionsLaunch::new($call.boxes.into_tensor_arg(), $call.batch_indices.into_tensor_arg()),
            $output.clone().into_tensor_arg(),
            $($argument,)+
            dtypes.map(burn::backend::cubecl::dtype_to_storage_type),
        );
        $output
    }};
}
pub(super) use launch;

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

/// The integer type of indices into these tensors and of so many units.
pub fn address_type(tensors: &[&CubeTensor], units: usize) -> AddressType {
    let longest = tensors.iter().map(|tensor| length(tensor)).max();
    addresses(longest.expect("there are tensors"), units)
}

/// CubeCL's division of a unit's index without a division adds two numbers, each up to the index. In 32 bits the sum
/// wraps from 2^31 on.
fn addresses(length: usize, units: usize) -> AddressType {
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
