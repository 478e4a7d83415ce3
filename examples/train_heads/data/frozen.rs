//! The part of the model that is not trained: the body, the feature pyramid and the region proposal network.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use detection_head::Detector;
use detection_head::config::Config;
use detection_head::model::MaskRcnn;
use image::RgbImage;

use crate::error::Error;

/// The number of proposals of a picture that samples are drawn from. torchvision takes 2000, of larger pictures.
///
/// Of the 349 shapes in 100 pictures each overlaps one of them with an IoU of 0.5 or more, the 52 crosses included. So
/// the region proposal network needs no training.
const PROPOSALS: usize = 200;

/// Computes features and proposals on a device without autodiff, so nothing of it is kept for a backward pass.
pub struct Frozen {
    detector: Detector,
}

/// What the heads are trained on, for a picture.
#[derive(Clone)]
pub struct Features {
    /// `[1, channels, height, width]` for each level of the feature pyramid.
    pub levels: Vec<Tensor<4>>,
    /// `[K, 4]`, in pixels of the picture.
    pub proposals: Tensor<2>,
}

impl Frozen {
    pub fn new(mut config: Config, model: MaskRcnn, device: &Device) -> Self {
        config.region_proposals.post_nms_top_n = PROPOSALS;
        let device = device.clone().inner();
        let model = model.fork(&device);
        Self {
            detector: Detector::new(config, model, device),
        }
    }

    pub fn device(&self) -> &Device {
        self.detector.device()
    }

    /// The same model on another device.
    pub fn on(&self, device: &Device) -> Self {
        Self::new(self.detector.config.clone(), self.detector.model.clone(), device)
    }

    /// The features of a picture, which must have the size that the model takes: its boxes and masks are in the
    /// picture's own pixels.
    pub fn features(&self, picture: &RgbImage) -> Result<Features, Error> {
        let prepared = self.detector.prepare(picture);
        if prepared.size != prepared.original {
            return Err(Error::Argument {
                argument: "the size of a picture",
                value: format!("{:?}", prepared.original),
                expected: format!("that of the model's input, {:?}", prepared.size),
            });
        }
        let MaskRcnn { backbone, rpn, .. } = &self.detector.model;
        let levels = backbone.fpn.forward(backbone.body.forward(prepared.input.clone()));
        let proposals = self.detector.proposals(rpn.head.forward(&levels), &prepared)?;
        Ok(Features { levels, proposals })
    }
}
