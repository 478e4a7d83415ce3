//! Runs a case of an operator whose samples are no grid of the map.

use burn::tensor::{Device, Tensor};
use burn_roi::*;

use super::{Attributes, Case, Inputs};

/// The output for a case, as [`super::call`].
pub fn call(
    case: &Case,
    operator: &str,
    inputs: &Inputs,
    attributes: &Attributes,
    device: &Device,
) -> Result<Result<Tensor<4>, RoiError>, String> {
    let features = inputs.features.clone();
    let rotated_index_first = || -> Result<RotatedRois, String> {
        RotatedRois::try_from_index_first(inputs.boxes.clone()).map_err(|error| error.to_string())
    };
    let index_first = || -> Result<Rois, String> {
        Rois::try_from_index_first(inputs.boxes.clone()).map_err(|error| error.to_string())
    };
    Ok(match operator {
        "openvino.ROIAlignRotated" => {
            let rois = RotatedRois::try_new(inputs.boxes.clone(), case.batch_indices(device)?);
            let config = openvino::RoiAlignRotated15::new(
                attributes.get("pooled_h")?,
                attributes.get("pooled_w")?,
                attributes.get("sampling_ratio")?,
                attributes.get("spatial_scale")?,
            )
            .with_clockwise_mode(attributes.or("clockwise_mode", false)?);
            try_roi_align_rotated(features, &rois.map_err(|error| error.to_string())?, config)
        }
        "mmcv.roi_align_rotated" => {
            let config = mmcv::RoiAlignRotated::new(attributes.get("output_size")?, attributes.get("spatial_scale")?)
                .with_sampling_ratio(attributes.or("sampling_ratio", 0)?)
                .with_aligned(attributes.or("aligned", true)?)
                .with_clockwise(attributes.or("clockwise", false)?);
            try_roi_align_rotated(features, &rotated_index_first()?, config)
        }
        "mmcv.riroi_align_rotated" => {
            let config = mmcv::RiRoiAlignRotated::new(attributes.get("out_size")?, attributes.get("spatial_scale")?)
                .with_num_samples(attributes.or("num_samples", 0)?)
                .with_num_orientations(attributes.or("num_orientations", 8)?)
                .with_clockwise(attributes.or("clockwise", false)?);
            try_riroi_align_rotated(features, &rotated_index_first()?, config)
        }
        "detectron2.ROIAlignRotated" => {
            let config = detectron2::RoiAlignRotated::new(
                attributes.get("output_size")?,
                attributes.get("spatial_scale")?,
                attributes.get("sampling_ratio")?,
            );
            try_roi_align_rotated(features, &rotated_index_first()?, config)
        }
        "mmcv.deform_roi_pool" => {
            let config = mmcv::DeformRoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
                .with_sampling_ratio(attributes.or("sampling_ratio", 0)?)
                .with_gamma(attributes.or("gamma", 0.1)?);
            try_deform_roi_pool(features, &index_first()?, inputs.offsets.clone(), config)
        }
        "openvino.DeformablePSROIPooling" => {
            let _mode: String = attributes.or("mode", String::new())?;
            let config =
                openvino::DeformablePsRoiPooling1::new(attributes.get("output_dim")?, attributes.get("spatial_scale")?)
                    .with_group_size(attributes.or("group_size", 1)?)
                    .with_spatial_bins_x(attributes.or("spatial_bins_x", 1)?)
                    .with_spatial_bins_y(attributes.or("spatial_bins_y", 1)?)
                    .with_trans_std(attributes.or("trans_std", 1.0)?)
                    .with_part_size(attributes.or("part_size", 1)?);
            try_deform_ps_roi_pool(features, &index_first()?, inputs.offsets.clone(), config)
        }
        operator => return Err(format!("unknown operator {operator:?}")),
    })
}
