//! Every config read from JSON: a missing field has its default or is an error, and an unknown one is an error.

use burn::config::Config;
use burn_roi::*;
use serde_json::{Value, json};

/// Checks a config that `new` made of these required fields.
fn check<C: Config>(config: C, required: &[&str]) {
    let name = std::any::type_name::<C>();
    let read = |value: &Value| serde_json::from_value::<C>(value.clone());
    let whole = serde_json::to_value(&config).expect("a config is JSON");
    let same = |found: C| assert_eq!(serde_json::to_value(found).expect("a config is JSON"), whole, "{name}");
    same(read(&whole).expect("what was written should be read"));
    for field in whole.as_object().expect("a config is an object").keys() {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").remove(field);
        match read(&without) {
            Ok(found) if !required.contains(&field.as_str()) => same(found),
            Err(error) if required.contains(&field.as_str()) => {
                assert_eq!(error.to_string(), format!("missing field `{field}`"), "{name}");
            }
            Ok(_) => panic!("{name} without `{field}` should have been refused"),
            Err(error) => panic!("{name} without `{field}`: {error}"),
        }
    }
    let mut more = whole.clone();
    more["not_a_field"] = json!(true);
    let Err(error) = read(&more) else {
        panic!("{name}: an unknown field should be refused");
    };
    let error = error.to_string();
    assert!(error.starts_with("unknown field `not_a_field`"), "{name}: {error}");
}

#[test]
fn every_config_reads_what_it_writes_and_nothing_else() {
    check(
        detection::AnchorGeneratorConfig::new(vec![vec![32.0]], vec![vec![32.0]]),
        &["sizes", "aspect_ratios"],
    );
    check(
        detection::TwoMlpHeadConfig::new(7, 7),
        &["in_channels", "representation_size"],
    );
    check(
        detection::FastRcnnConvFcHeadConfig::new(7, [7, 7], vec![8], vec![8]),
        &["in_channels", "pooled_size", "conv_layers", "fc_layers"],
    );
    check(
        detection::FastRcnnPredictorConfig::new(7, 7),
        &["in_channels", "num_classes"],
    );
    check(
        detection::ConvBlockConfig::new(7, 7, 7),
        &["in_channels", "out_channels", "kernel_size"],
    );
    check(
        detection::MaskRcnnHeadsConfig::new(7, vec![8]),
        &["in_channels", "layers"],
    );
    check(
        detection::MaskRcnnPredictorConfig::new(7, 7, 7),
        &["in_channels", "dim_reduced", "num_classes"],
    );
    check(detection::DetectionConfig::new(), &[]);
    check(detection::ProposalConfig::new(), &[]);
    check(detection::MaskTargets::new(), &[]);
    check(detection::TrainingSamplesConfig::new(), &[]);
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
    check(onnx::NonMaxSuppression::new(), &[]);
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
    check(tensorrt::CropAndResize::new(7, 7), &["crop_height", "crop_width"]);
    check(tensorrt::PyramidRoiAlign::new(), &[]);
    check(torchvision::RoiAlign::new([7, 7]), &["output_size"]);
    check(torchvision::RoiPool::new([7, 7]), &["output_size"]);
    check(torchvision::PsRoiAlign::new([7, 7]), &["output_size"]);
    check(torchvision::PsRoiPool::new([7, 7]), &["output_size"]);
    check(torchvision::MultiScaleRoiAlign::new([7, 7]), &["output_size"]);
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
    check(RoiAlignConfig::new([7, 7]), &["output_size"]);
    check(RoiAlignRotatedConfig::new([7, 7]), &["output_size"]);
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
