//! Random problems on volumes: shapes, strides, boxes and options.

use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::problem::{FORMATS, Operator3d, Problem3d};

pub fn problems() -> impl Strategy<Value = Problem3d> {
    let shape = [1usize..3, 1usize..6, 1usize..9, 1usize..9, 1usize..9];
    let format = 0..FORMATS.len();
    (operators(), any::<bool>(), shape, format, any::<u64>()).prop_flat_map(
        |(operator, channels_last, shape, format, seed)| {
            let region = (boxes(&operator), 0..shape[0] as i32);
            proptest::collection::vec(region, 1..5).prop_map(move |regions| {
                let (boxes, batch_indices) = regions.into_iter().unzip();
                Problem3d {
                    operator: operator.clone(),
                    shape,
                    channels_last,
                    boxes,
                    batch_indices,
                    format,
                    seed,
                }
            })
        },
    )
}

/// Boxes around a map of 8 voxels at scales near 1, or around the unit cube for crops.
fn boxes(operator: &Operator3d) -> impl Strategy<Value = [f32; 6]> + use<> {
    let size = match operator {
        Operator3d::Crop(_) => 1.0,
        _ => 10.0f32,
    };
    let coordinate = prop_oneof![
        6 => -0.5f32..1.5,
        3 => (-4i32..12).prop_map(|eighths| eighths as f32 / 8.0),
        1 => select(vec![-1e9f32, -3e38, 1e4, 1e9, 3e38]),
    ];
    proptest::array::uniform6(coordinate).prop_map(move |ends| ends.map(|end| (end * size).clamp(-3e38, 3e38)))
}

fn operators() -> impl Strategy<Value = Operator3d> {
    prop_oneof![
        3 => aligns().prop_map(Operator3d::Align),
        1 => pools().prop_map(Operator3d::Pool),
        1 => crops().prop_map(Operator3d::Crop),
    ]
}

fn output_sizes() -> impl Strategy<Value = [usize; 3]> {
    [1usize..5, 1usize..5, 1usize..5]
}

fn scales() -> impl Strategy<Value = [f64; 3]> {
    proptest::array::uniform3(select(vec![1.0, 0.5, 0.3, 2.0]))
}

fn aligns() -> impl Strategy<Value = RoiAlign3dConfig> {
    let sampling = prop_oneof![
        Just(Sampling::Adaptive),
        Just(Sampling::AdaptiveFloor),
        (1usize..4).prop_map(Sampling::Fixed),
        Just(Sampling::Clamped { minimum: 1, maximum: 4 }),
    ];
    let offsets = [
        select(vec![0.0, 0.5]),
        select(vec![0.0, 1.0]),
        select(vec![0.0, 0.5]),
        select(vec![-0.5, 0.0]),
        select(vec![0.0, 3.25]),
    ];
    let least = select(vec![None, Some(1.0)]);
    let interpolation = select(vec![
        Interpolation::Bilinear,
        Interpolation::Bilinear,
        Interpolation::Nearest,
    ]);
    let reduction = select(vec![
        Reduction::Average,
        Reduction::Average,
        Reduction::Max,
        Reduction::MaxFromZero,
    ]);
    let samplings = proptest::array::uniform3(sampling);
    (
        output_sizes(),
        scales(),
        samplings,
        offsets,
        least,
        (interpolation, reduction),
        any::<bool>(),
    )
        .prop_map(
            |(size, scale, mut sampling, offsets, least, (interpolation, reduction), align_corners)| {
                if reduction != Reduction::Average {
                    sampling = sampling.map(|sampling| match sampling {
                        Sampling::Fixed(_) => sampling,
                        _ => Sampling::Fixed(2),
                    });
                }
                let [box_offset, end_offset, input_offset, output_offset, outside] = offsets;
                RoiAlign3dConfig::new(size)
                    .with_spatial_scale(scale)
                    .with_sampling(sampling)
                    .with_interpolation(interpolation)
                    .with_reduction(reduction)
                    .with_box_offset(box_offset)
                    .with_end_offset(end_offset)
                    .with_input_pixel_offset(input_offset)
                    .with_output_pixel_offset(output_offset)
                    .with_out_of_bounds_value(outside)
                    .with_minimum_length(least)
                    .with_align_corners(align_corners)
            },
        )
}

fn pools() -> impl Strategy<Value = RoiPool3dConfig> {
    let rounding = select(vec![
        BoxRounding::AfterScaling,
        BoxRounding::BeforeScaling,
        BoxRounding::Never,
    ]);
    let division = select(vec![BinDivision::Whole, BinDivision::Rounded]);
    let least = select(vec![None, Some(1.0)]);
    (output_sizes(), scales(), rounding, division, least).prop_map(|(size, scale, rounding, division, least)| {
        RoiPool3dConfig::new(size)
            .with_spatial_scale(scale)
            .with_rounding(rounding)
            .with_division(division)
            .with_minimum_length(least)
    })
}

fn crops() -> impl Strategy<Value = CropAndResize3dConfig> {
    let method = select(vec![Interpolation::Bilinear, Interpolation::Nearest]);
    (output_sizes(), method, select(vec![0.0, -7.5]), any::<bool>()).prop_map(|(size, method, value, exactly)| {
        CropAndResize3dConfig::new(size)
            .with_method(method)
            .with_extrapolation_value(value)
            .with_ends_exactly(exactly)
    })
}
