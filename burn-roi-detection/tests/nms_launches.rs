//! What NMS asks of a device of CubeCL: its own kernels, in one series, and a part of their result.
//!
//! CubeCL tells launches to whoever listens, for the whole process, so this is one test.

use std::sync::{Arc, Mutex};

use burn::tensor::{Device, Distribution, Int, Tensor};
use burn_roi_detection::{batched_nms, batched_nms_3d};
use cubecl::logging::{LaunchObservation, LaunchObserver};

#[path = "../../tests/support/backends.rs"]
mod backends;

/// The names of the kernels that were launched.
#[derive(Default)]
struct Launches(Mutex<Vec<&'static str>>);

impl LaunchObserver for Launches {
    fn launched(&self, kernel: &'static str) {
        self.0.lock().expect("no panic").push(kernel);
    }
}

/// The names of the kernels that NMS of so many boxes of two or three axes launches, in their order.
fn observe(count: usize, axes: usize, threshold: f64, device: &Device) -> Vec<&'static str> {
    let corners = Tensor::<2>::random([count, 2], Distribution::Uniform(1.0, 20.0), device);
    let boxes = Tensor::cat(vec![corners.clone(), corners + 5.0], 1);
    let z = Tensor::<2>::zeros([count, 1], device);
    let deep = Tensor::cat(vec![boxes.clone(), z.clone(), z + 5.0], 1);
    let scores = Tensor::<1>::random([count], Distribution::Default, device);
    let classes = Tensor::<1, Int>::ones([count], device);
    device.sync().expect("what was before should finish");
    let launches = Arc::new(Launches::default());
    let observation = LaunchObservation::new(launches.clone());
    match axes {
        2 => batched_nms(boxes, scores, classes, threshold),
        _ => batched_nms_3d(deep, scores, classes, threshold),
    };
    drop(observation);
    let names = launches.0.lock().expect("no panic");
    names.iter().filter_map(|name| name.rsplit("::").next()).collect()
}

#[test]
fn nms_is_two_launches_and_two_for_each_block() {
    for backend in backends::backends() {
        if backend.is_host() || ["cpu", "remote"].contains(&backend.name) {
            continue;
        }
        // A threshold below those of three axes: no kernels.
        assert!(observe(100, 3, 1e-9, &backend.device).is_empty(), "{}", backend.name);
        let counts = [(1, 1), (1024, 1), (1025, 2), (3000, 3)];
        for (axes, (count, blocks)) in [2, 3].into_iter().flat_map(|axes| counts.map(|count| (axes, count))) {
            let names = observe(count, axes, 0.5, &backend.device);
            let of_blocks = [["KeepInBlock", "SuppressLater"]; 3].concat();
            let mut expected = vec!["RankBoxes", "OverlapsInBlocks"];
            expected.extend(&of_blocks[..2 * blocks - 1]);
            // Then the number of kept boxes is cut out of the result.
            assert_eq!(names[..expected.len()], expected, "{}: {count} boxes", backend.name);
            assert!(names.len() <= expected.len() + 2, "{}: {names:?}", backend.name);
        }
    }
}
