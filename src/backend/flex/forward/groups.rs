//! How regions are gathered in groups that share pixels, and groups divided into tasks.

use std::ops::Range;

use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::pixels::LARGEST_TILE;
use crate::backend::flex::planned::Planned;
use crate::geometry::plan::{hull, pixel_count};

/// Regions of one image.
pub struct Group<P> {
    regions: Vec<Planned<P>>,
    /// The hull of their windows.
    hull: [Range<usize>; 2],
}

impl<P> Group<P> {
    /// The window of a copy that all of them share; `None` if each copies its own window.
    fn shared(&self) -> Option<&[Range<usize>; 2]> {
        let windows: usize = self.regions.iter().map(|region| pixel_count(&region.window)).sum();
        pays_to_share(windows, &self.hull).then_some(&self.hull)
    }
}

/// A range of channels of a group, with the output of each region in these channels.
pub struct PoolTask<'a, S, P> {
    pub regions: &'a [Planned<P>],
    pub shared: Option<&'a [Range<usize>; 2]>,
    pub channels: Range<usize>,
    pub outputs: Vec<TensorSliceMut<'a, S>>,
}

impl<S, P> PoolTask<'_, S, P> {
    /// How many rows the tallest window has.
    pub fn most_rows(&self) -> usize {
        let rows = self.regions.iter().map(|region| region.window[0].len());
        rows.max().unwrap_or(0)
    }

    /// Whether a copy of each window by itself has at most so many pixels.
    pub fn windows_fit(&self, largest_tile: usize) -> bool {
        let mut windows = self.regions.iter().map(|region| &region.window);
        windows.all(|window| pixel_count(window) <= largest_tile)
    }
}

/// How many tasks keep the threads busy, although some take longer than others.
pub fn wanted_tasks(parallel: bool) -> usize {
    if parallel { 4 * rayon::current_num_threads() } else { 1 }
}

/// Gathers regions of an image, from its top to its bottom, that can share a copy of their pixels.
pub fn group<P>(mut regions: Vec<Planned<P>>) -> Vec<Group<P>> {
    regions.sort_by_cached_key(|region| [region.image, region.window[0].start, region.row]);
    let mut groups: Vec<Group<P>> = Vec::new();
    for region in regions {
        if let Some(group) = groups.last_mut() {
            let joined =
                [0, 1].map(|axis| hull([&group.hull, &region.window].map(|all| all[axis].clone()).into_iter()));
            let same_image = group.regions[0].image == region.image;
            if same_image && pixel_count(&joined) <= LARGEST_TILE {
                group.regions.push(region);
                group.hull = joined;
                continue;
            }
        }
        groups.push(Group {
            hull: region.window.clone(),
            regions: vec![region],
        });
    }
    groups
}

/// Whether one copy of the hull of several windows is faster than a copy of each; `pixels` is the sum of their sizes.
pub fn pays_to_share(pixels: usize, hull: &[Range<usize>; 2]) -> bool {
    3 * pixels > pixel_count(hull)
}

/// Divides groups into about as many tasks as are wanted, at least one for each group, and the output among them. A
/// task computes `lanes` channels at a time.
pub fn divide<'a, S: Sum, P>(
    groups: &'a [Group<P>],
    output: TensorSliceMut<'a, S>,
    [channels, channel_elements]: [usize; 2],
    wanted: usize,
    lanes: usize,
) -> Vec<PoolTask<'a, S, P>> {
    let group_tasks = wanted.div_ceil(groups.len().max(1));
    let blocks = channels.div_ceil(lanes);
    let ranges = group_tasks.min(blocks);
    let range_channels = blocks.div_ceil(ranges) * lanes;
    let chunks = group_tasks.div_ceil(ranges);

    let mut rest = output.chunks(channels * channel_elements);
    let mut tasks = Vec::new();
    for start in (0..channels).step_by(range_channels) {
        let channels = start..(start + range_channels).min(channels);
        for group in groups {
            let chunk_regions = group.regions.len().div_ceil(chunks);
            for regions in group.regions.chunks(chunk_regions) {
                let outputs = regions.iter();
                let outputs = outputs.map(|region| rest[region.row].take(channels.len() * channel_elements));
                tasks.push(PoolTask {
                    regions,
                    shared: group.shared(),
                    channels: channels.clone(),
                    outputs: outputs.collect(),
                });
            }
        }
    }
    tasks
}
