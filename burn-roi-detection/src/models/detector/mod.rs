//! [`Detector`]: from pictures to instances, by the model's layers and the steps between them.

mod cascade;
mod detect;
mod heads;
mod steps;

#[cfg(feature = "train")]
pub(crate) use cascade::refined_boxes;

use burn::module::Module;
use burn::tensor::{DType, Device, FloatDType};

use super::body::{Body, CustomBody};
use super::config::DetectorConfig;
use super::layers_dtype::{check_dtype, with_layers_dtype};
use super::rcnn::GeneralizedRcnn;
use super::roi_heads::RoiHeads;
use super::snapshot::shapes;
use crate::AnchorGenerator;
use crate::arguments;
use crate::error::DetectionError;
use burn_roi::internal::{check_memory, is_host, or_panic};

/// A two-stage detector on a device: Faster R-CNN, with a mask head Mask R-CNN, with a keypoint head Keypoint R-CNN.
///
/// One detector may be shared between threads: it is `Send` and `Sync`, and detection changes nothing in it. Each call
/// detects alone, and calls on one device share its processors, so several threads are not faster than one batch.
///
/// The example detects with random weights; [`weights`](crate::weights) loads trained ones.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::models::{BodyConfig, Detector, DetectorConfig, Picture};
///
/// let mut config = DetectorConfig::named("maskrcnn_resnet50_fpn").unwrap();
/// (config.preprocessing.min_size, config.preprocessing.max_size) = (32, 64);
/// # if let BodyConfig::ResNet(body) = &mut config.body {
/// #     body.bottleneck_channels = [4; 4];
/// #     body.blocks = [1; 4];
/// # }
/// # config.feature_pyramid.as_mut().unwrap().channels = 4;
/// # config.box_head.fully_connected = vec![4];
/// # config.mask_head.as_mut().unwrap().convolutions = vec![4];
/// let detector = Detector::new(config, &Device::default());
///
/// let (small, wide) = ([90; 3 * 20 * 30], [7; 3 * 16 * 40]);
/// let pictures = [Picture::from_rgb([20, 30], &small), Picture::from_rgb([16, 40], &wide)];
/// for instances in detector.detect(&pictures) {
///     for (label, score) in instances.labels.iter().zip(&instances.scores) {
///         println!("{} {score:.2}", detector.config().label(*label));
///     }
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Detector {
    config: DetectorConfig,
    model: GeneralizedRcnn,
    device: Device,
    /// Where the heads run, on regions that are pooled there.
    heads_device: Device,
    anchors: AnchorGenerator,
}

/// A [`Detector`] whose config has neither a mask head nor a keypoint head.
pub type FasterRcnn = Detector;
/// A [`Detector`] whose config has a mask head.
pub type MaskRcnn = Detector;
/// A [`Detector`] whose config has a keypoint head.
pub type KeypointRcnn = Detector;

impl Detector {
    /// A detector with Burn's initial weights.
    ///
    /// # Panics
    ///
    /// If [`try_new`](Self::try_new) returns an error, with its text.
    pub fn new(config: DetectorConfig, device: &Device) -> Self {
        or_panic(Self::try_new(config, device))
    }

    /// Fallible form of [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// All errors of [`DetectorConfig::check`] and of
    /// [`AnchorGeneratorConfig::try_init`](crate::AnchorGeneratorConfig::try_init). `RoiError::Memory`: on a CPU, the
    /// weights do not fit into memory.
    pub fn try_new(config: DetectorConfig, device: &Device) -> Result<Self, DetectionError> {
        config.check()?;
        let body = Body::try_new(&config.body, device)?;
        Self::of_body(config, body, device)
    }

    /// A detector on a body of your own, with Burn's initial weights in all other layers.
    ///
    /// - `config`: its `body` is a [`BodyConfig::Custom`](super::BodyConfig::Custom), which names the maps to read.
    /// - `body`: on `device`.
    ///
    /// # Panics
    ///
    /// If [`try_from_body`](Self::try_from_body) returns an error, with its text.
    pub fn from_body(config: DetectorConfig, body: impl CustomBody, device: &Device) -> Self {
        or_panic(Self::try_from_body(config, body, device))
    }

    /// Fallible form of [`from_body`](Self::from_body).
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: `config.body` is not a [`BodyConfig::Custom`](super::BodyConfig::Custom), or has a map
    ///   that [`CustomBody::maps`] does not have; or a weight of `body` is on another device.
    /// - All errors of [`try_new`](Self::try_new).
    pub fn try_from_body(
        config: DetectorConfig,
        body: impl CustomBody,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        config.check()?;
        let body = Body::try_custom(body, &config.body, device)?;
        Self::of_body(config, body, device)
    }

    /// A detector of a config that was checked.
    fn of_body(config: DetectorConfig, body: Body, device: &Device) -> Result<Self, DetectionError> {
        // Burn makes the weights when they are first used.
        let model = GeneralizedRcnn::new(&config, body, device);
        check_weights(&model, device)?;
        Self::try_from_model(config, model, device)
    }

    /// A detector of a config and a model that was made for it. The errors are those of [`try_new`](Self::try_new).
    pub(crate) fn try_from_model(
        config: DetectorConfig,
        model: GeneralizedRcnn,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        config.check()?;
        let mut detector = Self {
            anchors: config.region_proposals.try_anchors()?,
            config,
            model,
            device: device.clone(),
            heads_device: device.clone(),
        };
        detector.keep_layers_dtype(detector.layers_dtype());
        Ok(detector)
    }

    /// Casts layers that were replaced by those of f32.
    pub(crate) fn keep_layers_dtype(&mut self, dtype: DType) {
        if dtype != DType::F32 {
            self.model = with_layers_dtype(self.model.clone(), dtype);
        }
    }

    /// Moves the heads to another device, such as a server's. The levels of the feature pyramid follow them for each
    /// call, and their answers come back.
    pub fn with_heads_on(mut self, device: &Device) -> Self {
        self.model.roi_heads = self.model.roi_heads.to_device(device);
        self.heads_device = device.clone();
        self
    }

    /// The same detector with other heads, such as trained ones.
    ///
    /// - `heads`: on the device of the detector's heads.
    /// - `classes`: the names of the classes that they know, with the background.
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: a weight of `heads` has another shape than in a detector with this config and these
    ///   classes, or is missing.
    /// - All errors of [`DetectorConfig::check`].
    pub fn try_with_heads(mut self, heads: RoiHeads, classes: Vec<String>) -> Result<Self, DetectionError> {
        self.config.classes = classes;
        self.config.check()?;
        let expected = shapes(&RoiHeads::new(&self.config, &self.heads_device));
        let found = shapes(&heads);
        let names = expected.keys().chain(found.keys());
        if let Some(name) = names.into_iter().find(|&name| found.get(name) != expected.get(name)) {
            let shape = found
                .get(name)
                .map_or("missing".to_string(), |shape| format!("{shape:?}"));
            let value = format!("modules whose {name} is {shape}");
            let expected = "modules for this config and these classes";
            return Err(arguments::option("heads", value, expected));
        }
        self.model.roi_heads = heads;
        self.keep_layers_dtype(self.layers_dtype());
        Ok(self)
    }

    /// The same detector on another device, with its heads. This function has no errors of its own.
    pub fn fork(self, device: &Device) -> Self {
        Self {
            model: self.model.fork(device),
            device: device.clone(),
            heads_device: device.clone(),
            ..self
        }
    }

    /// The anchors.
    #[cfg(feature = "train")]
    pub(crate) fn anchors(&self) -> &AnchorGenerator {
        &self.anchors
    }

    /// The config.
    pub fn config(&self) -> &DetectorConfig {
        &self.config
    }

    /// The heads.
    pub fn heads(&self) -> &RoiHeads {
        &self.model.roi_heads
    }

    /// The layers.
    pub(crate) fn model(&self) -> &GeneralizedRcnn {
        &self.model
    }

    /// The same detector for detection with convolutions and linear layers of another dtype, such as f16 or bf16 on a
    /// GPU. Regions are pooled in this dtype, and sums and activations between layers have it. Norms, anchors, boxes,
    /// scores and masks stay f32, and so does a [`CustomBody`]. Weights and heads that are loaded later are cast too. A
    /// `Trainer` refuses such a detector, since it has an option `half_precision` of its own.
    ///
    /// # Panics
    ///
    /// If [`try_with_layers_dtype`](Self::try_with_layers_dtype) returns an error, with its text.
    pub fn with_layers_dtype(self, dtype: FloatDType) -> Self {
        or_panic(self.try_with_layers_dtype(dtype))
    }

    /// Fallible form of [`with_layers_dtype`](Self::with_layers_dtype).
    ///
    /// # Errors
    ///
    /// `RoiError::DType`: a device of the detector does not support the dtype.
    pub fn try_with_layers_dtype(mut self, dtype: FloatDType) -> Result<Self, DetectionError> {
        let dtype = DType::from(dtype);
        for device in [&self.device, &self.heads_device] {
            check_dtype("dtype", dtype, device)?;
        }
        self.model = with_layers_dtype(self.model, dtype);
        Ok(self)
    }

    /// The dtype of the convolutions and linear layers.
    pub(crate) fn layers_dtype(&self) -> DType {
        self.model.rpn.head.cls_logits.weight.dtype()
    }

    /// The layers, to change their weights.
    pub(crate) fn model_mut(&mut self) -> &mut GeneralizedRcnn {
        &mut self.model
    }

    /// The device of all layers but the heads.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The config and the layers.
    #[cfg(feature = "train")]
    pub(crate) fn into_parts(self) -> (DetectorConfig, GeneralizedRcnn) {
        (self.config, self.model)
    }
}

/// Checks that the weights of new layers fit into a CPU's memory.
pub(crate) fn check_weights(layers: &impl Module, device: &Device) -> Result<(), DetectionError> {
    match is_host(device) {
        true => Ok(check_memory("weights", &[layers.num_params()], DType::F32, device)?),
        false => Ok(()),
    }
}
