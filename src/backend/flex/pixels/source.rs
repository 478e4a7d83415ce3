//! Where kernels get the pixels of a window from: several channels at a time from a copy in which they are neighbours,
//! or one channel at a time from where they are.

use std::ops::Range;

use pulp::Simd;

use super::planes::{Planes, Rows};
use super::tile::{LaneChannels, Tile};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::memory::AlignedPixels;
use crate::geometry::plan::ChannelGroup;

/// Pixels in `L` channels.
pub trait Source<S, const L: usize> {
    /// Turns to at most `L` output channels: pixels are those that these read.
    fn turn_to(&mut self, output_channels: Range<usize>);

    /// Forgets what was copied: other pixels of the same channels come, from the top of the map on.
    fn restart(&mut self);

    /// The pixels of a window of an image that a group of elements reads.
    fn load(&mut self, image: usize, group: &ChannelGroup, window: &[Range<usize>; 2]) -> impl Rows<S, L>;
}

/// Copies of windows with interleaved channels.
pub struct InLanes<'a, V, S: Sum, const L: usize> {
    simd: V,
    features: &'a Planes<'a, S>,
    /// If windows share a copy: how many rows it holds at a time, and its columns.
    shared: Option<(usize, Range<usize>)>,
    output_channels: Range<usize>,
    tile: Tile<S, L>,
}

impl<'a, V: Simd, S: Sum, const L: usize> InLanes<'a, V, S, L> {
    #[inline(always)]
    pub fn new(simd: V, features: &'a Planes<'a, S>, shared: Option<(usize, Range<usize>)>) -> Self {
        Self {
            simd,
            features,
            shared,
            output_channels: 0..0,
            tile: Tile::default(),
        }
    }
}

impl<V: Simd, S: Sum, const L: usize> Source<S, L> for InLanes<'_, V, S, L> {
    #[inline(always)]
    fn turn_to(&mut self, output_channels: Range<usize>) {
        self.output_channels = output_channels;
        self.restart();
    }

    #[inline(always)]
    fn restart(&mut self) {
        if let Some((rows, columns)) = &self.shared {
            self.tile.clear(*rows, columns.clone());
        }
    }

    #[inline(always)]
    fn load(&mut self, image: usize, group: &ChannelGroup, [rows, columns]: &[Range<usize>; 2]) -> impl Rows<S, L> {
        if self.shared.is_none() {
            self.tile.clear(rows.len(), columns.clone());
        }
        let channels = LaneChannels::of_group(group, &self.output_channels);
        self.tile.load(self.simd, self.features, image, &channels, rows.clone());
        &self.tile
    }
}

/// Planes, and copies of windows of elements of 16 bits.
pub struct OneByOne<'a, S: Sum> {
    features: &'a Planes<'a, S>,
    output_channel: usize,
    memory: AlignedPixels<S, 1>,
}

impl<'a, S: Sum> OneByOne<'a, S> {
    pub fn new(features: &'a Planes<'a, S>) -> Self {
        Self {
            features,
            output_channel: 0,
            memory: AlignedPixels::default(),
        }
    }
}

impl<S: Sum> Source<S, 1> for OneByOne<'_, S> {
    fn turn_to(&mut self, output_channels: Range<usize>) {
        self.output_channel = output_channels.start;
    }

    fn restart(&mut self) {}

    #[inline(always)]
    fn load(&mut self, image: usize, group: &ChannelGroup, window: &[Range<usize>; 2]) -> impl Rows<S, 1> {
        let channel = group.first_channel + self.output_channel * group.channel_step;
        self.features.plane(image, channel, window, &mut self.memory)
    }
}
