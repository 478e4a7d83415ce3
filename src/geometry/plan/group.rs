//! The elements of an output in groups that read the same channels.

use std::ops::Range;

use crate::geometry::operator::{ChannelMap, RegionOperator};

/// Elements that read the same channels. They are whole rows of the output, or one element.
#[derive(Debug, Clone)]
pub struct ChannelGroup {
    /// Its index among all groups.
    pub index: usize,
    /// Rows and columns of the output.
    pub elements: [Range<usize>; 2],
    /// The index of its first element among the elements of all groups, one group after another.
    pub first: usize,
    /// The channel of the features that output channel 0 reads.
    pub first_channel: usize,
    /// The stride from the channel of an output channel to that of the next one.
    pub channel_step: usize,
    /// How many columns the output has.
    width: usize,
}

impl ChannelGroup {
    /// All groups of an operator whose output has so many channels.
    pub fn all(operator: &RegionOperator, channels: usize) -> Vec<Self> {
        let [rows, columns] = operator.output_size;
        let count = rows * columns;
        let every_element = |index: usize| Self {
            index,
            elements: [0..rows, 0..columns],
            first: index * count,
            first_channel: index * channels,
            channel_step: 1,
            width: columns,
        };
        let one_element = |index: usize| Self {
            elements: [index / columns, index % columns].map(|place| place..place + 1),
            first: index,
            first_channel: index,
            channel_step: count,
            ..every_element(index)
        };
        match operator.channel_map {
            ChannelMap::Same => vec![every_element(0)],
            ChannelMap::SampleSensitive { samples } => (0..samples).map(every_element).collect(),
            ChannelMap::PositionSensitive => (0..count).map(one_element).collect(),
        }
    }

    /// A group for each slice of volumes whose features are `[N, C * D, H, W]`. Slices are pooled by themselves, so
    /// `index` is the slice, and elements are counted among those of one.
    pub fn of_slices([rows, columns]: [usize; 2], depth: usize) -> Vec<Self> {
        let slice = |index: usize| Self {
            index,
            elements: [0..rows, 0..columns],
            first: 0,
            first_channel: index,
            channel_step: depth,
            width: columns,
        };
        (0..depth).map(slice).collect()
    }

    /// The indices of its elements in the order of the output.
    #[inline(always)]
    pub fn indices(&self) -> Range<usize> {
        let [rows, columns] = &self.elements;
        rows.start * self.width + columns.start..(rows.end - 1) * self.width + columns.end
    }

    /// The group in bands of rows of the output: of at most so many elements, or of one row.
    #[inline(always)]
    pub fn bands(&self, most_elements: usize) -> impl Iterator<Item = Self> {
        let [all_rows, columns] = &self.elements;
        let rows = (most_elements / columns.len()).clamp(1, all_rows.len());
        all_rows.clone().step_by(rows).map(move |start| Self {
            elements: [start..(start + rows).min(all_rows.end), columns.clone()],
            first: self.first + (start - all_rows.start) * self.width,
            ..*self
        })
    }
}
