//! Random problems: shapes, strides, boxes and every option.

use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use crate::problem::{Layout, Operator, Problem};

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
    (operators(), layout, shape, any::<u64>()).prop_flat_map(|(operator, layout, (n, c, h, w), seed)| {
        let region = (boxes(&operator), 0..n as i32);
        proptest::collection::vec(region, 1..6).prop_map(move |regions| {
            let (boxes, batch_indices) = regions.into_iter().unzip();
            Problem {
                operator: operator.clone(),
                layout,
                shape: [n, c * operator.input_channels(), h, w],
                boxes,
                batch_indices,
                seed,
            }
        })
    })
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
    (coordinate.clone(), coordinate.clone(), coordinate.clone(), coordinate)
        .prop_map(move |(x1, y1, x2, y2)| [x1, y1, x2, y2].map(|c| (c * size).clamp(-3e38, 3e38)))
        .boxed()
}

fn operators() -> impl Strategy<Value = Operator> {
    prop_oneof![
        4 => roi_aligns().prop_map(Operator::RoiAlign),
        1 => roi_pools().prop_map(Operator::RoiPool),
        1 => crops().prop_map(Operator::CropAndResize),
        1 => (output_sizes(), scales(), samplings(), any::<bool>()).prop_map(|(size, scale, sampling, aligned)| {
            let config = PsRoiAlignConfig::new(size).with_spatial_scale(scale);
            Operator::PsRoiAlign(config.with_sampling(sampling).with_aligned(aligned))
        }),
        1 => ps_roi_pools().prop_map(Operator::PsRoiPool),
        1 => (output_sizes(), scales()).prop_map(|(size, scale)| {
            Operator::PrRoiPool(PrRoiPoolConfig::new(size).with_spatial_scale(scale))
        }),
    ]
}

fn output_sizes() -> impl Strategy<Value = [usize; 2]> {
    [1usize..6, 1usize..6]
}

fn scales() -> impl Strategy<Value = f64> {
    select(vec![1.0, 0.5, 0.25, 0.3, 0.0625, 2.0])
}

fn samplings() -> impl Strategy<Value = Sampling> {
    prop_oneof![
        Just(Sampling::Adaptive),
        Just(Sampling::AdaptiveFloor),
        (1usize..5).prop_map(Sampling::Fixed),
        (1usize..4, 0usize..4).prop_map(|(minimum, more)| Sampling::Clamped {
            minimum,
            maximum: minimum + more
        }),
        Just(Sampling::Clamped {
            minimum: 1,
            maximum: u32::MAX as usize
        }),
    ]
}

fn roi_aligns() -> impl Strategy<Value = RoiAlignConfig> {
    let geometry = (
        output_sizes(),
        [scales(), scales()],
        samplings(),
        [
            select(vec![0.0, 0.5]),
            select(vec![0.0, 0.0, 1.0]),
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
            Arithmetic::FromRegionInElements,
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
            .with_end_offset(offsets[1])
            .with_input_pixel_offset(offsets[2])
            .with_output_pixel_offset(offsets[3])
            .with_align_corners(corners)
            .with_minimum_length(legacy.then_some(1.0))
            .with_interpolation(interpolation)
            .with_reduction(reduction)
            .with_out_of_bounds_value(outside)
            .with_arithmetic(arithmetic)
    })
}

fn roi_pools() -> impl Strategy<Value = RoiPoolConfig> {
    let division = select(vec![BinDivision::Whole, BinDivision::Rounded]);
    let lengths = select(vec![None, Some(1.0), Some(2.0)]);
    (output_sizes(), [scales(), scales()], division, lengths).prop_map(|(output_size, [y, x], division, length)| {
        RoiPoolConfig::new(output_size)
            .with_spatial_scale_y(y)
            .with_spatial_scale_x(x)
            .with_division(division)
            .with_minimum_length(length)
    })
}

fn ps_roi_pools() -> impl Strategy<Value = PsRoiPoolConfig> {
    let rounding = select(vec![BoxRounding::AfterScaling, BoxRounding::BeforeScaling]);
    let numbers = (
        select(vec![0.0, 1.0, -0.5]),
        select(vec![None, Some(0.1), Some(1.0), Some(2.5)]),
    );
    (output_sizes(), scales(), rounding, numbers, any::<[bool; 2]>()).prop_map(
        |(size, scale, rounding, (end_offset, length), [inclusive_end, reaches_last_pixel])| {
            PsRoiPoolConfig::new(size)
                .with_spatial_scale(scale)
                .with_rounding(rounding)
                .with_end_offset(end_offset)
                .with_minimum_length(length)
                .with_inclusive_end(inclusive_end)
                .with_reaches_last_pixel(reaches_last_pixel)
        },
    )
}

fn crops() -> impl Strategy<Value = CropAndResizeConfig> {
    let method = select(vec![Interpolation::Bilinear, Interpolation::Nearest]);
    let format = select(vec![BoxFormat::Xyxy, BoxFormat::Yxyx]);
    (output_sizes(), method, select(vec![0.0, -7.5]), format, any::<bool>()).prop_map(
        |(crop_size, method, value, format, ends_exactly)| {
            CropAndResizeConfig::new(crop_size)
                .with_method(method)
                .with_extrapolation_value(value)
                .with_box_format(format)
                .with_ends_exactly(ends_exactly)
        },
    )
}
