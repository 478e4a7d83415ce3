//! The configurations of torchvision's models that have published checkpoints.

use crate::config::{Body, BoxHead, Config, FeaturePyramid, MaskHead, Preprocessing, RegionProposals};

pub const NAMES: [&str; 2] = ["maskrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn_v2"];

/// The configuration of that name.
pub fn named(name: &str) -> Option<Config> {
    match name {
        "maskrcnn_resnet50_fpn" => Some(first()),
        "maskrcnn_resnet50_fpn_v2" => Some(second()),
        _ => None,
    }
}

fn first() -> Config {
    Config {
        name: NAMES[0].to_string(),
        classes: COCO.map(str::to_string).to_vec(),
        body: Body {
            stem_channels: 64,
            bottleneck_channels: [64, 128, 256, 512],
            blocks: [3, 4, 6, 3],
            // torchvision sets this to 0 when it loads this checkpoint, which was trained with 0.
            batch_norm_epsilon: 0.0,
        },
        feature_pyramid: FeaturePyramid {
            channels: 256,
            normalized: false,
        },
        region_proposals: RegionProposals {
            convolutions: 1,
            anchor_sizes: [32.0, 64.0, 128.0, 256.0, 512.0].map(|size| vec![size]).to_vec(),
            aspect_ratios: vec![0.5, 1.0, 2.0],
            pre_nms_top_n: 1000,
            post_nms_top_n: 1000,
            nms_threshold: 0.7,
            score_threshold: 0.0,
            min_size: 1e-3,
        },
        box_head: BoxHead {
            convolutions: vec![],
            fully_connected: vec![1024, 1024],
            normalized: false,
            pooled_size: 7,
            sampling_ratio: 2,
            weights: [10.0, 10.0, 5.0, 5.0],
            score_threshold: 0.05,
            nms_threshold: 0.5,
            detections_per_image: 100,
        },
        mask_head: MaskHead {
            convolutions: vec![256; 4],
            normalized: false,
            predictor_channels: 256,
            pooled_size: 14,
            sampling_ratio: 2,
            mask_threshold: 0.5,
        },
        preprocessing: Preprocessing {
            min_size: 800,
            max_size: 1333,
            mean: [0.485, 0.456, 0.406],
            std: [0.229, 0.224, 0.225],
            size_divisible: 32,
        },
    }
}

fn second() -> Config {
    let mut config = first();
    config.name = NAMES[1].to_string();
    config.body.batch_norm_epsilon = 1e-5;
    config.feature_pyramid.normalized = true;
    config.region_proposals.convolutions = 2;
    config.box_head.convolutions = vec![256; 4];
    config.box_head.fully_connected = vec![1024];
    config.box_head.normalized = true;
    config.mask_head.normalized = true;
    config
}

/// COCO's classes by number; the numbers of `N/A` are unused.
const COCO: [&str; 91] = [
    "__background__",
    "person",
    "bicycle",
    "car",
    "motorcycle",
    "airplane",
    "bus",
    "train",
    "truck",
    "boat",
    "traffic light",
    "fire hydrant",
    "N/A",
    "stop sign",
    "parking meter",
    "bench",
    "bird",
    "cat",
    "dog",
    "horse",
    "sheep",
    "cow",
    "elephant",
    "bear",
    "zebra",
    "giraffe",
    "N/A",
    "backpack",
    "umbrella",
    "N/A",
    "N/A",
    "handbag",
    "tie",
    "suitcase",
    "frisbee",
    "skis",
    "snowboard",
    "sports ball",
    "kite",
    "baseball bat",
    "baseball glove",
    "skateboard",
    "surfboard",
    "tennis racket",
    "bottle",
    "N/A",
    "wine glass",
    "cup",
    "fork",
    "knife",
    "spoon",
    "bowl",
    "banana",
    "apple",
    "sandwich",
    "orange",
    "broccoli",
    "carrot",
    "hot dog",
    "pizza",
    "donut",
    "cake",
    "chair",
    "couch",
    "potted plant",
    "bed",
    "N/A",
    "dining table",
    "N/A",
    "N/A",
    "toilet",
    "N/A",
    "tv",
    "laptop",
    "mouse",
    "remote",
    "keyboard",
    "cell phone",
    "microwave",
    "oven",
    "toaster",
    "sink",
    "refrigerator",
    "N/A",
    "book",
    "clock",
    "vase",
    "scissors",
    "teddy bear",
    "hair drier",
    "toothbrush",
];
