//! How the gradient of features is divided among tasks.

use std::ops::Range;

use super::regions::GroupRegions;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::LANES;

/// Some output channels of regions that read the same channels of an image.
pub struct GradientTask<'a, P, S> {
    pub regions: &'a GroupRegions<'a, P>,
    /// The channels of the output.
    pub channels: Range<usize>,
    /// The gradient of each channel that these read.
    pub planes: Vec<TensorSliceMut<'a, S>>,
}

/// Divides a gradient `[N, C, H, W]` among tasks. `output_channels` is the number of channels of the output.
pub fn divide<'a, P, S: Sum>(
    gradient: TensorSliceMut<'a, S>,
    [_, channels, height, width]: [usize; 4],
    output_channels: usize,
    all_regions: &'a [GroupRegions<'a, P>],
) -> Vec<GradientTask<'a, P, S>> {
    let planes = gradient.chunks(height * width).into_iter();
    let mut planes: Vec<_> = planes.map(Some).collect();
    let mut tasks = Vec::new();
    for regions in all_regions {
        let first = regions.image * channels + regions.group.first_channel;
        for start in (0..output_channels).step_by(LANES) {
            let channels = start..(start + LANES).min(output_channels);
            let of_task = channels
                .clone()
                .map(|channel| planes[first + channel * regions.group.channel_step].take());
            tasks.push(GradientTask {
                regions,
                planes: of_task
                    .map(|plane| plane.expect("a plane belongs to one task"))
                    .collect(),
                channels,
            });
        }
    }
    assert!(planes.iter().all(Option::is_none), "a group reads every channel");
    tasks
}

impl<P, S> GradientTask<'_, P, S> {
    /// A task for each channel.
    pub fn one_by_one(self) -> impl Iterator<Item = Self> {
        let one = move |(channel, plane)| Self {
            regions: self.regions,
            channels: channel..channel + 1,
            planes: vec![plane],
        };
        self.channels.zip(self.planes).map(one)
    }
}
