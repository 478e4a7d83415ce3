//! Options: JSON there and back, and frameworks' attributes as values.

use burn::config::Config;
use burn_roi::directml::{InterpolationMode, ReduceFunction};
use burn_roi::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn round_trips<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    let text = serde_json::to_string(&value).expect("options should become JSON");
    let back: T = serde_json::from_str(&text).expect("JSON should become options");
    assert_eq!(back, value, "{text}");
}

#[test]
fn options_round_trip_through_json() {
    round_trips(
        RoiAlignConfig::new([7, 7])
            .with_spatial_scale(0.25)
            .with_sampling_ratio(2),
    );
    let samplings = [
        Sampling::Adaptive,
        Sampling::AdaptiveFloor,
        Sampling::Fixed(3),
        Sampling::Clamped {
            minimum: 1,
            maximum: u32::MAX as usize,
        },
    ];
    let reductions = [
        Reduction::Average,
        Reduction::Max,
        Reduction::MaxFromZero,
        Reduction::MaxOfWeightedCorners,
    ];
    let arithmetics = [
        Arithmetic::FromElements,
        Arithmetic::FromElementsBySteps,
        Arithmetic::FromRegionInElements,
        Arithmetic::FromRegion,
        Arithmetic::FromRegionUnscaled,
    ];
    for sampling in samplings {
        for reduction in reductions {
            for arithmetic in arithmetics {
                round_trips(
                    RoiAlignConfig::new([3, 5])
                        .with_sampling(sampling)
                        .with_reduction(reduction)
                        .with_arithmetic(arithmetic)
                        .with_interpolation(Interpolation::Nearest)
                        .with_out_of_bounds_value(-7.5)
                        .with_aligned(true)
                        .with_align_corners(true),
                );
            }
        }
    }
    round_trips(
        RoiPoolConfig::new([7, 7])
            .with_division(BinDivision::Whole)
            .with_spatial_scale(0.1),
    );
    round_trips(CropAndResizeConfig::new([7, 7]).with_extrapolation_value(0.1));
    round_trips(CropAndResizeConfig::from(openvino::RoiPoolingBilinear::new(6, 7)));
    round_trips(RoiPoolConfig::from(openvino::RoiPoolingMax::new(6, 7, 0.3)));
    round_trips(PsRoiPoolConfig::from(openvino::PsRoiPoolingAverage::new(7, 0.3)));
    round_trips(PsRoiPoolConfig::from(paddle::PsRoiPool::new([6, 7])));
    round_trips(openvino::RoiFeatureExtractor6::new(7, 2, vec![4, 8]).with_aligned(true));
    round_trips(
        torchvision::RoiAlign::new([7, 7])
            .with_aligned(true)
            .with_spatial_scale(0.3),
    );
    round_trips(torchvision::RoiPool::new([7, 7]).with_spatial_scale(0.3));
    round_trips(torchvision::PsRoiAlign::new([7, 7]).with_sampling_ratio(2));
    round_trips(torchvision::PsRoiPool::new([7, 7]).with_spatial_scale(0.3));
    round_trips(PsRoiAlignConfig::new([7, 7]).with_sampling(Sampling::Fixed(3)));
    round_trips(PsRoiPoolConfig::new([7, 7]).with_spatial_scale(0.1));
    round_trips(onnx::RoiAlign10::new().with_mode(onnx::Mode::Max));
    round_trips(onnx::RoiAlign16::new().with_spatial_scale(0.3));
    round_trips(onnx::MaxRoiPool::new([7, 7]));
    round_trips(openvino::RoiAlign3::new(6, 6, 2, 16.0, openvino::Mode::Max));
    round_trips(
        openvino::RoiAlign9::new(6, 6, 2, 16.0, openvino::Mode::Avg)
            .with_aligned_mode(openvino::AlignedMode::HalfPixelForNn),
    );
    round_trips(align1());
    round_trips(directml::RoiPoolingOperatorDesc::new(0.0625, [7, 7]));
}

fn align1() -> directml::RoiAlign1OperatorDesc {
    directml::RoiAlign1OperatorDesc {
        output_size: [7, 7],
        reduction_function: ReduceFunction::Max,
        interpolation_mode: InterpolationMode::NearestNeighbor,
        spatial_scale_x: 0.3,
        spatial_scale_y: 0.2,
        input_pixel_offset: 0.5,
        output_pixel_offset: -0.5,
        out_of_bounds_input_value: 3.25,
        minimum_samples_per_output: 1,
        maximum_samples_per_output: u32::MAX,
        align_regions_to_corners: true,
    }
}

#[test]
fn options_are_saved_and_loaded_as_burns_are() {
    let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25);
    let file = std::env::temp_dir().join(format!("burn-roi-{}.json", std::process::id()));
    config.save(&file).expect("options should be saved");
    let loaded = RoiAlignConfig::load(&file);
    std::fs::remove_file(&file).expect("the file should be there");
    assert_eq!(loaded.expect("options should be loaded"), config);
}

/// Enumerations are written as their owners write them.
#[test]
fn attributes_have_their_owners_names() {
    let json = serde_json::to_value(onnx::RoiAlign16::new()).expect("attributes should become JSON");
    let expected = serde_json::json!({
        "coordinate_transformation_mode": "half_pixel",
        "mode": "avg",
        "output_height": 1,
        "output_width": 1,
        "sampling_ratio": 0,
        "spatial_scale": 1.0,
    });
    assert_eq!(json, expected);
    let openvino = openvino::RoiAlign9::new(6, 6, 2, 16.0, openvino::Mode::Avg)
        .with_aligned_mode(openvino::AlignedMode::HalfPixelForNn);
    let json = serde_json::to_value(openvino).expect("attributes should become JSON");
    assert_eq!(json["aligned_mode"], "half_pixel_for_nn");
    assert_eq!(json["mode"], "avg");
}

/// MXNet's `ROIAlign` and Paddle's `roi_pool` are torchvision's operators under other names.
#[test]
fn frameworks_that_compute_the_same_have_the_same_options() {
    let align = |aligned| {
        torchvision::RoiAlign::new([6, 7])
            .with_spatial_scale(0.25)
            .with_aligned(aligned)
    };
    for aligned in [false, true] {
        let mxnet = mxnet::RoiAlign::new([6, 7], 0.25).with_aligned(aligned);
        assert_eq!(RoiAlignConfig::from(mxnet), align(aligned).into());
    }
    let mxnet = mxnet::PsRoiAlign::new([6, 7], 0.25)
        .with_aligned(true)
        .with_sample_ratio(2);
    let expected = torchvision::PsRoiAlign::new([6, 7])
        .with_spatial_scale(0.25)
        .with_sampling_ratio(2);
    assert_eq!(PsRoiAlignConfig::from(mxnet), expected.into());
    assert!(!PsRoiAlignConfig::from(mxnet::PsRoiAlign::new([6, 7], 0.25)).aligned);
    let paddle = paddle::RoiPool::new([6, 7]).with_spatial_scale(0.25);
    let expected = RoiPoolConfig::from(torchvision::RoiPool::new([6, 7]).with_spatial_scale(0.25));
    // They differ in what a maximum starts from.
    assert_eq!(
        RoiPoolConfig::from(paddle),
        expected.with_maximum_from(MaximumFrom::Least)
    );
}

/// `ROI_ALIGN` is `ROI_ALIGN1` with pixels at their centres.
#[test]
fn the_first_roi_align_of_directml_is_the_second_with_its_defaults() {
    let second = directml::RoiAlign1OperatorDesc {
        align_regions_to_corners: false,
        ..align1()
    };
    let first = directml::RoiAlignOperatorDesc {
        output_size: second.output_size,
        reduction_function: second.reduction_function,
        interpolation_mode: second.interpolation_mode,
        spatial_scale_x: second.spatial_scale_x,
        spatial_scale_y: second.spatial_scale_y,
        out_of_bounds_input_value: second.out_of_bounds_input_value,
        minimum_samples_per_output: second.minimum_samples_per_output,
        maximum_samples_per_output: second.maximum_samples_per_output,
    };
    assert_eq!(RoiAlignConfig::from(first), RoiAlignConfig::from(second));
}
