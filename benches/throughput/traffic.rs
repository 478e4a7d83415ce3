//! The fewest bytes that a call can move.

use std::ops::Range;

use crate::operator::Operator;
use crate::workload::Workload;

/// The side of a square box that belongs to the third level of a pyramid.
const CANONICAL_SIDE: f32 = 224.0;

/// The fewest bytes that a call can move: it reads each pixel that a region touches once, and writes each output
/// element once.
pub fn bytes(workload: &Workload, bytes_of_a_number: usize) -> usize {
    let groups = workload.operator.channel_groups();
    let [channels, ..] = workload.features;
    let pixels: usize = (0..workload.levels)
        .flat_map(|level| touched(workload, level))
        .flatten()
        .map(|run| run.len())
        .sum();
    (pixels + elements(workload)) * (channels / groups) * bytes_of_a_number
}

/// The bytes of the output.
pub fn bytes_of_output(workload: &Workload, bytes_of_a_number: usize) -> usize {
    let [channels, ..] = workload.features;
    elements(workload) * (channels / workload.operator.channel_groups()) * bytes_of_a_number
}

/// The pixels of a level that some region touches, as runs of neighbours, for each group of channels. Channel c belongs
/// to group c modulo their number.
pub fn touched(workload: &Workload, level: usize) -> Vec<Vec<Range<usize>>> {
    let groups = 0..workload.operator.channel_groups();
    groups.map(|group| mask(workload, level, group).runs()).collect()
}

/// The fewest bytes that the gradient of features can move: it reads that of each output element once, and writes
/// that of each pixel once.
pub fn bytes_of_backward(workload: &Workload, bytes_of_a_number: usize) -> usize {
    let maps: usize = workload
        .maps()
        .into_iter()
        .map(|map| map.iter().product::<usize>())
        .sum();
    let [channels, ..] = workload.features;
    (maps + elements(workload) * channels / workload.operator.channel_groups()) * bytes_of_a_number
}

/// The output elements of one channel.
fn elements(workload: &Workload) -> usize {
    let [rows, columns] = workload.operator.output_size();
    workload.regions * rows * columns
}

/// Which pixels of a level some region touches, in the channels of a group.
fn mask(workload: &Workload, level: usize, group: usize) -> Mask {
    let [_, height, width] = workload.maps()[level];
    let scale = 1.0 / (workload.stride << level) as f32;
    let mut mask = Mask {
        touched: vec![false; height * width],
        size: [height, width],
    };
    let boxes = workload.boxes();
    match &workload.operator {
        Operator::PsRoiPool(config) => {
            let [rows, columns] = config.output_size;
            for [x1, y1, x2, y2] in boxes {
                mask.fill(
                    bin(y1 * scale, y2 * scale, [group / columns, rows], height),
                    bin(x1 * scale, x2 * scale, [group % columns, columns], width),
                );
            }
        }
        Operator::RoiAlignRotated(_) => {
            for [x, y, w, h, angle] in workload.rotated_boxes() {
                mask.fill_turned(
                    [x, y].map(|place| place * scale - 0.5),
                    [w, h].map(|side| side * scale),
                    angle,
                );
            }
        }
        // Offsets are left out: they move an element by at most a tenth of its region.
        _ => {
            let of_level = |corners: &[f32; 4]| level_of(corners, workload.levels) == level;
            for [x1, y1, x2, y2] in boxes.into_iter().filter(of_level) {
                mask.fill(
                    span(y1 * scale, y2 * scale, height),
                    span(x1 * scale, x2 * scale, width),
                );
            }
        }
    }
    mask
}

/// The pixels of a map that are touched.
struct Mask {
    touched: Vec<bool>,
    /// Height and width.
    size: [usize; 2],
}

impl Mask {
    /// The pixels that are touched, as runs of neighbours.
    fn runs(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let runs = self.touched.chunk_by(|left, right| left == right);
        let runs = runs.filter_map(|run| {
            let start = end;
            end += run.len();
            run[0].then_some(start..end)
        });
        runs.collect()
    }

    fn fill(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let [_, width] = self.size;
        for row in rows {
            self.touched[row * width..][columns.clone()].fill(true);
        }
    }

    /// Fills a rectangle that is turned counter-clockwise about its centre, and the pixels next to it.
    fn fill_turned(&mut self, [x, y]: [f32; 2], sides: [f32; 2], angle: f32) {
        let [height, width] = self.size;
        let reach = sides.iter().map(|side| side * side).sum::<f32>().sqrt() / 2.0;
        let (sine, cosine) = angle.sin_cos();
        for row in span(y - reach, y + reach, height) {
            for column in span(x - reach, x + reach, width) {
                let [right, down] = [column as f32 - x, row as f32 - y];
                let places = [right * cosine - down * sine, right * sine + down * cosine];
                let inside = places
                    .iter()
                    .zip(sides)
                    .all(|(place, side)| place.abs() <= side / 2.0 + 1.0);
                self.touched[row * width + column] |= inside;
            }
        }
    }
}

/// The level of a pyramid that a box belongs to.
fn level_of([x1, y1, x2, y2]: &[f32; 4], levels: usize) -> usize {
    let side = ((x2 - x1) * (y2 - y1)).sqrt();
    let level = (2.0 + (side / CANONICAL_SIDE + 1e-6).log2()).floor();
    level.clamp(0.0, (levels - 1) as f32) as usize
}

/// The pixels that samples between two positions read.
fn span(low: f32, high: f32, size: usize) -> Range<usize> {
    let first = (low - 0.5).floor().max(0.0) as usize;
    let last = (high + 0.5).ceil().min(size as f32 - 1.0) as usize;
    first.min(last)..last + 1
}

/// The pixels of a bin of `ps_roi_pool`.
fn bin(low: f32, high: f32, [bin, bins]: [usize; 2], size: usize) -> Range<usize> {
    let (start, end) = (low.round(), high.round());
    let length = (end - start).max(1.0) / bins as f32;
    let bound = |position: f32| position.clamp(0.0, size as f32 - 1.0) as usize;
    bound((start + bin as f32 * length).floor())..bound((start + (bin + 1) as f32 * length).ceil())
}
