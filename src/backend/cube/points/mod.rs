//! Operators whose elements read points: kernels of their own, so that the others are not compiled with them.
//!
//! - [`region`]: a region as a kernel reads it.
//! - [`forward`]: a unit computes an element in up to 32 channels.
//! - [`features`]: the gradient of features; a unit owns a pixel in a few channels.
//! - [`regions`]: the gradient of boxes and offsets; a cube owns a region.

mod features;
mod forward;
mod region;
mod regions;

pub use features::features_gradient;
pub use forward::pool;
pub use regions::regions_gradient;

use crate::geometry::levels::AreaRange;
use crate::geometry::operator::{ChannelMap, RegionOperator};

/// What is compiled in. Everything else of an operator is an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Compiled {
    channels: Channels,
    /// Whether boxes outside of the range of areas are left alone.
    of_level: bool,
}

/// Which channels elements read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Channels {
    Same,
    OfElements,
    OfSamples,
}

impl Channels {
    /// Which channels the first samples read.
    fn of_first_sample(self) -> ChannelMap {
        match self {
            Self::OfElements => ChannelMap::PositionSensitive,
            Self::Same | Self::OfSamples => ChannelMap::Same,
        }
    }
}

impl Compiled {
    fn new(operator: &RegionOperator) -> Self {
        Self {
            channels: match operator.channel_map {
                ChannelMap::Same => Channels::Same,
                ChannelMap::PositionSensitive => Channels::OfElements,
                ChannelMap::SampleSensitive { .. } => Channels::OfSamples,
            },
            of_level: operator.areas != AreaRange::ALL,
        }
    }
}
