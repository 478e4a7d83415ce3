//! Random problems: shapes, strides, boxes and every option.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum Operator {
    RoiAlign(RoiAlignConfig),
    RoiPool(RoiPoolConfig),
    CropAndResize(CropAndResizeConfig),
}

/// How the features lie in memory.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    Contiguous,
    ChannelsLast,
    Transposed,
    /// A window of a larger tensor.
    Sliced,
    /// One channel, seen as many.
    Expanded,
}

/// A call.
#[derive(Debug, Clone)]
pub struct Problem {
    pub operator: Operator,
    pub layout: Layout,
    pub shape: [usize; 4],
    pub boxes: Vec<[f32; 4]>,
    pub batch_indices: Vec<i32>,
    pub seed: u64,
}

impl Problem {
    /// Computes it on a device, in a dtype; features and boxes are rounded to `rounding` first.
    pub fn run(&self, device: &Device, rounding: DType, dtype: DType) -> TensorData {
        let features = self.features(device, rounding, dtype);
        self.call(features, device, rounding).into_data()
    }

    /// Computes it of other features.
    pub fn call(&self, features: Tensor<4>, device: &Device, rounding: DType) -> Tensor<4> {
        let rois = self.rois(device, rounding, features.dtype());
        match &self.operator {
            Operator::RoiAlign(config) => roi_align(features, &rois, config.clone()),
            Operator::RoiPool(config) => roi_pool(features, &rois, config.clone()),
            Operator::CropAndResize(config) => crop_and_resize(features, &rois, config.clone()),
        }
    }

    pub fn features(&self, device: &Device, rounding: DType, dtype: DType) -> Tensor<4> {
        let [n, c, h, w] = self.shape;
        let random = |shape: [usize; 4]| {
            let values = random_numbers(self.seed, shape.iter().product());
            tensor::<4>(values, shape, device, rounding, dtype)
        };
        match self.layout {
            Layout::Contiguous => random([n, c, h, w]),
            Layout::ChannelsLast => random([n, h, w, c]).permute([0, 3, 1, 2]),
            Layout::Transposed => random([n, c, w, h]).swap_dims(2, 3),
            Layout::Sliced => {
                random([n + 1, c + 2, h + 3, w + 1]).slice([1..n + 1, 1..c + 1, 2..h + 2, 0..w])
            }
            Layout::Expanded => random([n, 1, h, w]).expand([n, c, h, w]),
        }
    }

    fn rois(&self, device: &Device, rounding: DType, dtype: DType) -> Rois {
        let count = self.boxes.len();
        let boxes = self.boxes.iter().flatten().copied().collect();
        let indices = TensorData::new(self.batch_indices.clone(), [count]);
        Rois::new(
            tensor::<2>(boxes, [count, 4], device, rounding, dtype),
            Tensor::<1, Int>::from_data(indices, device),
        )
    }
}

fn tensor<const D: usize>(
    values: Vec<f32>,
    shape: [usize; D],
    device: &Device,
    rounding: DType,
    dtype: DType,
) -> Tensor<D> {
    let data = TensorData::new(values, shape)
        .convert_dtype(rounding)
        .convert_dtype(dtype);
    Tensor::from_data(data, (device, dtype))
}

/// Numbers from -1 to 1 that a seed decides.
fn random_numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2) + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Any valid problem.
pub fn problems() -> impl Strategy<Value = Problem> {
    let shape = (1usize..3, 1usize..11, 1usize..14, 1usize..14);
    let layout = select(vec![
        Layout::Contiguous,
        Layout::ChannelsLast,
        Layout::Transposed,
        Layout::Sliced,
        Layout::Expanded,
    ]);
    (operators(), layout, shape, any::<u64>()).prop_flat_map(
        |(operator, layout, (n, c, h, w), seed)| {
            let region = (boxes(&operator), 0..n as i32);
            proptest::collection::vec(region, 1..6).prop_map(move |regions| {
                let (boxes, batch_indices) = regions.into_iter().unzip();
                Problem {
                    operator: operator.clone(),
                    layout,
                    shape: [n, c, h, w],
                    boxes,
                    batch_indices,
                    seed,
                }
            })
        },
    )
}

/// Boxes around a map of 13 pixels at scales near 1, or around the unit square for crops.
fn boxes(operator: &Operator) -> BoxedStrategy<[f32; 4]> {
    let size = match operator {
        Operator::CropAndResize(_) => 1.0,
        _ => 16.0f32,
    };
    let coordinate = prop_oneof![
        6 => -0.5f32..1.5,
        3 => (-4i32..12).prop_map(|eighths| eighths as f32 / 8.0),
        1 => select(vec![-1e9f32, -3e38, 1e4, 1e9, 3e38]),
    ];
    (
        coordinate.clone(),
        coordinate.clone(),
        coordinate.clone(),
        coordinate,
    )
        .prop_map(move |(x1, y1, x2, y2)| [x1, y1, x2, y2].map(|c| (c * size).clamp(-3e38, 3e38)))
        .boxed()
}

fn operators() -> impl Strategy<Value = Operator> {
    prop_oneof![
        4 => roi_aligns().prop_map(Operator::RoiAlign),
        1 => roi_pools().prop_map(Operator::RoiPool),
        1 => crops().prop_map(Operator::CropAndResize),
    ]
}

fn output_sizes() -> impl Strategy<Value = [usize; 2]> {
    [1usize..6, 1usize..6]
}

fn scales() -> impl Strategy<Value = f64> {
    select(vec![1.0, 0.5, 0.25, 0.3, 0.0625, 2.0])
}

fn roi_aligns() -> impl Strategy<Value = RoiAlignConfig> {
    let sampling = prop_oneof![
        Just(Sampling::Adaptive),
        (1usize..5).prop_map(Sampling::Fixed),
        (1usize..4, 0usize..4).prop_map(|(minimum, more)| Sampling::Clamped {
            minimum,
            maximum: minimum + more
        }),
        Just(Sampling::Clamped {
            minimum: 1,
            maximum: u32::MAX as usize
        }),
    ];
    let geometry = (
        output_sizes(),
        [scales(), scales()],
        sampling,
        [
            select(vec![0.0, 0.5]),
            select(vec![0.0, 0.5, 0.25]),
            select(vec![-0.5, 0.0, -0.25]),
        ],
        any::<[bool; 2]>(),
    );
    let values = (
        select(vec![Interpolation::Bilinear, Interpolation::Nearest]),
        select(vec![
            Reduction::Average,
            Reduction::Average,
            Reduction::Max,
            Reduction::MaxFromZero,
            Reduction::MaxOfWeightedCorners,
        ]),
        select(vec![0.0, 0.0, -7.5, 3.25]),
        select(vec![
            Arithmetic::FromElements,
            Arithmetic::FromElementsBySteps,
            Arithmetic::FromRegion,
            Arithmetic::FromRegionUnscaled,
        ]),
    );
    (geometry, values).prop_map(|(geometry, values)| {
        let (output_size, [scale_y, scale_x], sampling, offsets, [corners, legacy]) = geometry;
        let (interpolation, reduction, outside, arithmetic) = values;
        RoiAlignConfig::new(output_size)
            .with_spatial_scale_y(scale_y)
            .with_spatial_scale_x(scale_x)
            .with_sampling(sampling)
            .with_box_offset(offsets[0])
            .with_input_pixel_offset(offsets[1])
            .with_output_pixel_offset(offsets[2])
            .with_align_corners(corners)
            .with_legacy_minimum_size(legacy)
            .with_interpolation(interpolation)
            .with_reduction(reduction)
            .with_out_of_bounds_value(outside)
            .with_arithmetic(arithmetic)
    })
}

fn roi_pools() -> impl Strategy<Value = RoiPoolConfig> {
    let division = select(vec![BinDivision::Whole, BinDivision::Rounded]);
    (output_sizes(), [scales(), scales()], division).prop_map(|(output_size, [y, x], division)| {
        RoiPoolConfig::new(output_size)
            .with_spatial_scale_y(y)
            .with_spatial_scale_x(x)
            .with_division(division)
    })
}

fn crops() -> impl Strategy<Value = CropAndResizeConfig> {
    let method = select(vec![Interpolation::Bilinear, Interpolation::Nearest]);
    (output_sizes(), method, select(vec![0.0, -7.5])).prop_map(|(crop_size, method, value)| {
        CropAndResizeConfig::new(crop_size)
            .with_method(method)
            .with_extrapolation_value(value)
    })
}
