//! Times `nms` on each backend: 48,400 boxes that all stay, and 2,000 and 20,000 random boxes.
//!
//! ```text
//! cargo bench -p burn-roi-detection --bench nms
//! ROI_BACKENDS=flex,cuda cargo bench -p burn-roi-detection --bench nms --no-default-features --features flex,cuda
//! ```
//!
//! Boxes and scores are on the device before the call. The time is the median of 11 calls after 2 warm-up calls, each
//! until the indices are there. All backends must keep the same boxes.

use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi_detection::nms;

#[allow(dead_code)]
#[path = "../../tests/support/backends.rs"]
mod backends;

struct Workload {
    name: &'static str,
    boxes: Vec<[f32; 4]>,
    scores: Vec<f32>,
}

fn main() {
    println!("workload  backend        boxes     kept          ms");
    for workload in [grid(220), random("nms-2k", 2_000), random("nms-20k", 20_000)] {
        let mut expected = None;
        for backend in backends::backends() {
            let (kept, milliseconds) = workload.time(&backend.device);
            let (boxes, stay) = (workload.boxes.len(), kept.len());
            println!(
                "{:9} {:10} {boxes:9} {stay:8} {milliseconds:11.3}",
                workload.name, backend.name
            );
            assert_eq!(
                *expected.get_or_insert(kept.clone()),
                kept,
                "{} keeps other boxes",
                backend.name
            );
        }
    }
}

impl Workload {
    fn time(&self, device: &Device) -> (Vec<i64>, f64) {
        let count = self.scores.len();
        let boxes = Tensor::<2>::from_data(TensorData::new(self.boxes.concat(), [count, 4]), device);
        let scores = Tensor::<1>::from_data(TensorData::new(self.scores.clone(), [count]), device);
        let mut times = Vec::new();
        for _ in 0..13 {
            device.sync().expect("what was before should finish");
            let begin = Instant::now();
            let kept = nms(boxes.clone(), scores.clone(), 0.5);
            device.sync().expect("the call should finish");
            times.push(begin.elapsed().as_secs_f64() * 1e3);
            drop(kept);
        }
        let times = &mut times[2..];
        times.sort_by(f64::total_cmp);
        let kept = nms(boxes, scores, 0.5).into_data().iter::<i64>().collect();
        (kept, times[times.len() / 2])
    }
}

/// Boxes side by side, none of which overlaps another.
fn grid(side: usize) -> Workload {
    let places = (0..side * side).map(|place| (place % side, place / side));
    Workload {
        name: "nms-48k",
        boxes: places
            .map(|(x, y)| [x, y, x + 1, y + 1].map(|corner| corner as f32 * 8.0))
            .collect(),
        scores: (0..side * side).map(|place| (place * 7919 % 48_400) as f32).collect(),
    }
}

/// Boxes of 8 to 72 pixels in an image of 800 x 1216.
fn random(name: &'static str, count: usize) -> Workload {
    let mut state = 1u64;
    let mut below = |limit: f32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32 * limit
    };
    let mut workload = Workload {
        name,
        boxes: Vec::new(),
        scores: Vec::new(),
    };
    for _ in 0..count {
        let (x, y) = (below(1144.0), below(728.0));
        let (width, height) = (8.0 + below(64.0), 8.0 + below(64.0));
        workload.boxes.push([x, y, x + width, y + height]);
        workload.scores.push(below(1.0));
    }
    workload
}
