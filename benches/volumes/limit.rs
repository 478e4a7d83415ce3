//! The least that a call can take: each voxel that a region touches is read once, and the output is written once.

use std::hint::black_box;

use rayon::prelude::*;

use crate::workload::Workload;

/// Memory is read and written by parts of this many numbers.
const PART: usize = 1 << 19;

/// What a call reads and writes.
pub struct Limit {
    features: Vec<f32>,
    /// The runs of voxels that some region touches, in each channel.
    touched: Vec<std::ops::Range<usize>>,
    voxels: usize,
    outputs: usize,
}

impl Limit {
    pub fn new(workload: &Workload) -> Self {
        let [_, channels, depth, height, width] = workload.shape;
        let voxels = depth * height * width;
        let mut is_touched = vec![false; voxels];
        for ends in workload.boxes().chunks(6) {
            let [x1, y1, x2, y2, z1, z2] = [0, 1, 2, 3, 4, 5].map(|column| ends[column]);
            // Samples lie within the box, and read the voxels on both sides.
            let run = |low: f32, high: f32, size: usize| {
                (low - 0.5).max(0.0) as usize..((high - 0.5).ceil().max(0.0) as usize + 1).min(size)
            };
            for z in run(z1, z2, depth) {
                for y in run(y1, y2, height) {
                    let row = (z * height + y) * width;
                    let columns = run(x1, x2, width);
                    is_touched[row + columns.start..row + columns.end].fill(true);
                }
            }
        }
        let mut touched = Vec::new();
        for run in is_touched.chunk_by(|left, right| left == right) {
            let start = touched
                .last()
                .map_or(0, |run: &(bool, std::ops::Range<usize>)| run.1.end);
            touched.push((run[0], start..start + run.len()));
        }
        Self {
            features: vec![1.0; channels * voxels],
            touched: touched.into_iter().filter(|run| run.0).map(|run| run.1).collect(),
            voxels,
            outputs: workload.regions * channels * workload.size.iter().product::<usize>(),
        }
    }

    /// Reads each voxel that a region touches once, and writes the output once.
    pub fn pass(&self) -> Vec<f32> {
        let read = |channel: &[f32]| {
            let of_run = |run: &std::ops::Range<usize>| {
                channel[run.clone()]
                    .iter()
                    .fold(0, |total, number| total ^ number.to_bits())
            };
            self.touched.iter().map(of_run).fold(0, |total, part| total ^ part)
        };
        black_box(self.features.par_chunks_exact(self.voxels).map(read).max());
        let mut output = Vec::with_capacity(self.outputs);
        output.par_extend((0..self.outputs).into_par_iter().with_min_len(PART).map(|_| 1.0));
        output
    }
}
