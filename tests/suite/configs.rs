//! Every config read from JSON.

use burn_roi::*;

use crate::strict_config::check;

#[test]
fn every_config_reads_what_it_writes_and_nothing_else() {
    check(detectron2::RoiPooler::new([7, 7]), &["output_size"]);
    check(
        detectron2::RoiAlignRotated::new([7, 7], 0.25, 7),
        &["output_size", "spatial_scale", "sampling_ratio"],
    );
    check(
        directml::RoiAlignOperatorDesc::new(
            [7, 7],
            directml::ReduceFunction::Average,
            directml::InterpolationMode::Linear,
            0.25,
            0.25,
            0.25,
            2,
            2,
        ),
        &[
            "output_size",
            "reduction_function",
            "interpolation_mode",
            "spatial_scale_x",
            "spatial_scale_y",
            "out_of_bounds_input_value",
            "minimum_samples_per_output",
            "maximum_samples_per_output",
        ],
    );
    check(
        directml::RoiAlign1OperatorDesc::new(
            [7, 7],
            directml::ReduceFunction::Average,
            directml::InterpolationMode::Linear,
            0.25,
            0.25,
            0.25,
            0.25,
            0.25,
            2,
            2,
        ),
        &[
            "output_size",
            "reduction_function",
            "interpolation_mode",
            "spatial_scale_x",
            "spatial_scale_y",
            "input_pixel_offset",
            "output_pixel_offset",
            "out_of_bounds_input_value",
            "minimum_samples_per_output",
            "maximum_samples_per_output",
        ],
    );
    check(
        directml::RoiAlignGradOperatorDesc::new(
            [7, 7],
            directml::ReduceFunction::Average,
            directml::InterpolationMode::Linear,
            0.25,
            0.25,
            0.25,
            0.25,
            2,
            2,
        ),
        &[
            "input_gradient_size",
            "reduction_function",
            "interpolation_mode",
            "spatial_scale_x",
            "spatial_scale_y",
            "input_pixel_offset",
            "output_pixel_offset",
            "minimum_samples_per_output",
            "maximum_samples_per_output",
        ],
    );
    check(
        directml::RoiPoolingOperatorDesc::new(0.25, [7, 7]),
        &["spatial_scale", "pooled_size"],
    );
    check(
        mindspore::RoiAlign::new(7, 7, 0.25),
        &["pooled_height", "pooled_width", "spatial_scale"],
    );
    check(mmcv::RoiAlign::new([7, 7]), &["output_size"]);
    check(mmcv::MultiLevelRoiAlign::new(vec![4.0]), &["featmap_strides"]);
    check(mmcv::MultiLevelRotatedRoiAlign::new(vec![4.0]), &["featmap_strides"]);
    check(
        mmcv::RoiAlignRotated::new([7, 7], 0.25),
        &["output_size", "spatial_scale"],
    );
    check(
        mmcv::RiRoiAlignRotated::new([7, 7], 0.25),
        &["out_size", "spatial_scale"],
    );
    check(mmcv::DeformRoiPool::new([7, 7]), &["output_size"]);
    check(mmcv::RoiPool::new([7, 7]), &["output_size"]);
    check(mmcv::PrRoiPool::new([7, 7]), &["output_size"]);
    check(mxnet::RoiAlign::new([7, 7], 0.25), &["pooled_size", "spatial_scale"]);
    check(mxnet::PsRoiAlign::new([7, 7], 0.25), &["pooled_size", "spatial_scale"]);
    check(onnx::RoiAlign16::new(), &[]);
    check(onnx::RoiAlign10::new(), &[]);
    check(onnx::MaxRoiPool::new([7, 7]), &["pooled_shape"]);
    check(onnx::CropAndResize::new([7, 7]), &["crop_size"]);
    check(
        openvino::RoiAlign9::new(7, 7, 7, 0.25, openvino::Mode::Avg),
        &["pooled_h", "pooled_w", "sampling_ratio", "spatial_scale", "mode"],
    );
    check(
        openvino::RoiAlign3::new(7, 7, 7, 0.25, openvino::Mode::Avg),
        &["pooled_h", "pooled_w", "sampling_ratio", "spatial_scale", "mode"],
    );
    check(
        openvino::RoiFeatureExtractor6::new(7, 7, vec![4]),
        &["output_size", "sampling_ratio", "pyramid_scales"],
    );
    check(
        openvino::RoiPoolingMax::new(7, 7, 0.25),
        &["pooled_h", "pooled_w", "spatial_scale"],
    );
    check(openvino::RoiPoolingBilinear::new(7, 7), &["pooled_h", "pooled_w"]);
    check(
        openvino::PsRoiPoolingAverage::new(7, 0.25),
        &["group_size", "spatial_scale"],
    );
    check(
        openvino::RoiAlignRotated15::new(7, 7, 7, 0.25),
        &["pooled_h", "pooled_w", "sampling_ratio", "spatial_scale"],
    );
    check(
        openvino::DeformablePsRoiPooling1::new(7, 0.25),
        &["output_dim", "spatial_scale"],
    );
    check(
        openvino::PsRoiPoolingBilinear::new(7, 0.25, 7, 7),
        &["group_size", "spatial_scale", "spatial_bins_x", "spatial_bins_y"],
    );
    check(paddle::RoiAlign::new([7, 7]), &["output_size"]);
    check(paddle::RoiPool::new([7, 7]), &["output_size"]);
    check(paddle::PsRoiPool::new([7, 7]), &["output_size"]);
    check(tensorflow::CropAndResizeGradImage::new([7, 7]), &["crop_size"]);
    check(tensorflow::CropAndResizeGradBoxes::new([7, 7]), &["crop_size"]);
    check(torchvision::RoiAlign::new([7, 7]), &["output_size"]);
    check(torchvision::RoiPool::new([7, 7]), &["output_size"]);
    check(torchvision::PsRoiAlign::new([7, 7]), &["output_size"]);
    check(torchvision::PsRoiPool::new([7, 7]), &["output_size"]);
    check(torchvision::MultiScaleRoiAlign::new([7, 7]), &["output_size"]);
    check(CropAndResize3dConfig::new([7, 7, 7]), &["crop_size"]);
    check(CropAndResizeConfig::new([7, 7]), &["crop_size"]);
    check(
        DeformPsRoiPoolConfig::new([7, 7], 7),
        &["output_size", "output_channels"],
    );
    check(DeformRoiPoolConfig::new([7, 7]), &["output_size"]);
    check(
        MultiScaleRoiAlignConfig::new(RoiAlignConfig::new([7, 7])),
        &["roi_align"],
    );
    check(PrRoiPoolConfig::new([7, 7]), &["output_size"]);
    check(PsCropAndResizeConfig::new([7, 7], [7, 7]), &["output_size", "parts"]);
    check(PsRoiAlignConfig::new([7, 7]), &["output_size"]);
    check(PsRoiPoolConfig::new([7, 7]), &["output_size"]);
    check(PyramidConfig::new(), &[]);
    check(RiRoiAlignRotatedConfig::new([7, 7]), &["output_size"]);
    check(RoiAlign3dConfig::new([7, 7, 7]), &["output_size"]);
    check(RoiAlignConfig::new([7, 7]), &["output_size"]);
    check(RoiAlignRotatedConfig::new([7, 7]), &["output_size"]);
    check(RoiPool3dConfig::new([7, 7, 7]), &["output_size"]);
    check(RoiPoolConfig::new([7, 7]), &["output_size"]);
}

/// The list above is that of the public interface.
#[test]
fn no_config_is_left_out() {
    let listing = include_str!("../../public-api.txt");
    let configs = listing
        .lines()
        .filter(|line| line.starts_with("impl burn_core::config::Config for burn_roi::"));
    let checks = include_str!("configs.rs")
        .lines()
        .filter(|line| line.starts_with("    check("));
    assert_eq!(configs.count(), checks.count());
}

#[test]
fn a_roi_align_config_without_its_minimum_length_has_the_default() {
    let config: RoiAlignConfig = serde_json::from_str(r#"{"output_size": [7, 7]}"#).expect("all else has a default");
    assert_eq!(config, RoiAlignConfig::new([7, 7]));
    let config = serde_json::from_str::<RoiAlignConfig>(r#"{"output_size": [7, 7], "aligned": true}"#);
    assert!(config.is_err());
    let nested = r#"{"output_size": [7, 7], "sampling": {"Clamped": {"minimum": 1, "maximum": 2, "least": 1}}}"#;
    assert!(serde_json::from_str::<RoiAlignConfig>(nested).is_err());
}
