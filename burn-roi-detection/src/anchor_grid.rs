//! [`AnchorGrid`]: the anchors of feature maps of two or three axes.

use std::array::from_fn;
use std::fmt::Debug;

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::arguments;
use crate::boxes::ends;
use crate::error::DetectionError;
use burn_roi::internal::check_memory;

/// The anchors of each cell of feature maps. A map is `[H, W]` or `[D, H, W]`: x is its last axis.
#[derive(Debug, Clone)]
pub struct AnchorGrid<const AXES: usize> {
    /// For each feature map half of the sides of each anchor of a cell: along x, y, and z.
    half_sizes: Vec<Vec<[f32; AXES]>>,
    offset: f64,
    /// For each feature map the distance of its cells along each axis of the map.
    strides: Option<Vec<[usize; AXES]>>,
}

impl<const AXES: usize> AnchorGrid<AXES> {
    /// Checks the offset and the strides. `along_axes` is the stride along each axis of a map.
    pub fn new<S: Copy + Debug>(
        half_sizes: Vec<Vec<[f32; AXES]>>,
        offset: f64,
        strides: Option<&[S]>,
        along_axes: impl Fn(S) -> [usize; AXES],
    ) -> Result<Self, DetectionError> {
        arguments::check("offset", (0.0..=1.0).contains(&offset), offset, "from 0 to 1")?;
        if let Some(strides) = strides {
            arguments::length("strides", strides.len(), half_sizes.len(), "feature map")?;
            let fits = strides.iter().all(|&stride| !along_axes(stride).contains(&0));
            let expected = "above 0 for each feature map";
            arguments::check("strides", fits, format_args!("{strides:?}"), expected)?;
        }
        Ok(Self {
            half_sizes,
            offset,
            strides: strides.map(|strides| strides.iter().copied().map(along_axes).collect()),
        })
    }

    pub fn num_anchors_per_location(&self) -> Vec<usize> {
        self.half_sizes.iter().map(Vec::len).collect()
    }

    /// The anchors of each feature map. Sizes are in the order of a map's axes.
    pub fn anchors(
        &self,
        image_size: [usize; AXES],
        map_sizes: &[[usize; AXES]],
        device: &Device,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        arguments::length("map_sizes", map_sizes.len(), self.half_sizes.len(), "feature map")?;
        for (map_size, half_sizes) in map_sizes.iter().zip(&self.half_sizes) {
            let shape = [map_size.as_slice(), &[half_sizes.len(), 2 * AXES]].concat();
            check_memory("anchors of a feature map", &shape, DType::F32, device)?;
        }
        let levels = map_sizes.iter().enumerate();
        Ok(levels
            .map(|(level, &map_size)| self.on_map(level, image_size, map_size, device))
            .collect())
    }

    /// The anchors of one feature map, cell by cell.
    fn on_map(&self, level: usize, image_size: [usize; AXES], map_size: [usize; AXES], device: &Device) -> Tensor<2> {
        let half_sizes = &self.half_sizes[level];
        let (cells, count, columns) = (map_size.iter().product::<usize>(), half_sizes.len(), 2 * AXES);
        if cells * count == 0 {
            return Tensor::zeros([0, columns], device);
        }
        let strides = match &self.strides {
            Some(strides) => strides[level],
            None => from_fn(|axis| image_size[axis] / map_size[axis]),
        };
        let centre = |mut cell: usize| {
            // The last axis of the map, which is x, comes first.
            let along_axis = |axis: usize| {
                let (size, stride) = (map_size[AXES - 1 - axis], strides[AXES - 1 - axis] as f64);
                let index = cell % size;
                cell /= size;
                (self.offset * stride + index as f64 * stride) as f32
            };
            from_fn(along_axis)
        };
        let mut centres = vec![0.0; cells * columns];
        for (cell, row) in centres.chunks_exact_mut(columns).enumerate() {
            let centre: [f32; AXES] = centre(cell);
            write_corners(row, centre, centre);
        }
        let mut base_anchors = vec![0.0; count * columns];
        for (half, row) in half_sizes.iter().zip(base_anchors.chunks_exact_mut(columns)) {
            write_corners(row, half.map(|side| -side), *half);
        }
        let shape = [cells, count, columns];
        let centres = Tensor::<3>::from_data(TensorData::new(centres, [cells, 1, columns]), device);
        let base_anchors = Tensor::<3>::from_data(TensorData::new(base_anchors, [1, count, columns]), device);
        (centres.expand(shape) + base_anchors.expand(shape)).reshape([cells * count, columns])
    }
}

/// Writes a box by its first and last coordinates along x, y, and z.
fn write_corners<const AXES: usize>(row: &mut [f32], first: [f32; AXES], last: [f32; AXES]) {
    for axis in 0..AXES {
        let [start, end] = ends(axis);
        row[start] = first[axis];
        row[end] = last[axis];
    }
}

/// Checks that all sizes or ratios of all feature maps are finite and above 0.
pub fn all_positive(argument: &'static str, lists: &[Vec<f64>]) -> Result<(), DetectionError> {
    lists.iter().flatten().try_for_each(|&value| {
        let fits = value.is_finite() && value > 0.0;
        let value = format_args!("{value} for one feature map");
        arguments::check(argument, fits, value, "finite and above 0")
    })
}
