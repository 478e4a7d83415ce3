//! Extremes: boxes far beyond the map, many regions, threads.

use burn::tensor::{DType, Device, Distribution, Int, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

fn one_box(device: &Device, corners: [f32; 4]) -> Rois {
    Rois::from_images(vec![Tensor::<2>::from_floats([corners], device)])
}

/// Samples and pixels outside of the map are skipped. Were they visited, a box of 1e9 pixels would take hours.
#[test]
fn a_huge_box_of_a_constant_map_gives_its_share() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::ones([1, 16, 64, 64], device);
        for size in [1e3, 1e4, 1e6, 1e9, 3e38] {
            let rois = one_box(device, [-size, -size, size, size]);
            let found = |output: Tensor<4>| output.into_data().iter::<f32>().collect::<Vec<_>>();
            let config = RoiAlignConfig::new([7, 7]);
            let average = found(roi_align(features.clone(), &rois, config.clone()));
            let largest = found(roi_align(
                features.clone(),
                &rois,
                config.with_reduction(Reduction::Max),
            ));
            let pooled = found(roi_pool(features.clone(), &rois, RoiPoolConfig::new([7, 7])));
            // The map lies in the middle one of seven by seven elements. Up to 1e6 samples are a pixel apart.
            for number in 0..average.len() {
                let middle = number % 49 == 24;
                let reads = middle && (size <= 1e6 || average[number] > 0.0);
                let value = if reads { 1.0 } else { 0.0 };
                let element = format!("{}: element {number} of a box of {size:e}", backend.name);
                assert_eq!(average[number] > 0.0, reads, "{element}");
                assert_eq!(largest[number], value, "{element}");
                assert_eq!(pooled[number], if middle { 1.0 } else { 0.0 }, "{element}");
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
            assert!((number / expected - 1.0).abs() < 1e-4, "{}: {number:e}", backend.name);
        }
    }
}

/// A box higher than f32 holds, around a map of one row: the middle is that row.
#[test]
fn a_crop_of_one_row_takes_it_however_high_the_box() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([1, 2, 1, 7], Distribution::Default, device);
        let crop = |corners| {
            let config = CropAndResizeConfig::new([1, 5]);
            crop_and_resize(features.clone(), &one_box(device, corners), config).into_data()
        };
        let high = crop([-3e38, 0.9, 3e38, 0.25]);
        assert_eq!(high, crop([0.0, 0.9, 0.0, 0.25]), "{}", backend.name);
        assert!(high.iter::<f32>().all(|number| number != 0.0));
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
            let rois = Rois::new(boxes.clone().slice(range.clone()), images.clone().slice(range.clone()));
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
            let sensitive = ps_roi_pool(features.clone(), &rois, PsRoiPoolConfig::new([5, 5]));
            let [average, maximum] = configs.clone().map(|config| roi_align(features.clone(), &rois, config));
            [pooled, sensitive, average, maximum].map(Tensor::into_data)
        })
    };
    let alone = outputs(1);
    for threads in [2, 3, 8] {
        assert_eq!(outputs(threads), alone, "{threads} threads");
    }
}

/// Outputs large enough for threads of their own, and small ones.
#[test]
fn eight_threads_that_call_at_once_get_what_one_gets() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([2, 40, 20, 30], Distribution::Default, device);
        let boxes = Tensor::<2>::random([20, 4], Distribution::Uniform(-2.0, 32.0), device);
        let many = Rois::new(boxes, Tensor::<1, Int>::ones([20], device));
        let one = one_box(device, [1.0, 2.0, 17.5, 12.25]);
        let run = || {
            let small = roi_align(features.clone(), &one, RoiAlignConfig::new([5, 5]));
            let large = roi_align(features.clone(), &many, RoiAlignConfig::new([7, 7]));
            let pooled = roi_pool(features.clone(), &many, RoiPoolConfig::new([7, 7]));
            [small, large, pooled].map(Tensor::into_data)
        };
        let expected = run();
        std::thread::scope(|scope| {
            let calls = || (0..5).map(|_| run()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(calls)).collect();
            for thread in threads {
                for output in thread.join().expect("no panic") {
                    assert_eq!(output, expected, "{}", backend.name);
                }
            }
        });
    }
}

/// A call that panics, one whose output nobody reads, and one whose thread ends first.
#[test]
fn a_call_that_was_given_up_leaves_nothing_behind() {
    for backend in backends() {
        let device = &backend.device;
        let features = Tensor::<4>::random([1, 40, 20, 30], Distribution::Default, device);
        let boxes = Tensor::<2>::random([20, 4], Distribution::Uniform(-2.0, 32.0), device);
        let rois = Rois::from_images(vec![boxes]);
        let config = RoiAlignConfig::new([7, 7]);
        let run = || roi_align(features.clone(), &rois, config.clone());
        let expected = run().into_data();
        for _ in 0..20 {
            drop(run());
            std::thread::scope(|scope| {
                scope.spawn(|| drop(run()));
                let wrong = RoiAlignConfig::new([0, 7]);
                let panics = scope.spawn(|| roi_align(features.clone(), &rois, wrong));
                assert!(panics.join().is_err());
            });
        }
        assert_eq!(run().into_data(), expected, "{}", backend.name);
    }
}

/// `[channels, side of the map, side of the output, regions]` at either end, each beside the regions one by
/// one.
#[test]
fn least_and_largest_sizes() {
    let sizes = [
        [1, 1, 1, 1],
        [16_384, 1, 1, 3],
        [16_384, 5, 2, 2],
        [1, 1, 128, 2],
        [3, 40, 128, 2],
        [1, 4, 1, 100_000],
    ];
    for backend in backends() {
        let device = &backend.device;
        for [channels, side, output_side, count] in sizes {
            let shape = [1, channels, side, side];
            let features = Tensor::<4>::random(shape, Distribution::Default, device);
            let within = Distribution::Uniform(-1.0, side as f64 + 1.0);
            let boxes = Tensor::<2>::random([count, 4], within, device);
            let align = RoiAlignConfig::new([output_side; 2]).with_aligned(true);
            let pool = RoiPoolConfig::new([output_side; 2]);
            let run = |boxes: Tensor<2>| {
                let rois = Rois::from_images(vec![boxes]);
                [
                    roi_align(features.clone(), &rois, align.clone()),
                    roi_pool(features.clone(), &rois, pool.clone()),
                ]
            };
            let all = run(boxes.clone());
            for row in [0, count / 2, count - 1] {
                let alone = run(boxes.clone().narrow(0, row, 1));
                for (all, alone) in all.iter().zip(alone) {
                    assert_eq!(all.dims(), [count, channels, output_side, output_side]);
                    assert_eq!(
                        all.clone().narrow(0, row, 1).into_data(),
                        alone.into_data(),
                        "{}: row {row} of {shape:?}",
                        backend.name
                    );
                }
            }
        }
    }
}

/// A ramp, sampled between pixels, of more elements than are computed at once.
#[test]
fn a_large_output_is_right_everywhere() {
    let (side, [rows, columns]) = (40, [200, 150]);
    for backend in backends() {
        for (dtype, tolerance) in [(DType::F32, 1e-4), (DType::F16, 0.05)] {
            if !backend.supports(dtype) {
                continue;
            }
            let channels = 9;
            let value = |channel: usize, y: f32, x: f32| channel as f32 + y + x / 8.0;
            let numbers: Vec<f32> = (0..channels * side * side)
                .map(|index| {
                    let (pixel, channel) = (index % (side * side), index / (side * side));
                    value(channel, (pixel / side) as f32, (pixel % side) as f32)
                })
                .collect();
            let at = (&backend.device, dtype);
            let data = TensorData::new(numbers, [1, channels, side, side]);
            let features = Tensor::<4>::from_data(data.convert_dtype(dtype), at);
            let boxes = TensorData::from([[2.0f32, 1.0, 32.0, 26.0]]).convert_dtype(dtype);
            let rois = Rois::from_images(vec![Tensor::<2>::from_data(boxes, at)]);
            let config = RoiAlignConfig::new([rows, columns]).with_sampling_ratio(1);
            let output = roi_align(features, &rois, config).into_data();
            for (index, found) in output.iter::<f32>().enumerate() {
                let (row, column) = (index / columns % rows, index % columns);
                let y = 1.0 + (row as f32 + 0.5) * 25.0 / rows as f32;
                let x = 2.0 + (column as f32 + 0.5) * 30.0 / columns as f32;
                let expected = value(index / (rows * columns), y, x);
                assert!(
                    (found - expected).abs() <= tolerance,
                    "{}: {found} at {index}, not {expected}",
                    backend.name
                );
            }
        }
    }
}

/// One image of one channel, seen as billions of numbers: what is counted in elements passes 2^31 on a GPU,
/// where WGSL has no index beyond 2^32, and 2^35 on Flex. NdArray copies what it expands.
#[test]
fn features_of_billions_of_elements() {
    for backend in backends() {
        let [images, channels] = match backend.name {
            "ndarray" => continue,
            "flex" => [70_000, 40_000],
            _ => [50_000, 4000],
        };
        let device = &backend.device;
        let one = Tensor::<4>::random([1, 1, 4, 4], Distribution::Default, device);
        let boxes = || Tensor::<2>::from_floats([[0.5, 0.25, 3.0, 4.0]], device);
        let last = Tensor::<1, Int>::from_ints([images - 1], device);
        let config = RoiAlignConfig::new([2, 1]);
        let output = roi_align(
            one.clone().expand([images, channels, 4, 4]),
            &Rois::new(boxes(), last),
            config.clone(),
        );
        let expected = roi_align(one, &Rois::from_images(vec![boxes()]), config);
        let expected = expected.expand([1, channels, 2, 1]).into_data();
        assert_eq!(output.into_data(), expected, "{}", backend.name);
    }
}

/// A map whose last pixels lie beyond 2^31 numbers. The system gives memory to what is touched only.
#[cfg(feature = "flex")]
#[test]
fn pixels_beyond_2_to_the_31() {
    use burn::tensor::{Bytes, f16};
    let device = Device::flex();
    let side = 46_342;
    let mut numbers = vec![0u16; side * side];
    assert!(numbers.len() > 1 << 31);
    for row in side - 4..side {
        for column in side - 4..side {
            let value = (4 * (row + 4 - side) + column + 4 - side) as f32;
            numbers[row * side + column] = f16::from_f32(value).to_bits();
        }
    }
    let data = TensorData::from_bytes(Bytes::from_elems(numbers), [1, 1, side, side], DType::F16);
    let features = Tensor::<4>::from_data(data, (&device, DType::F16));
    // Whole pixels are exact in f16 at a scale that makes the box small; a spatial scale of 1 would need
    // boxes of 46,342, which f16 rounds to multiples of 32.
    let boxes = [[1.0f32, 1.0, 1.0, 1.0]];
    let boxes = Tensor::<2>::from_data(TensorData::from(boxes), (&device, DType::F16));
    let rois = Rois::from_images(vec![boxes]);
    let config = RoiAlignConfig::new([2, 2])
        .with_spatial_scale((side - 3) as f64)
        .with_sampling_ratio(1);
    let output = roi_align(features.clone(), &rois, config).into_data();
    // From pixel 46,339, a pixel long at least: samples a quarter and three quarters into it.
    let expected = [6.25, 6.75, 8.25, 8.75];
    assert_eq!(output.iter::<f32>().collect::<Vec<_>>(), expected);
    let config = RoiPoolConfig::new([1, 1]).with_spatial_scale((side - 1) as f64);
    let output = roi_pool(features, &rois, config).into_data();
    assert_eq!(output.iter::<f32>().collect::<Vec<_>>(), [15.0]);
}
