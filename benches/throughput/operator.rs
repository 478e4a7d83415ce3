//! The operators, and their calls.

use burn::backend::Dispatch;
use burn::tensor::Tensor;
use burn_roi::primitive::{self, RegionTensors};
use burn_roi::{
    DeformRoiPoolConfig, MultiScaleRoiAlignConfig, PrRoiPoolConfig, PsRoiPoolConfig, RoiAlignConfig,
    RoiAlignRotatedConfig, RoiPoolConfig, Rois, RotatedRois, deform_roi_pool, multi_scale_roi_align, openvino,
    prroi_pool, ps_roi_pool, roi_align, roi_align_rotated, roi_pool,
};

/// An operator with its options.
#[derive(Debug, Clone)]
pub enum Operator {
    RoiAlign(RoiAlignConfig),
    RoiPool(RoiPoolConfig),
    PsRoiPool(PsRoiPoolConfig),
    PrRoiPool(PrRoiPoolConfig),
    RoiAlignRotated(RoiAlignRotatedConfig),
    DeformRoiPool(DeformRoiPoolConfig),
    FeatureExtractor(openvino::RoiFeatureExtractor6),
}

/// What the operators read. Each takes the features, and the regions of its kind.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// One map, or the levels of a pyramid.
    pub features: Vec<Tensor<4>>,
    pub rois: Rois,
    /// The same boxes, turned about their centres.
    pub rotated: RotatedRois,
    /// `[K, 2, P, Q]`.
    pub offsets: Tensor<4>,
}

impl Operator {
    pub fn output_size(&self) -> [usize; 2] {
        match self {
            Self::RoiAlign(config) => config.output_size,
            Self::RoiPool(config) => config.output_size,
            Self::PsRoiPool(config) => config.output_size,
            Self::PrRoiPool(config) => config.output_size,
            Self::RoiAlignRotated(config) => config.output_size,
            Self::DeformRoiPool(config) => config.output_size,
            Self::FeatureExtractor(config) => [config.output_size; 2],
        }
    }

    /// How many groups of channels there are; an output element reads one of them.
    pub fn channel_groups(&self) -> usize {
        match self {
            Self::PsRoiPool(config) => config.output_size.iter().product(),
            _ => 1,
        }
    }

    /// One call.
    pub fn call(&self, inputs: &Inputs) -> Tensor<4> {
        let features = inputs.features[0].clone();
        match self {
            Self::RoiAlign(config) => roi_align(features, &inputs.rois, config.clone()),
            Self::RoiPool(config) => roi_pool(features, &inputs.rois, config.clone()),
            Self::PsRoiPool(config) => ps_roi_pool(features, &inputs.rois, config.clone()),
            Self::PrRoiPool(config) => prroi_pool(features, &inputs.rois, config.clone()),
            Self::RoiAlignRotated(config) => roi_align_rotated(features, &inputs.rotated, config.clone()),
            Self::DeformRoiPool(config) => {
                deform_roi_pool(features, &inputs.rois, Some(inputs.offsets.clone()), config.clone())
            }
            Self::FeatureExtractor(config) => {
                multi_scale_roi_align(inputs.features.clone(), &inputs.rois, &config.scales(), config.clone())
            }
        }
    }

    /// The gradient of the features, or that `[K, 4 or 5, 1, 1]` of the boxes, from that of the output.
    pub fn gradient(&self, inputs: &Inputs, gradient: &Tensor<4>, of_boxes: bool) -> Vec<Tensor<4>> {
        let of = |boxes| {
            let boxes = Tensor::<2>::from_dispatch(boxes);
            let [regions, columns] = boxes.dims();
            vec![boxes.reshape([regions, columns, 1, 1])]
        };
        let gradient = gradient.clone().into_dispatch();
        let features = inputs.features[0].clone().into_dispatch();
        let rois = RegionTensors::from(&inputs.rois);
        let backward = match self.clone() {
            Self::RoiAlign(config) => primitive::backward::<Dispatch>(gradient, features, rois, config),
            Self::RoiPool(config) => primitive::backward::<Dispatch>(gradient, features, rois, config),
            Self::PsRoiPool(config) => primitive::backward::<Dispatch>(gradient, features, rois, config),
            Self::PrRoiPool(config) => primitive::backward::<Dispatch>(gradient, features, rois, config),
            Self::RoiAlignRotated(config) => {
                primitive::backward::<Dispatch>(gradient, features, (&inputs.rotated).into(), config)
            }
            Self::DeformRoiPool(config) => {
                let rois = rois.with_offsets(inputs.offsets.clone().into_dispatch());
                primitive::backward::<Dispatch>(gradient, features, rois, config)
            }
            Self::FeatureExtractor(extractor) => {
                let levels = inputs
                    .features
                    .iter()
                    .map(|level| level.clone().into_dispatch())
                    .collect();
                let scales = extractor.scales();
                let config = MultiScaleRoiAlignConfig::from(extractor);
                let pyramid = config.pyramid();
                let backward = primitive::multi_scale_backward::<Dispatch>(
                    gradient,
                    levels,
                    rois,
                    &scales,
                    config.roi_align,
                    pyramid,
                );
                if of_boxes {
                    return of(backward.boxes());
                }
                return backward.features().into_iter().map(Tensor::from_dispatch).collect();
            }
        };
        match of_boxes {
            true => of(backward.boxes()),
            false => vec![Tensor::from_dispatch(backward.features())],
        }
    }
}
