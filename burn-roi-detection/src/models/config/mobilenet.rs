//! The blocks of torchvision's `mobilenet_v3_large`.

use super::{InvertedResidualConfig, MobileNetV3Config};

/// A block as a row: kernel, expanded channels, output channels, squeeze channels, hard swish, stride.
type Row = (usize, usize, usize, Option<usize>, bool, usize);

const LARGE: [Row; 15] = [
    (3, 16, 16, None, false, 1),
    (3, 64, 24, None, false, 2),
    (3, 72, 24, None, false, 1),
    (5, 72, 40, Some(24), false, 2),
    (5, 120, 40, Some(32), false, 1),
    (5, 120, 40, Some(32), false, 1),
    (3, 240, 80, None, true, 2),
    (3, 200, 80, None, true, 1),
    (3, 184, 80, None, true, 1),
    (3, 184, 80, None, true, 1),
    (3, 480, 112, Some(120), true, 1),
    (3, 672, 112, Some(168), true, 1),
    (5, 672, 160, Some(168), true, 2),
    (5, 960, 160, Some(240), true, 1),
    (5, 960, 160, Some(240), true, 1),
];

/// The backbone of torchvision's detectors with MobileNetV3: the maps are the first output with 1/32 of the picture's
/// size and the last convolution.
pub fn large() -> MobileNetV3Config {
    let blocks = LARGE.map(
        |(kernel_size, expanded, output, squeeze, hard_swish, stride)| InvertedResidualConfig {
            squeeze_channels: squeeze,
            hard_swish,
            stride,
            ..InvertedResidualConfig::new(kernel_size, expanded, output)
        },
    );
    MobileNetV3Config::new(16, blocks.to_vec(), 960, vec![13, 16])
}
