//! How the gradient of features is divided among tasks, for both kinds of plan.

use std::ops::Range;

use crate::backend::flex::dtype::{Sum, TensorSliceMut};
use crate::backend::flex::lanes::LANES;

/// Some output channels of regions that read the same channels of an image.
pub struct GradientTask<'a, R, S> {
    pub regions: &'a R,
    /// The channels of the output.
    pub channels: Range<usize>,
    /// The gradient of each channel that these read.
    pub planes: Vec<TensorSliceMut<'a, S>>,
}

/// Divides a gradient of so many elements a plane among tasks, and returns the planes that no task has too. For the
/// regions of a task, `first_and_step` gives the plane that output channel 0 reads, and the stride to that of the next
/// one.
pub fn divide<'a, R, S: Sum>(
    gradient: TensorSliceMut<'a, S>,
    plane_elements: usize,
    channels: usize,
    all_regions: impl Iterator<Item = &'a R>,
    first_and_step: impl Fn(&R) -> [usize; 2],
) -> (Vec<GradientTask<'a, R, S>>, Vec<TensorSliceMut<'a, S>>) {
    let planes = gradient.chunks(plane_elements).into_iter();
    let mut planes: Vec<_> = planes.map(Some).collect();
    let mut tasks = Vec::new();
    for regions in all_regions {
        let [first, step] = first_and_step(regions);
        for start in (0..channels).step_by(LANES) {
            let channels = start..(start + LANES).min(channels);
            let of_task = channels.clone().map(|channel| planes[first + channel * step].take());
            tasks.push(GradientTask {
                regions,
                planes: of_task
                    .map(|plane| plane.expect("a plane belongs to one task"))
                    .collect(),
                channels,
            });
        }
    }
    (tasks, planes.into_iter().flatten().collect())
}

impl<R, S> GradientTask<'_, R, S> {
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
