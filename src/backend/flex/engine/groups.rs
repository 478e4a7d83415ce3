//! How regions are gathered in groups that share pixels, and groups divided into tasks.

use std::ops::Range;

use crate::backend::flex::drive::sort_by_key;
use crate::backend::flex::numbers::{NumbersMut, Sum};
use crate::backend::flex::pixels::{LARGEST_TILE, tile_capacity};
use crate::geometry::plan::pixel_count;

/// A region, planned.
pub struct Planned<P> {
    /// What its elements read; the plans of y and of x where these are planned one by one.
    pub plan: P,
    pub image: usize,
    /// Its row among those planned together.
    pub number: usize,
    pub window: [Range<usize>; 2],
}

/// Regions of one image.
pub struct Group<P> {
    regions: Vec<Planned<P>>,
    /// The pixels that all of them share a copy of; none where each copies its own window.
    shared: Option<[Range<usize>; 2]>,
}

/// A range of channels of a group, with the output of each region in these channels.
pub struct Task<'a, S, P> {
    pub regions: &'a [Planned<P>],
    pub shared: Option<&'a [Range<usize>; 2]>,
    pub channels: Range<usize>,
    pub outputs: Vec<NumbersMut<'a, S>>,
}

/// How many tasks keep the threads busy, whose tasks take longer or shorter.
pub fn wanted_tasks(parallel: bool) -> usize {
    if parallel { 4 * rayon::current_num_threads() } else { 1 }
}

/// Gathers regions of one image, from its top to its bottom, that can share a copy of their pixels.
pub fn group<P>(mut regions: Vec<Planned<P>>) -> Vec<Group<P>> {
    sort_by_key(&mut regions, |region| {
        [region.image, region.window[0].start, region.number]
    });
    let mut groups: Vec<(Group<P>, [Range<usize>; 2])> = Vec::new();
    for region in regions {
        if let Some((group, hull)) = groups.last_mut() {
            let joined = [0, 1].map(|axis| cover(&hull[axis], &region.window[axis]));
            let same_image = group.regions[0].image == region.image;
            if same_image && tile_capacity(&joined) <= LARGEST_TILE {
                group.regions.push(region);
                *hull = joined;
                continue;
            }
        }
        let hull = region.window.clone();
        let regions = vec![region];
        groups.push((Group { regions, shared: None }, hull));
    }
    groups
        .into_iter()
        .map(|(mut group, hull)| {
            let windows: usize = group.regions.iter().map(|region| pixel_count(&region.window)).sum();
            group.shared = pays_to_share(windows, &hull).then_some(hull);
            group
        })
        .collect()
}

/// Whether one copy of all that windows cover is faster than a copy of each, by how many pixels they have together.
pub fn pays_to_share(pixels: usize, hull: &[Range<usize>; 2]) -> bool {
    3 * pixels > pixel_count(hull)
}

/// The least range that holds both; an empty one doesn't count.
fn cover(left: &Range<usize>, right: &Range<usize>) -> Range<usize> {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right.clone(),
        (_, true) => left.clone(),
        _ => left.start.min(right.start)..left.end.max(right.end),
    }
}

/// Divides groups into about as many tasks as are wanted, at least one for each group, and the output among them. A
/// task computes `lanes` channels at a time.
pub fn divide<'a, S: Sum, P>(
    groups: &'a [Group<P>],
    output: NumbersMut<'a, S>,
    channels: usize,
    of_a_channel: usize,
    wanted: usize,
    lanes: usize,
) -> Vec<Task<'a, S, P>> {
    let of_a_group = wanted.div_ceil(groups.len().max(1));
    let blocks = channels.div_ceil(lanes);
    let ranges = of_a_group.min(blocks);
    let of_a_range = blocks.div_ceil(ranges) * lanes;
    let parts = of_a_group.div_ceil(ranges);

    let mut rest = output.parts(channels * of_a_channel);
    let mut tasks = Vec::new();
    for start in (0..channels).step_by(of_a_range) {
        let channels = start..(start + of_a_range).min(channels);
        for group in groups {
            let of_a_part = group.regions.len().div_ceil(parts);
            for regions in group.regions.chunks(of_a_part) {
                let outputs = regions.iter();
                let outputs = outputs.map(|region| rest[region.number].take(channels.len() * of_a_channel));
                tasks.push(Task {
                    regions,
                    shared: group.shared.as_ref(),
                    channels: channels.clone(),
                    outputs: outputs.collect(),
                });
            }
        }
    }
    tasks
}
