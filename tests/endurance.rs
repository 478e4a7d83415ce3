//! Many small calls in one process, after which memory is what it was.
//!
//! `ROI_CALLS` says how many for each backend; the million that is promised takes minutes:
//! `ROI_CALLS=1000000 cargo test --release --test endurance -- --nocapture`.

#![cfg(target_os = "linux")]

use std::time::Instant;

use burn::tensor::{Device, Distribution, Int, Tensor};
use burn_roi::*;
use peak_alloc::PeakAlloc;

#[path = "support/backends.rs"]
mod backends;

const USUAL_CALLS: usize = 4000;

/// One of this many outputs is read; with nine kinds of calls in turn, it is of each kind at times.
const READ_EVERY: usize = 17;

/// What the process may hold more after the first half of the calls, in MiB: allocators round up.
const MOST_GROWTH: f64 = 8.0;

/// What this crate and Burn may hold more in the allocator of Rust, in MiB. 222 of the usual calls, of one kind in the
/// second half, have outputs of 0.1 MiB together.
const MOST_ALLOCATED: f64 = 0.03;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// One test, since memory is counted for the whole process.
#[test]
fn memory_is_flat_over_many_calls() {
    let calls = std::env::var("ROI_CALLS").map_or(USUAL_CALLS, |calls| {
        calls.parse().expect("ROI_CALLS should be a number")
    });
    for backend in backends::backends() {
        let small = SmallCalls::new(&backend.device);
        let start = Instant::now();
        // As much memory as calls ever take is there after half of them.
        (0..calls / 2).for_each(|number| small.call(number));
        let (before, allocated) = (resident(), ALLOCATED.current_usage());
        (calls / 2..calls).for_each(|number| small.call(number));
        let growth = resident() - before;
        let allocated = (ALLOCATED.current_usage() as f64 - allocated as f64) / (1 << 20) as f64;
        println!(
            "{}: {calls} calls in {:.1} s, {growth:.1} MiB more after the second half than the first, {before:.0} MiB, \
             and {allocated:.4} MiB more in the allocator",
            backend.name,
            start.elapsed().as_secs_f64(),
        );
        assert!(
            growth <= MOST_GROWTH,
            "{}: {growth:.1} MiB more after {calls} calls",
            backend.name
        );
        // A GPU's driver does not use this allocator, and its queue is not always empty.
        assert!(
            !backend.is_host() || allocated <= MOST_ALLOCATED,
            "{}: {allocated:.4} MiB more in the allocator after {calls} calls",
            backend.name
        );
    }
}

/// Calls of every operator, and some that are refused.
struct SmallCalls {
    features: Vec<Tensor<4>>,
    rois: Rois,
    rotated: RotatedRois,
    offsets: Tensor<4>,
    refused: Rois,
}

impl SmallCalls {
    fn new(device: &Device) -> Self {
        let random = |side| Tensor::random([1, 4, side, side], Distribution::Default, device);
        let boxes = Tensor::<2>::random([3, 4], Distribution::Uniform(0.0, 16.0), device);
        let indices = |image| Tensor::<1, Int>::from_ints([0, image, 0], device);
        Self {
            features: vec![random(16), random(8)],
            rois: Rois::new(boxes.clone(), indices(0)),
            rotated: RotatedRois::from_images(vec![Tensor::random([3, 5], Distribution::Uniform(0.0, 16.0), device)]),
            offsets: Tensor::random([3, 2, 3, 3], Distribution::Default, device),
            refused: Rois::new(boxes, indices(7)),
        }
    }

    fn call(&self, number: usize) {
        let features = self.features[0].clone();
        let align = RoiAlignConfig::new([3, 3]);
        let output = match number % 9 {
            0 => roi_align(features, &self.rois, align.with_sampling_ratio(2)),
            1 => roi_align(features, &self.rois, align.with_reduction(Reduction::Max)),
            2 => roi_pool(features, &self.rois, RoiPoolConfig::new([3, 3])),
            3 => crop_and_resize(features, &self.rois, CropAndResizeConfig::new([3, 3])),
            4 => {
                let config = torchvision::MultiScaleRoiAlign::new([3, 3]);
                multi_scale_roi_align(self.features.clone(), &self.rois, &[1.0, 0.5], config)
            }
            5 => prroi_pool(features, &self.rois, PrRoiPoolConfig::new([3, 3])),
            6 => roi_align_rotated(features, &self.rotated, RoiAlignRotatedConfig::new([3, 3])),
            7 => {
                let offsets = Some(self.offsets.clone());
                deform_roi_pool(features, &self.rois, offsets, DeformRoiPoolConfig::new([3, 3]))
            }
            _ => {
                let outcome = try_roi_align(features, &self.refused, align);
                // A device that is not read answers.
                let Ok(output) = outcome else {
                    return;
                };
                output
            }
        };
        // Not every call, so that a GPU has a queue of them.
        if number.is_multiple_of(READ_EVERY) {
            output.into_data();
        }
    }
}

/// The memory that the process holds, in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("its resident memory");
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes / 1024.0
}
