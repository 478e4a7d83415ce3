//! What both kernels share: which output elements a unit computes, and the region they belong to.

use burn::backend::TensorMetadata;
use burn::backend::cubecl::dtype_to_storage_type;
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

use crate::backend::output_shape;

/// How many channels a unit computes at a time, with the same coordinates and weights.
pub const CHANNELS: usize = 8;

/// How many of these blocks of channels are computed of all regions before the next: 32 channels.
///
/// Regions overlap, and read the map several times over. 32 of 256 channels of 200 x 304 are 8 MB, which
/// stays in the L2 cache from region to region; all of them are 62 MB, which do not.
const BLOCKS: usize = 4;

/// As many units keep a large GPU busy: an H200 holds 270,336. Where there would be more, a unit computes
/// several blocks, one after another, since finding its region's axes takes as long as half a block.
const ENOUGH_UNITS: usize = 1 << 18;

/// How the output is divided among units.
#[derive(CubeType, CubeLaunch)]
pub struct Units {
    /// K, the units that share the channels computed at a time, P and Q.
    sizes: Sequence<FastDivmod<usize>>,
    /// The second of these sizes.
    sharing: usize,
    /// How many blocks of channels a unit computes.
    pub blocks: usize,
    /// How many units there are.
    pub total: usize,
}

/// The output element of a unit, in the first of its channels.
#[derive(CubeType)]
pub struct Place {
    pub region: usize,
    pub channel: usize,
    pub row: usize,
    pub column: usize,
}

/// A region as a kernel reads it.
#[derive(CubeType)]
pub struct Region {
    pub image: usize,
    /// Whether the row names an image and is finite.
    pub valid: bool,
    pub x1: f32,
    pub y1: f32,
    pub x2: f32,
    pub y2: f32,
}

/// The place of this unit: neighbours are those of a row, then of a region, then of regions.
#[cube]
pub fn place(units: &Units) -> Place {
    let (rest, column) = units.sizes[3].div_mod(ABSOLUTE_POS);
    let (rest, row) = units.sizes[2].div_mod(rest);
    let (rest, share) = units.sizes[1].div_mod(rest);
    let (round, region) = units.sizes[0].div_mod(rest);
    Place {
        region,
        // Beyond the last channel in the last round, where rounds are not full.
        channel: (round * units.sharing + share) * units.blocks * CHANNELS,
        row,
        column,
    }
}

/// Where pixel 0 lies in the channels of a block. Beyond the last channel, that one is read again and not
/// written.
#[cube]
pub fn planes<F: Float>(features: &Tensor<F>, image: usize, first: usize) -> Array<usize> {
    let mut planes = Array::<usize>::new(CHANNELS);
    let last = features.shape(1) - 1;
    let step = features.stride(1);
    let start = image * features.stride(0);
    #[unroll]
    for channel in 0..CHANNELS {
        planes[channel] = start + (first + channel).min(last) * step;
    }
    planes
}

/// Writes the results of a place in a block of channels.
#[cube]
pub fn write<F: Float>(output: &mut Tensor<F>, place: &Place, first: usize, results: &Array<f32>) {
    // Read once: a device compiler takes it that what is written may change strides.
    let (channels, step) = (output.shape(1), output.stride(1));
    let mut index =
        place.region * output.stride(0) + first * step + place.row * output.stride(2) + place.column * output.stride(3);
    #[unroll]
    for channel in 0..CHANNELS {
        if first + channel < channels {
            output[index] = F::cast_from(results[channel]);
        }
        index += step;
    }
}

/// Reads a region. `columns` are those of x1, y1, x2 and y2 in `boxes`.
#[cube]
pub fn read_region<F: Float, I: Int>(
    boxes: &Tensor<F>,
    batch_indices: &Tensor<I>,
    row: usize,
    batch: usize,
    #[comptime] columns: [usize; 4],
) -> Region {
    let index = batch_indices[row * batch_indices.stride(0)];
    // There and back again leaves only what a u32 holds; -1 comes back, but as the largest of them.
    let image = u32::cast_from(index);
    let whole = I::cast_from(image) == index && (image as usize) < batch;

    let start = row * boxes.stride(0);
    let step = boxes.stride(1);
    let x1 = f32::cast_from(boxes[start + comptime!(columns[0]) * step]);
    let y1 = f32::cast_from(boxes[start + comptime!(columns[1]) * step]);
    let x2 = f32::cast_from(boxes[start + comptime!(columns[2]) * step]);
    let y2 = f32::cast_from(boxes[start + comptime!(columns[3]) * step]);
    Region {
        image: image as usize,
        valid: whole && is_finite(x1) && is_finite(y1) && is_finite(x2) && is_finite(y2),
        x1,
        y1,
        x2,
        y2,
    }
}

/// By its bits, since some device compilers take it that there are no infinities.
#[cube]
fn is_finite(value: f32) -> bool {
    (value.to_bits() & 0x7F80_0000u32) != 0x7F80_0000u32
}

/// The integers that elements of a tensor are addressed by: they hold its length too, which an expanded
/// tensor's memory is shorter than.
fn address_type(tensor: &CubeTensor) -> AddressType {
    let length = AddressType::from_len(tensor.shape().num_elements());
    length.max(tensor.required_address_type())
}

/// What a launch needs besides its operator's own arguments.
pub struct Launch {
    pub output: CubeTensor,
    pub count: CubeCount,
    pub dim: CubeDim,
    pub address: AddressType,
    pub units: UnitsLaunch,
    pub dtype: cubecl::ir::ElemType,
    pub index_dtype: cubecl::ir::ElemType,
}

impl Launch {
    /// `pooled` is the output, where other levels have begun it.
    pub fn new(
        pooled: Option<CubeTensor>,
        features: &CubeTensor,
        boxes: &CubeTensor,
        batch_indices: &CubeTensor,
        output_size: [usize; 2],
    ) -> Self {
        let shape = output_shape(&features.shape(), &boxes.shape(), output_size);
        let [regions, channels, rows, columns] = shape.dims();
        let places = regions * rows * columns;
        let blocks = channels.div_ceil(CHANNELS);
        let of_a_unit = (places * blocks / ENOUGH_UNITS).clamp(1, BLOCKS.min(blocks));
        let sharing = blocks.div_ceil(of_a_unit);
        let rounds = sharing.div_ceil(BLOCKS / of_a_unit);
        let sharing = sharing.div_ceil(rounds);
        let total = rounds * places * sharing;
        let mut sizes = SequenceArg::new();
        for size in [regions, sharing, rows, columns] {
            sizes.push(size);
        }

        let client = &features.client;
        let output = match pooled {
            Some(pooled) if pooled.can_mut() => pooled,
            Some(pooled) => pooled.copy(),
            None => empty_device_contiguous_dtype(client.clone(), features.device.clone(), shape, features.dtype),
        };
        // The shape of a block is compiled in: it is that of many units however few there are, so that
        // another number of regions compiles nothing anew.
        let dim = CubeDim::new(client, u32::MAX as usize);
        let tensors = [features, boxes, batch_indices, &output];
        let addresses = tensors.map(address_type);
        Self {
            count: calculate_cube_count_elemwise(client, total, dim),
            dim,
            address: addresses.into_iter().max().expect("there are tensors"),
            units: UnitsLaunch::new(sizes, sharing, of_a_unit, total),
            dtype: dtype_to_storage_type(features.dtype),
            index_dtype: dtype_to_storage_type(batch_indices.dtype),
            output,
        }
    }
}
