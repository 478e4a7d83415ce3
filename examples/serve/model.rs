//! What a worker runs: the detector, or in tests something that fails.

use burn_roi_detection::DetectionError;
use burn_roi_detection::models::{Detector, DetectorConfig, Instances, Picture, StageObserver};
use burn_roi_detection::weights;
use image::RgbImage;

use crate::arguments::Arguments;
use crate::error::Error;

/// A model that detects. It may panic.
pub trait Model {
    /// The config, for the names of classes and the size of the model's input.
    fn config(&self) -> &DetectorConfig;

    /// Detects in pictures of one input size.
    fn detect(
        &self,
        pictures: &[&RgbImage],
        observer: &mut dyn StageObserver,
    ) -> Result<Vec<Instances>, DetectionError>;
}

impl Model for Detector {
    fn config(&self) -> &DetectorConfig {
        self.config()
    }

    fn detect(
        &self,
        pictures: &[&RgbImage],
        observer: &mut dyn StageObserver,
    ) -> Result<Vec<Instances>, DetectionError> {
        let pictures = pictures.iter().map(|picture| Picture::try_from_image(picture));
        self.try_detect_observed(&pictures.collect::<Result<Vec<_>, _>>()?, observer)
    }
}

/// Makes a model, on the thread that runs it. It is called again after a panic of the model that it made.
pub type MakeModel = Box<dyn Fn() -> Result<Box<dyn Model>, String> + Send>;

/// The models of the command line, one a device.
pub fn load(arguments: &Arguments) -> Result<Vec<MakeModel>, Error> {
    let config = weights::read_config(&arguments.config)?;
    let devices = arguments.backend.devices(arguments.devices.into())?;
    let mut detector = Detector::try_new(config, &devices[0])?;
    weights::load(arguments.weights()?, &mut detector)?;
    let models = devices.iter().map(|device| {
        let detector = detector.clone().fork(device);
        // The clone shares the weights, which detection does not change. So nothing is read again after a panic.
        Box::new(move || Ok(Box::new(detector.clone()) as Box<dyn Model>)) as MakeModel
    });
    Ok(models.collect())
}
