//! The regions of tasks.

use std::ops::Range;

use crate::backend::flex::drive::filter_map;
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
    filter_map(&all, 1, parallel, |_, (image, group)| {
        Some(GroupRegions::new(regions, *image, group))
    })
}

impl<'a, P> GroupRegions<'a, P> {
    fn new<S: Coordinate>(regions: &'a [Planned<P>], image: usize, group: &'a ChannelGroup) -> Self
    where
        P: RegionPlan<S>,
    {
        let in_image = regions.iter().filter(|region| region.image == image);
        let with_windows = in_image.map(|region| (region, region.plan.window_of(group)));
        let mut regions: Vec<_> = with_windows.filter(|(_, window)| pixel_count(window) > 0).collect();
        regions.sort_by_cached_key(|(region, window)| [window[0].start, region.row, 0]);
        Self {
            image,
            group,
            rows: regions.iter().map(|(_, window)| window[0].len()).max().unwrap_or(0),
            columns: hull(regions.iter().map(|(_, window)| window[1].clone())),
            regions,
        }
    }
}
