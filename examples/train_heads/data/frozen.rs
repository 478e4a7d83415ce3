//! The part of the model that is not trained: the body, the feature pyramid and the region proposal network.

use burn::tensor::{Device, Tensor};
use burn_roi_detection::models::{Detector, GeneralizedRcnn};
use detection_head::as_picture;
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
    pub fn new(detector: Detector) -> Result<Self, Error> {
        let device = detector.device().clone().inner();
        let (mut config, model) = detector.fork(&device).into_parts();
        config.region_proposals.post_nms_top_n = PROPOSALS;
        Ok(Self {
            detector: Detector::try_from_model(config, model, &device)?,
        })
    }

    pub fn device(&self) -> &Device {
        self.detector.device()
    }

    /// The same model on another device.
    pub fn on(&self, device: &Device) -> Self {
        Self {
            detector: self.detector.clone().fork(&device.clone().inner()),
        }
    }

    /// The features of a picture, which must have the size that the model takes: its boxes and masks are in the
    /// picture's own pixels.
    pub fn features(&self, picture: &RgbImage) -> Result<Features, Error> {
        let images = self.detector.try_prepare(&[as_picture(picture)?])?;
        if images.image_sizes != images.original_sizes {
            return Err(Error::Argument {
                argument: "the size of a picture",
                value: format!("{:?}", images.original_sizes[0]),
                expected: format!("that of the model's input, {:?}", images.image_sizes[0]),
            });
        }
        let GeneralizedRcnn { backbone, rpn, .. } = self.detector.model();
        let levels = backbone.levels(backbone.body.forward(images.tensors.clone()));
        let mut proposals = self.detector.try_proposals(rpn.head.forward(&levels), &images)?;
        let proposals = proposals.remove(0);
        Ok(Features { levels, proposals })
    }
}
