//! Random problems: shapes, strides, boxes, offsets and every option.

use burn_roi::*;
use proptest::prelude::*;
use proptest::sample::select;

use super::{PointOperator, PointProblem};
use crate::problem::{Layout, random_numbers};

/// Any valid problem.
pub fn problems() -> impl Strategy<Value = PointProblem> {
    let shape = (1usize..3, 1usize..11, 1usize..14, 1usize..14);
    let layout = select(vec![
        Layout::Contiguous,
        Layout::ChannelsLast,
        Layout::Transposed,
        Layout::Sliced,
        Layout::Expanded,
    ]);
    (operators(), layout, shape, any::<(u64, bool)>()).prop_flat_map(
        |(operator, layout, (n, c, h, w), (seed, has_offsets))| {
            let region = (boxes(&operator), 0..n as i32);
            proptest::collection::vec(region, 1..6).prop_map(move |regions| {
                let (boxes, batch_indices): (Vec<_>, Vec<_>) = regions.into_iter().unzip();
                let mut operator = operator.clone();
                let mut channels = c * operator.input_channels();
                match &mut operator {
                    PointOperator::RiRotated(config) => channels = c * config.orientations,
                    PointOperator::DeformPs(config) => {
                        config.output_channels = c;
                        // Channels that are not read.
                        channels += seed as usize % 3;
                    }
                    _ => {}
                }
                let offsets = offsets_shape(&operator, boxes.len())
                    .filter(|_| has_offsets)
                    .map(|shape| {
                        let numbers = random_numbers(seed.wrapping_add(5), shape.iter().product());
                        (
                            shape,
                            numbers.into_iter().map(|number| 2.0 * f64::from(number)).collect(),
                        )
                    });
                PointProblem {
                    operator,
                    layout,
                    shape: [n, channels, h, w],
                    boxes,
                    batch_indices,
                    offsets,
                    seed,
                }
            })
        },
    )
}

fn offsets_shape(operator: &PointOperator, count: usize) -> Option<[usize; 4]> {
    match operator {
        PointOperator::Deform(config) => Some([count, 2, config.output_size[0], config.output_size[1]]),
        PointOperator::DeformPs(config) => {
            let classes = if config.output_channels.is_multiple_of(2) { 2 } else { 1 };
            Some([count, 2 * classes, config.part_size[0], config.part_size[1]])
        }
        _ => None,
    }
}

/// Boxes around a map of 13 pixels at scales near 1, or around the unit square for crops.
fn boxes(operator: &PointOperator) -> BoxedStrategy<Vec<f64>> {
    let coordinate = prop_oneof![
        6 => -8.0f64..24.0,
        3 => (-8i32..24).prop_map(f64::from),
        1 => select(vec![-1e9, -3e38, 1e4, 1e9, 3e38]),
    ];
    let coordinate = coordinate.boxed();
    let four = [coordinate.clone(), coordinate.clone(), coordinate.clone(), coordinate];
    match operator {
        PointOperator::Rotated(config) => {
            let turn = match config.angle.unit {
                AngleUnit::Degrees => 360.0,
                AngleUnit::Radians => std::f64::consts::TAU,
            };
            (four, angles())
                .prop_map(move |(four, angle)| [four.as_slice(), &[angle * turn]].concat())
                .boxed()
        }
        PointOperator::RiRotated(_) => (four, angles())
            .prop_map(|(four, angle)| [four.as_slice(), &[angle * std::f64::consts::TAU]].concat())
            .boxed(),
        PointOperator::PsCrop(_) => four.prop_map(|four| four.map(|number| number / 16.0).to_vec()).boxed(),
        _ => four.prop_map(|four| four.to_vec()).boxed(),
    }
}

/// Angles in turns: of any size, quarters of a turn, and none.
fn angles() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => -1.5f64..1.5,
        1 => (-8i32..8).prop_map(|quarters| f64::from(quarters) / 4.0),
        1 => Just(0.0),
    ]
}

fn operators() -> impl Strategy<Value = PointOperator> {
    let directions = select(vec![
        AngleConvention::DEGREES_COUNTER_CLOCKWISE,
        AngleConvention::RADIANS_CLOCKWISE,
        AngleConvention::RADIANS_COUNTER_CLOCKWISE,
    ]);
    let orders = select(vec![Arithmetic::FromElements, Arithmetic::FromElementsBySteps]);
    let rotated = (sizes(), scales(), samplings(), any::<bool>(), directions, orders);
    let rotated = rotated.prop_map(|(size, scale, sampling, aligned, angle, arithmetic)| {
        PointOperator::Rotated(
            RoiAlignRotatedConfig::new(size)
                .with_spatial_scale(scale)
                .with_sampling(sampling)
                .with_aligned(aligned)
                .with_angle(angle)
                .with_arithmetic(arithmetic),
        )
    });
    let ri_rotated = (sizes(), scales(), samplings(), 1usize..6, any::<bool>());
    let ri_rotated = ri_rotated.prop_map(|(size, scale, sampling, orientations, clockwise)| {
        PointOperator::RiRotated(
            RiRoiAlignRotatedConfig::new(size)
                .with_spatial_scale(scale)
                .with_sampling(sampling)
                .with_orientations(orientations)
                .with_clockwise(clockwise),
        )
    });
    let deform = (sizes(), scales(), samplings(), select(vec![0.1, 1.0, -0.3]));
    let deform = deform.prop_map(|(size, scale, sampling, gamma)| {
        PointOperator::Deform(
            DeformRoiPoolConfig::new(size)
                .with_spatial_scale(scale)
                .with_sampling(sampling)
                .with_gamma(gamma),
        )
    });
    let deform_ps = (
        [1usize..4, 1usize..4],
        scales(),
        [1usize..4, 1usize..4],
        [1usize..5, 1usize..5],
    );
    let deform_ps = (deform_ps, select(vec![0.1, 1.0])).prop_map(|((size, scale, samples, parts), offset_scale)| {
        PointOperator::DeformPs(
            DeformPsRoiPoolConfig::new(size, 1)
                .with_spatial_scale(scale)
                .with_samples(samples)
                .with_part_size(parts)
                .with_offset_scale(offset_scale),
        )
    });
    let crops = (sizes(), [1usize..4, 1usize..4]);
    let crops = crops.prop_map(|(size, parts)| PointOperator::PsCrop(PsCropAndResizeConfig::new(size, parts)));
    prop_oneof![3 => rotated, 1 => ri_rotated, 2 => deform, 2 => deform_ps, 1 => crops]
}

fn sizes() -> impl Strategy<Value = [usize; 2]> {
    [1usize..6, 1usize..6]
}

fn scales() -> impl Strategy<Value = f64> {
    select(vec![1.0, 0.5, 0.25, 0.3, 0.0625, 2.0])
}

fn samplings() -> impl Strategy<Value = Sampling> {
    prop_oneof![Just(Sampling::Adaptive), (1usize..5).prop_map(Sampling::Fixed)]
}
