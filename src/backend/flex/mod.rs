//! Flex: native code on its slices, in threads.
//!
//! A task is a block of channels of one region. It plans the region once, then walks the channels.
//! Every output element is computed by one task in one order, so results don't depend on the number of
//! threads.

use burn::backend::Flex;
use burn::tensor::{Bytes, DType, Shape, bf16, f16};
use burn_flex::{FlexDevice, FlexTensor, Layout};
use rayon::prelude::*;

use super::host::{Region, regions};
use super::{RegionKernels, RoiBackend, output_shape};
use crate::geometry::convention::{Reduction, RegionBins, RegionSamples};

mod average;
mod bins;
mod maximum;
mod number;

use number::{Number, Sum};

impl RoiBackend for Flex {
    fn is_host(_device: &FlexDevice) -> bool {
        true
    }
}

impl RegionKernels for Flex {
    fn sample_regions(
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        sampling: RegionSamples,
    ) -> FlexTensor {
        let average = sampling.reduction == Reduction::Average;
        match (features.dtype(), average) {
            (DType::F64, true) => average::sample::<f64>(features, boxes, batch_indices, &sampling),
            (DType::F64, false) => {
                maximum::sample::<f64>(features, boxes, batch_indices, &sampling)
            }
            (DType::F32, true) => average::sample::<f32>(features, boxes, batch_indices, &sampling),
            (DType::F32, false) => {
                maximum::sample::<f32>(features, boxes, batch_indices, &sampling)
            }
            (DType::F16, true) => average::sample::<f16>(features, boxes, batch_indices, &sampling),
            (DType::F16, false) => {
                maximum::sample::<f16>(features, boxes, batch_indices, &sampling)
            }
            (DType::BF16, true) => {
                average::sample::<bf16>(features, boxes, batch_indices, &sampling)
            }
            (DType::BF16, false) => {
                maximum::sample::<bf16>(features, boxes, batch_indices, &sampling)
            }
            (dtype, _) => unreachable!("features of {dtype:?} are refused before"),
        }
    }

    fn pool_regions(
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        bins: RegionBins,
    ) -> FlexTensor {
        match features.dtype() {
            DType::F64 => bins::pool::<f64>(features, boxes, batch_indices, &bins),
            DType::F32 => bins::pool::<f32>(features, boxes, batch_indices, &bins),
            DType::F16 => bins::pool::<f16>(features, boxes, batch_indices, &bins),
            DType::BF16 => bins::pool::<bf16>(features, boxes, batch_indices, &bins),
            dtype => unreachable!("features of {dtype:?} are refused before"),
        }
    }
}

/// A task is given at least this many output elements, so that planning its region is a small part.
const TASK: usize = 1 << 12;

/// The tensors of a call.
struct Call<E: Number> {
    features: FlexTensor,
    regions: Vec<Region<E::Sum>>,
    shape: Shape,
}

impl<E: Number> Call<E> {
    fn new(
        features: FlexTensor,
        boxes: FlexTensor,
        batch_indices: FlexTensor,
        output_size: [usize; 2],
        columns: [usize; 4],
    ) -> Self {
        let layout = features.layout();
        let shape = output_shape(layout.shape(), boxes.layout().shape(), output_size);
        let batch = layout.shape()[0];
        let rows_are_slices = layout.strides()[3] == 1 || layout.shape()[3] == 1;
        Self {
            regions: regions::<Flex, E::Sum>(boxes, batch_indices, batch, columns),
            features: if rows_are_slices {
                features
            } else {
                features.to_contiguous()
            },
            shape,
        }
    }

    /// Height and width of the map.
    fn map(&self) -> [usize; 2] {
        let [_, _, height, width] = self.features.layout().shape().dims();
        [height, width]
    }

    /// Computes every region. `plan` fills a task's workspace for a region; `compute` writes one
    /// channel's `[P, Q]` from it.
    fn run<W: Default + Send>(
        self,
        outside: f64,
        plan: impl Fn(&mut W, &Region<E::Sum>) + Sync,
        compute: impl Fn(&mut W, Plane<'_, E>, &mut [E]) + Sync,
    ) -> FlexTensor {
        let features = Features::<E>::new(&self.features);
        let outside = E::store(E::Sum::from_f64(outside));
        let [_, channels, rows, columns] = self.shape.dims();
        let of_a_channel = rows * columns;
        let block = TASK.div_ceil(of_a_channel).min(channels);

        let mut output = vec![E::default(); self.shape.num_elements()];
        let of_regions = output.par_chunks_mut(channels * of_a_channel);
        of_regions.zip(&self.regions).for_each(|(output, region)| {
            let Some(image) = region.image else {
                output.fill(outside);
                return;
            };
            let blocks = output.par_chunks_mut(block * of_a_channel).enumerate();
            blocks.for_each_init(W::default, |workspace, (number, output)| {
                plan(workspace, region);
                for (channel, output) in output.chunks_exact_mut(of_a_channel).enumerate() {
                    let plane = features.plane(image, number * block + channel);
                    compute(workspace, plane, output);
                }
            });
        });
        let layout = Layout::contiguous(self.shape);
        FlexTensor::new(Bytes::from_elems(output), layout, E::dtype())
    }
}

/// Features `[N, C, H, W]` whose rows are slices.
struct Features<'a, E> {
    data: &'a [E],
    start: isize,
    strides: [isize; 3],
}

impl<'a, E: Number> Features<'a, E> {
    fn new(tensor: &'a FlexTensor) -> Self {
        let layout = tensor.layout();
        let strides = layout.strides();
        Self {
            data: tensor.storage::<E>(),
            start: layout.start_offset() as isize,
            strides: [strides[0], strides[1], strides[2]],
        }
    }

    fn plane(&self, image: usize, channel: usize) -> Plane<'a, E> {
        let [of_image, of_channel, of_row] = self.strides;
        Plane {
            data: self.data,
            start: self.start + image as isize * of_image + channel as isize * of_channel,
            stride: of_row,
        }
    }
}

/// One channel of one image.
#[derive(Clone, Copy)]
struct Plane<'a, E> {
    data: &'a [E],
    start: isize,
    stride: isize,
}

impl<'a, E> Plane<'a, E> {
    /// Pixels of a row.
    fn row(&self, row: usize, pixels: std::ops::Range<usize>) -> &'a [E] {
        let start = (self.start + row as isize * self.stride) as usize;
        &self.data[start + pixels.start..start + pixels.end]
    }
}
