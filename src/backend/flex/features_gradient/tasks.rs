//! The tasks of the gradient of features: which regions they share, and how the gradient is divided among them.

use std::ops::Range;

use crate::backend::flex::drive::filter_map;
use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::LANES;
use crate::backend::flex::planned::{Planned, RegionPlan};
use crate::geometry::plan::{ChannelGroup, Coordinate, Planner, hull, pixel_count};

/// The regions of an image that read some pixel in a group of channels.
pub struct GroupRegions<'a, P> {
    pub image: usize,
    pub group: &'a ChannelGroup,
    /// Each with the window that it reads, from the top of the map to its bottom.
    pub regions: Vec<(&'a Planned<P>, [Range<usize>; 2])>,
    /// How many rows the tallest window has.
    pub rows: usize,
    /// The columns of all windows.
    pub columns: Range<usize>,
}

/// The regions of each group of channels of so many images.
pub fn group_regions<'a, S: Coordinate, P: RegionPlan<S>>(
    regions: &'a [Planned<P>],
    planner: &'a Planner<S>,
    images: usize,
    parallel: bool,
) -> Vec<GroupRegions<'a, P>> {
    let mut all = Vec::new();
    for image in 0..images {
        all.extend(planner.groups.iter().map(|group| (image, group)));
    }
    filter_map(&all, 1, parallel, |_, &(image, group)| {
        let in_image = regions.iter().filter(|region| region.image == image);
        let with_windows = in_image.map(|region| (region, region.plan.window_of(group)));
        let mut regions: Vec<_> = with_windows.filter(|(_, window)| pixel_count(window) > 0).collect();
        regions.sort_by_cached_key(|(region, window)| [window[0].start, region.row]);
        Some(GroupRegions {
            image,
            group,
            rows: regions.iter().map(|(_, window)| window[0].len()).max().unwrap_or(0),
            columns: hull(regions.iter().map(|(_, window)| window[1].clone())),
            regions,
        })
    })
}

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
            let task_planes = channels
                .clone()
                .map(|channel| planes[first + channel * regions.group.channel_step].take());
            tasks.push(GradientTask {
                regions,
                planes: task_planes
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
