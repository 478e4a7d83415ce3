//! [`CustomBody`]: a body of the caller's.

use std::fmt::Debug;

use burn::module::{Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor};
use burn::tensor::{DType, Device, Tensor};

use super::erased::{Erased, MapParameters, VisitParameters};
use crate::arguments::option;
use crate::error::DetectionError;
use crate::models::config::{BodyMap, CustomBodyConfig};

/// A network of your own that computes feature maps, such as a Swin Transformer or a ConvNeXt: detectron2's `Backbone`,
/// whose maps have names.
///
/// [`Detector::from_body`](crate::models::Detector::from_body) puts a feature pyramid, the region proposal network and
/// the heads on its maps. Such a detector detects, trains, is evaluated, and is saved and loaded as any other. Its
/// weights are called `backbone.body.` and the path of their fields. Parameters that are integers or booleans are in
/// the checkpoints of a training, but not in files of weights.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::conv::{Conv2d, Conv2dConfig};
/// use burn::tensor::activation::relu;
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::models::{
///     BodyConfig, BodyMap, CustomBody, CustomBodyConfig, Detector, DetectorConfig, FeaturePyramidConfig, Picture,
/// };
///
/// /// Two layers, with 1/4 and 1/8 of the picture's size.
/// #[derive(Module, Debug)]
/// struct TwoLayers {
///     first: Conv2d,
///     second: Conv2d,
/// }
///
/// impl CustomBody for TwoLayers {
///     fn maps(&self) -> Vec<BodyMap> {
///         vec![BodyMap::new("first".into(), 8), BodyMap::new("second".into(), 16)]
///     }
///
///     fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
///         let first = relu(self.first.forward(input));
///         let second = relu(self.second.forward(first.clone()));
///         vec![first, second]
///     }
///
///     fn with_frozen_stages(mut self, stages: usize) -> Self {
///         if stages > 0 {
///             self.first = self.first.freeze();
///         }
///         if stages > 1 {
///             self.second = self.second.freeze();
///         }
///         self
///     }
/// }
///
/// let device = Device::default();
/// let body = TwoLayers {
///     first: Conv2dConfig::new([3, 8], [4, 4]).with_stride([4, 4]).init(&device),
///     second: Conv2dConfig::new([8, 16], [2, 2]).with_stride([2, 2]).init(&device),
/// };
/// let mut config = DetectorConfig::named("fasterrcnn_resnet50_fpn").unwrap();
/// config.body = BodyConfig::Custom(CustomBodyConfig::new(body.maps()));
/// config.feature_pyramid = Some(FeaturePyramidConfig::new(8));
/// config.region_proposals.anchor_sizes = [32.0, 64.0, 128.0].map(|size| vec![size]).to_vec();
/// config.box_head.fully_connected = vec![16];
/// (config.preprocessing.min_size, config.preprocessing.max_size) = (32, 64);
/// let detector = Detector::from_body(config, body, &device);
/// let pixels = vec![128; 32 * 48 * 3];
/// assert_eq!(detector.detect(&[Picture::try_from_rgb([32, 48], &pixels).unwrap()]).len(), 1);
/// ```
pub trait CustomBody: Module + Sync + 'static {
    /// The maps that it computes, the finest first. A config may read fewer of them, in the same order.
    ///
    /// The stride of a map, which is the number of the picture's pixels for one of its own, is a power of two, unless
    /// the config has [`anchor_strides`](crate::models::RegionProposalsConfig::anchor_strides).
    fn maps(&self) -> Vec<BodyMap>;

    /// The feature maps of pictures.
    ///
    /// - `input`: `[N, 3, H, W]` in f32, normalized and padded: H and W are multiples of the config's
    ///   [`size_divisible`](crate::models::PreprocessingConfig::size_divisible).
    /// - Returns a map `[N, channels, height, width]` for each of [`maps`](Self::maps), in their order. A detector
    ///   panics if there are fewer or more, or if a map has another number of channels.
    fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>>;

    /// Freezes the first stages, as [`Module::freeze`] does, so that training does not change them. The body decides
    /// what its stages are.
    ///
    /// - `stages`: `TrainerConfig::frozen_stages`, which is 2 unless it is set. A number above that of
    ///   the body's stages freezes all of it.
    fn with_frozen_stages(self, stages: usize) -> Self;
}

/// A [`CustomBody`] of any type. Burn's `Module` has generic functions, so that there is no `dyn Module`.
trait ErasedBody: Debug + Send + Sync {
    fn boxed(&self) -> Box<dyn ErasedBody>;
    fn maps(&self) -> Vec<BodyMap>;
    fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>>;
    fn devices(&self) -> Devices;
    fn visit(&self, visitor: &mut dyn VisitParameters);
    fn changed(self: Box<Self>, change: Change<'_>) -> Box<dyn ErasedBody>;
}

/// A function of `Module` that returns a changed module, with its argument.
enum Change<'a> {
    Fork(&'a Device),
    ToDevice(&'a Device),
    Train,
    Valid,
    Materialize,
    Map(&'a mut dyn MapParameters),
    #[cfg(feature = "train")]
    Freeze(usize),
}

impl<B: CustomBody> ErasedBody for B {
    fn boxed(&self) -> Box<dyn ErasedBody> {
        Box::new(self.clone())
    }

    fn maps(&self) -> Vec<BodyMap> {
        self.maps()
    }

    fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        self.forward(input)
    }

    fn devices(&self) -> Devices {
        Module::devices(self)
    }

    fn visit(&self, visitor: &mut dyn VisitParameters) {
        Module::visit(self, &mut Erased(visitor));
    }

    fn changed(self: Box<Self>, change: Change<'_>) -> Box<dyn ErasedBody> {
        Box::new(match change {
            Change::Fork(device) => self.fork(device),
            Change::ToDevice(device) => self.to_device(device),
            Change::Train => self.train(),
            Change::Valid => self.valid(),
            Change::Materialize => self.materialize(),
            Change::Map(mapper) => self.map(&mut Erased(mapper)),
            #[cfg(feature = "train")]
            Change::Freeze(stages) => self.with_frozen_stages(stages),
        })
    }
}

impl Clone for Box<dyn ErasedBody> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// A [`CustomBody`] of any type, and the maps of it that are read.
#[derive(Debug, Clone)]
pub struct Custom {
    body: Box<dyn ErasedBody>,
    /// For each map that is read: its position among the body's.
    positions: Vec<usize>,
}

impl Custom {
    pub(super) fn try_new(
        body: impl CustomBody,
        config: &CustomBodyConfig,
        device: &Device,
    ) -> Result<Self, DetectionError> {
        let is_same = |other: &Device| other == device && other.is_autodiff() == device.is_autodiff();
        if let Some(other) = body.devices().into_iter().find(|other| !is_same(other)) {
            let expected = "on the detector's device, with autodiff if that has it";
            return Err(option("body", format!("on {other:?}"), expected));
        }
        let maps = body.maps();
        let position = |wanted: &BodyMap| {
            let found = maps.iter().position(|map| map == wanted);
            let value = || format!("{wanted:?} of a body with {maps:?}");
            let expected = "a map of the body, with its number of channels";
            found.ok_or_else(|| option("config.body.maps", value(), expected))
        };
        let positions = config.maps.iter().map(position).collect::<Result<_, _>>()?;
        Ok(Self {
            body: Box::new(body),
            positions,
        })
    }

    /// The maps that are read.
    pub fn forward(&self, input: Tensor<4>) -> Vec<Tensor<4>> {
        let dtype = input.dtype();
        let (expected, maps) = (self.body.maps(), self.body.forward(input.cast(DType::F32)));
        let channels: Vec<usize> = maps.iter().map(|map| map.dims()[1]).collect();
        assert!(
            channels.iter().eq(expected.iter().map(|map| &map.channels)),
            "the body's `forward` returned maps of {channels:?} channels, but must return its `maps`: {expected:?}",
        );
        self.positions
            .iter()
            .map(|&position| maps[position].clone().cast(dtype))
            .collect()
    }

    #[cfg(feature = "train")]
    pub(super) fn with_frozen_stages(self, stages: usize) -> Self {
        self.changed(Change::Freeze(stages))
    }

    fn changed(self, change: Change<'_>) -> Self {
        Self {
            body: self.body.changed(change),
            ..self
        }
    }
}

impl Module for Custom {
    fn collect_devices(&self, mut devices: Devices) -> Devices {
        for device in self.body.devices() {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        devices
    }

    fn fork(self, device: &Device) -> Self {
        self.changed(Change::Fork(device))
    }

    fn to_device(self, device: &Device) -> Self {
        self.changed(Change::ToDevice(device))
    }

    fn train(self) -> Self {
        self.changed(Change::Train)
    }

    fn valid(&self) -> Self {
        self.clone().changed(Change::Valid)
    }

    fn materialize(self) -> Self {
        self.changed(Change::Materialize)
    }

    fn visit<Visitor: ModuleVisitor>(&self, visitor: &mut Visitor) {
        self.body.visit(&mut Erased(visitor));
    }

    fn map<Mapper: ModuleMapper>(self, mapper: &mut Mapper) -> Self {
        self.changed(Change::Map(&mut Erased(mapper)))
    }
}

impl ModuleDisplayDefault for Custom {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_single(&format!("{:?}", self.body)).optional()
    }
}

impl ModuleDisplay for Custom {}
