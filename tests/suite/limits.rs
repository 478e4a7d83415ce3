//! Extremes: boxes far beyond the map, many regions, threads.

use std::time::{Duration, Instant};

use burn::tensor::{Device, Distribution, Int, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

fn one_box(device: &Device, corners: [f32; 4]) -> Rois {
    Rois::from_images(vec![Tensor::<2>::from_floats([corners], device)])
}

/// Runs once to compile, then the least time of some runs.
fn least_time(mut run: impl FnMut()) -> Duration {
    run();
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

#[test]
fn a_huge_box_costs_no_more_than_one_of_the_maps_size() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([1, 16, 64, 64], Distribution::Default, device);
        for reduction in [Reduction::Average, Reduction::Max] {
            let config = RoiAlignConfig::new([7, 7]).with_reduction(reduction);
            let time = |corners| {
                let rois = one_box(device, corners);
                least_time(|| {
                    roi_align(features.clone(), &rois, config.clone()).into_data();
                })
            };
            let map = time([0.0, 0.0, 64.0, 64.0]);
            for size in [1e4, 1e9, 3e38] {
                let huge = time([-size, -size, size, size]);
                // Samples outside are skipped; were they visited, 1e9 would take hours.
                let most = map * 10 + Duration::from_millis(20);
                assert!(
                    huge < most,
                    "{}: {huge:?} for {size:e}, {map:?} for the map",
                    backend.name
                );
            }
        }
    }
}

/// Most of a box of 1e9 pixels is outside; the middle element covers the map and averages to it.
#[test]
fn a_huge_box_averages_what_it_covers() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::ones([1, 2, 8, 8], device);
        let rois = one_box(device, [-1e4, -1e4, 1e4, 1e4]);
        let output = roi_align(features, &rois, RoiAlignConfig::new([1, 1])).into_data();
        // 20000 samples along an axis, a pixel apart, at halves: 9 of them from -0.5 to 7.5.
        let expected = (9.0f32 / 20_000.0).powi(2);
        for number in output.iter::<f32>() {
            assert!(
                (number / expected - 1.0).abs() < 1e-4,
                "{}: {number:e}",
                backend.name
            );
        }
    }
}

#[test]
fn many_regions_are_regions_one_by_one() {
    let count: usize = 3000;
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([2, 3, 12, 10], Distribution::Default, device);
        let boxes = Tensor::<2>::random([count, 4], Distribution::Uniform(-2.0, 14.0), device);
        let images = (0..count as i32).map(|row| row % 2).collect();
        let images = Tensor::<1, Int>::from_data(TensorData::new(images, [count]), device);
        let config = RoiAlignConfig::new([3, 3]).with_aligned(true);
        let all = roi_align(
            features.clone(),
            &Rois::new(boxes.clone(), images.clone()),
            config.clone(),
        );
        for row in [0, 1, 1500, count - 1] {
            let range = row..row + 1;
            let rois = Rois::new(
                boxes.clone().slice(range.clone()),
                images.clone().slice(range.clone()),
            );
            let alone = roi_align(features.clone(), &rois, config.clone());
            assert_eq!(
                all.clone().slice(range).into_data(),
                alone.into_data(),
                "{}",
                backend.name
            );
        }
    }
}

#[cfg(feature = "flex")]
#[test]
fn flex_gives_the_same_bits_on_any_number_of_threads() {
    let device = Device::flex();
    let features = Tensor::<4>::random([2, 300, 20, 30], Distribution::Default, &device);
    let boxes = Tensor::<2>::random([40, 4], Distribution::Uniform(-2.0, 32.0), &device);
    let rois = Rois::new(boxes, Tensor::<1, Int>::zeros([40], &device));
    let configs = [
        RoiAlignConfig::new([7, 7]).with_aligned(true),
        RoiAlignConfig::new([7, 7]).with_reduction(Reduction::Max),
    ];
    let outputs = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a thread pool").install(|| {
            let pooled = roi_pool(features.clone(), &rois, RoiPoolConfig::new([7, 7]));
            let [average, maximum] = configs
                .clone()
                .map(|config| roi_align(features.clone(), &rois, config));
            [pooled, average, maximum].map(Tensor::into_data)
        })
    };
    let alone = outputs(1);
    for threads in [2, 3, 8] {
        assert_eq!(outputs(threads), alone, "{threads} threads");
    }
}

#[test]
fn threads_that_call_at_once_get_what_one_gets() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([1, 8, 20, 30], Distribution::Default, device);
        let rois = one_box(device, [1.0, 2.0, 17.5, 12.25]);
        let run = || roi_align(features.clone(), &rois, RoiAlignConfig::new([5, 5])).into_data();
        let expected = run();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
            for thread in threads {
                assert_eq!(thread.join().expect("no panic"), expected);
            }
        });
    }
}
