//! The configs of what reads the feature maps: the feature pyramid, the region proposal network and the heads.

use serde::{Deserialize, Serialize};

use crate::configs::configs;
use crate::{BaseAnchors, NormKind};

configs! {
/// A feature pyramid: a level for each map of the backbone, merged with the coarser maps. A further level of half the
/// coarsest level's size is read only by the region proposal network.
pub struct FeaturePyramidConfig {
    /// The number of channels of each level. At least 1.
    pub channels: usize,
    /// The norm after each convolution: batch normalization in torchvision's `_v2` models.
    pub norm: Option<NormKind> = None,
    /// Whether the levels come from the body's last map alone, which is resized to 4, 2, 1 and 1/2 times its size:
    /// detectron2's `SimpleFeaturePyramid`, for a vision transformer. There is also the further level. The map has at
    /// least 4 channels.
    pub simple: bool = false,
}

/// The region proposal network, its anchors, and the choice of proposals.
pub struct RegionProposalsConfig {
    /// The number of 3 x 3 convolutions of the head. At least 1.
    pub convolutions: usize,
    /// For each level the sizes of the anchors, in pixels of the resized picture. Each level has the same number of
    /// sizes.
    pub anchor_sizes: Vec<Vec<f64>>,
    /// The aspect ratios of the anchors of all levels: height divided by width.
    pub aspect_ratios: Vec<f64>,
    /// [`ProposalConfig::pre_nms_top_n`](crate::ProposalConfig::pre_nms_top_n).
    pub pre_nms_top_n: usize = 1000,
    /// [`ProposalConfig::post_nms_top_n`](crate::ProposalConfig::post_nms_top_n).
    pub post_nms_top_n: usize = 1000,
    /// [`ProposalConfig::nms_threshold`](crate::ProposalConfig::nms_threshold).
    pub nms_threshold: f64 = 0.7,
    /// [`ProposalConfig::score_threshold`](crate::ProposalConfig::score_threshold).
    pub score_threshold: f64 = 0.0,
    /// [`ProposalConfig::min_size`](crate::ProposalConfig::min_size).
    pub min_size: f64 = 1e-3,
    /// Whether anchors are rounded, and their order.
    pub base_anchors: BaseAnchors = BaseAnchors::Torchvision,
    /// [`AnchorGeneratorConfig::offset`](crate::AnchorGeneratorConfig::offset).
    pub anchor_offset: f64 = 0.0,
    /// [`AnchorGeneratorConfig::strides`](crate::AnchorGeneratorConfig::strides), one for each level.
    pub anchor_strides: Option<Vec<usize>> = None,
    /// The weights of the box deltas: x, y, width and height.
    pub weights: [f64; 4] = [1.0; 4],
}

/// The box head: pooled regions to classes and box deltas, and the choice of detections.
pub struct BoxHeadConfig {
    /// The number of output channels of each 3 x 3 convolution.
    pub convolutions: Vec<usize>,
    /// The number of output features of each linear layer. Empty only if the backbone's last layer runs on pooled
    /// regions, whose output is then averaged.
    pub fully_connected: Vec<usize>,
    /// The norm after each convolution.
    pub norm: Option<NormKind> = None,
    /// The height and width of a pooled region. At least 1.
    pub pooled_size: usize = 7,
    /// The number of samples along each axis of a bin; 0 for one sample per pixel of the bin.
    pub sampling_ratio: usize = 2,
    /// Whether RoiAlign moves regions by half a pixel: detectron2's `ROIAlignV2`.
    pub aligned: bool = false,
    /// Whether all classes of a region have the same box deltas.
    pub class_agnostic_regression: bool = false,
    /// The weights of the box deltas: x, y, width and height.
    pub weights: [f64; 4] = [10.0, 10.0, 5.0, 5.0],
    /// For Cascade R-CNN: box-delta weights of stages 2, 3, ...; empty for one stage. Each stage is a box head that
    /// refines the boxes of the stage before, and the scores of all stages are averaged. Needs
    /// `class_agnostic_regression`.
    pub later_stages: Vec<[f64; 4]> = Vec::new(),
    /// [`DetectionConfig::score_threshold`](crate::DetectionConfig::score_threshold).
    pub score_threshold: f64 = 0.05,
    /// [`DetectionConfig::nms_threshold`](crate::DetectionConfig::nms_threshold).
    pub nms_threshold: f64 = 0.5,
    /// [`DetectionConfig::detections_per_image`](crate::DetectionConfig::detections_per_image).
    pub detections_per_image: usize = 100,
    /// [`DetectionConfig::min_size`](crate::DetectionConfig::min_size).
    pub min_size: f64 = 0.01,
}

/// The mask head: pooled detections to a mask for each class.
pub struct MaskHeadConfig {
    /// The number of output channels of each 3 x 3 convolution.
    pub convolutions: Vec<usize>,
    /// The number of channels of the transposed convolution, which doubles the size. At least 1.
    pub predictor_channels: usize,
    /// The norm after each convolution.
    pub norm: Option<NormKind> = None,
    /// Whether all classes have the same mask: detectron2's `CLS_AGNOSTIC_MASK`.
    pub class_agnostic: bool = false,
    /// The height and width of a pooled region. At least 1.
    pub pooled_size: usize = 14,
    /// The number of samples along each axis of a bin; 0 for one sample per pixel of the bin.
    pub sampling_ratio: usize = 2,
    /// Whether RoiAlign moves regions by half a pixel: detectron2's `ROIAlignV2`.
    pub aligned: bool = false,
    /// The probability above which a pixel belongs to the object.
    pub mask_threshold: f64 = 0.5,
    /// How a mask is resized to its box.
    pub paste: MaskPaste = MaskPaste::Expanded,
    /// Whether a detection pastes its masks into the picture, which the host does. Otherwise
    /// [`Detector::paste_masks`](crate::models::Detector::paste_masks) pastes those that are asked for.
    pub pasted: bool = true,
}

/// The keypoint head: pooled detections to a heatmap for each keypoint.
pub struct KeypointHeadConfig {
    /// The names of the keypoints, at least one.
    pub keypoints: Vec<String>,
    /// The number of output channels of each 3 x 3 convolution.
    pub convolutions: Vec<usize>,
    /// The height and width of a pooled region. At least 1.
    pub pooled_size: usize = 14,
    /// The number of samples along each axis of a bin; 0 for one sample per pixel of the bin.
    pub sampling_ratio: usize = 2,
    /// Whether RoiAlign moves regions by half a pixel: detectron2's `ROIAlignV2`.
    pub aligned: bool = false,
    /// What the score of a keypoint is.
    pub scores: KeypointScores = KeypointScores::Logits,
}

/// How a picture becomes the model's input: it is resized and normalized, and the pictures of a batch are padded with
/// zeros on the right and at the bottom to a common size.
pub struct PreprocessingConfig {
    /// The length of the shorter side of a resized picture, unless the longer side would exceed `max_size`. At least 1.
    pub min_size: usize = 800,
    /// The length that the longer side does not exceed. At least 1.
    pub max_size: usize = 1333,
    /// The mean of each channel, in the order of `channel_order` and in units of `maximum`.
    pub mean: [f32; 3] = [0.485, 0.456, 0.406],
    /// The standard deviation of each channel. Above 0.
    pub std: [f32; 3] = [0.229, 0.224, 0.225],
    /// A batch's height and width are multiples of this. At least 1.
    pub size_divisible: usize = 32,
    /// The least height and width of a batch, from 1 to 32768: detectron2's `square_pad`, but larger pictures stay as
    /// large as they are. Only with [`anchor_strides`](RegionProposalsConfig::anchor_strides). `None`: the height and
    /// width of the largest picture.
    pub square_pad: Option<usize> = None,
    /// The value of a full channel before it is normalized: 1 in torchvision, 255 in detectron2. Finite, above 0.
    pub maximum: f32 = 1.0,
    /// The order of the model's input channels.
    pub channel_order: ChannelOrder = ChannelOrder::Rgb,
    /// How a picture is resized.
    pub resize: Resize = Resize::Torch,
}
}

/// How a mask is resized to its box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MaskPaste {
    /// The mask and its box are enlarged by a pixel of zeros, the box is rounded to whole pixels, and the mask is
    /// resized to it: torchvision's [`paste_masks_in_image`](crate::paste_masks_in_image()).
    Expanded,
    /// The mask is sampled at the centre of each pixel of the picture, and is 0 outside: `grid_sample` in detectron2
    /// and mmdetection. A pixel belongs to the object if it reaches `mask_threshold`.
    PixelCentres,
}

/// What the score of a keypoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeypointScores {
    /// The largest value of the resized heatmap: torchvision's `keypoints_scores`.
    Logits,
    /// The exponential of this value, divided by the sum of the exponentials of the heatmap before it was resized:
    /// detectron2.
    Probabilities,
}

/// Which of the classes is the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Background {
    /// Class 0, as in torchvision. Box deltas and masks have channels for it, which are not used.
    First,
    /// The last class, as in detectron2 and mmdetection. Box deltas and masks have no channels for it.
    Last,
}

impl Background {
    /// Converts the label of a detection to the label of its class in data sets and in training, which count from 1
    /// wherever the background is. See
    /// [`CocoDataset::category_of_label`](crate::data::coco::CocoDataset::category_of_label).
    pub fn training_label(self, detected: usize) -> usize {
        match self {
            Self::First => detected,
            Self::Last => detected + 1,
        }
    }
}

/// How a picture is resized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resize {
    /// Sides are rounded down, and pixels are interpolated as floats by torch's bilinear `interpolate`: torchvision.
    Torch,
    /// Sides are rounded to the nearest integer. Bytes are interpolated by Pillow's `BILINEAR`, which averages when it
    /// shrinks and returns bytes. Floats are interpolated as in torch. This is detectron2's way.
    Pillow,
}

/// The order of the channels of the model's input. Pictures are always red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChannelOrder {
    /// Red, green, blue: torchvision.
    Rgb,
    /// Blue, green, red: detectron2's default.
    Bgr,
}
