//! Feature pyramids: which level a region belongs to, and that it is pooled there as `roi_align` pools it.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;
use crate::bad_input::{on_every_backend, panics, refuses};

const SCALES: [f64; 4] = [0.5, 0.25, 0.125, 0.0625];

/// Two images, three channels, and four levels of an image of 64 x 80.
fn pyramid(device: &Device, dtype: DType) -> Vec<Tensor<4>> {
    levels(4, device, dtype)
}

fn levels(count: usize, device: &Device, dtype: DType) -> Vec<Tensor<4>> {
    let map = |level: usize| {
        let shape = [2, 3, 32 >> level, 40 >> level];
        let count = shape.iter().product();
        let value = |index: usize| ((index * 37 + level * 11) % 101) as f32 / 50.0 - 1.0;
        let data = TensorData::new((0..count).map(value).collect::<Vec<f32>>(), shape);
        Tensor::from_data(data.convert_dtype(dtype), (device, dtype))
    };
    (0..count).map(map).collect()
}

fn rois(boxes: &[[f32; 4]], device: &Device, dtype: DType) -> Rois {
    let flat: Vec<f32> = boxes.iter().flatten().copied().collect();
    let data = TensorData::new(flat, [boxes.len(), 4]).convert_dtype(dtype);
    let images: Vec<i32> = (0..boxes.len() as i32).map(|row| row % 2).collect();
    let images = TensorData::new(images, [boxes.len()]);
    Rois::new(
        Tensor::<2>::from_data(data, (device, dtype)),
        Tensor::<1, Int>::from_data(images, device),
    )
}

fn config() -> MultiScaleRoiAlignConfig {
    let roi_align = RoiAlignConfig::new([3, 2]).with_sampling_ratio(2);
    MultiScaleRoiAlignConfig::new(roi_align)
        .with_canonical_scale(16.0)
        .with_canonical_level(2)
}

/// Boxes with the level, counted from the finest, of a pyramid whose canonical_level 2 has sides of 16.
const BOXES: [([f32; 4], usize); 10] = [
    ([3.0, 4.0, 7.5, 9.0], 0),
    ([0.0, 0.0, 79.0, 63.0], 3),
    ([8.0, 8.0, 24.0, 24.0], 1),
    // A hundredth smaller in area than the canonical one.
    ([8.0, 8.0, 24.0, 23.84], 0),
    ([20.0, 10.0, 60.0, 40.0], 2),
    ([-500.0, -500.0, 900.0, 900.0], 3),
    ([5.0, 5.0, 5.0, 30.0], 0),
    // Inverted along one axis: an area below 0.
    ([30.0, 5.0, 10.0, 30.0], 0),
    ([-3e38, -3e38, 3e38, 3e38], 3),
    ([8.0, 8.0, 40.0, 40.0], 2),
];

#[test]
fn a_region_is_pooled_from_its_level_as_roi_align_pools_it() {
    for backend in backends() {
        for dtype in [DType::F32, DType::F16, DType::F64] {
            // The largest box is infinite in f16.
            let boxes: Vec<_> = BOXES
                .iter()
                .filter(|(sides, _)| dtype != DType::F16 || sides[3] < 1e5)
                .collect();
            if !backend.supports(dtype) {
                continue;
            }
            let maps = pyramid(&backend.device, dtype);
            let all: Vec<_> = boxes.iter().map(|(sides, _)| *sides).collect();
            let all = rois(&all, &backend.device, dtype);
            let pooled = multi_scale_roi_align(maps.clone(), &all, &SCALES, config());
            assert_eq!(pooled.dims(), [boxes.len(), 3, 3, 2]);
            for (row, (_, level)) in boxes.iter().enumerate() {
                let config = config().roi_align.with_spatial_scale(SCALES[*level]);
                let alone = roi_align(maps[*level].clone(), &all, config);
                assert_eq!(
                    pooled.clone().narrow(0, row, 1).into_data(),
                    alone.narrow(0, row, 1).into_data(),
                    "{}: row {row} in {dtype:?}",
                    backend.name
                );
            }
        }
    }
}

/// A GPU pools up to four together.
#[test]
fn a_pyramid_has_any_number_of_levels() {
    for backend in backends() {
        let boxes = BOXES.map(|(sides, _)| sides);
        let all = rois(&boxes, &backend.device, DType::F32);
        for count in 1..=5 {
            let maps = levels(count, &backend.device, DType::F32);
            let scales: Vec<f64> = (0..count).map(|level| 0.5 / f64::from(1 << level)).collect();
            let pooled = multi_scale_roi_align(maps.clone(), &all, &scales, config());
            for (row, [x1, y1, x2, y2]) in boxes.iter().map(|sides| sides.map(f64::from)).enumerate() {
                let side = ((x2 - x1) * (y2 - y1)).max(0.0).sqrt();
                // The canonical level 2 is the second from the finest.
                let level = 1.0 + (side / 16.0).log2().floor();
                let level = level.clamp(0.0, (count - 1) as f64) as usize;
                let config = config().roi_align.with_spatial_scale(scales[level]);
                let alone = roi_align(maps[level].clone(), &all, config);
                assert_eq!(
                    pooled.clone().narrow(0, row, 1).into_data(),
                    alone.narrow(0, row, 1).into_data(),
                    "{}: row {row} of {count} levels",
                    backend.name
                );
            }
        }
    }
}

#[test]
fn maps_of_any_strides_and_regions_that_share_no_level() {
    for backend in backends() {
        let maps = pyramid(&backend.device, DType::F32);
        let mut permuted: Vec<_> = maps
            .iter()
            .map(|map| {
                let last = map.clone().permute([0, 2, 3, 1]);
                // An addition gives a tensor that lies in memory as it is seen.
                last.add_scalar(0.0).permute([0, 3, 1, 2])
            })
            .collect();
        // Each level is read by its own strides.
        permuted[2] = maps[2].clone();
        for boxes in [&BOXES[..1], &BOXES[1..2], &BOXES[..0]] {
            let boxes: Vec<_> = boxes.iter().map(|(sides, _)| *sides).collect();
            let rois = rois(&boxes, &backend.device, DType::F32);
            let expected = multi_scale_roi_align(maps.clone(), &rois, &SCALES, config());
            let output = multi_scale_roi_align(permuted.clone(), &rois, &SCALES, config());
            assert_eq!(output.dims(), [boxes.len(), 3, 3, 2]);
            assert_eq!(output.into_data(), expected.into_data(), "{}", backend.name);
        }
    }
}

/// The area next below the canonical one: torchvision's epsilon takes it up, detectron2's does not.
#[test]
fn torchvision_and_detectron2_differ_by_one_float() {
    for backend in backends() {
        let maps = pyramid(&backend.device, DType::F32);
        let side = 16.0f32.next_down();
        let rois = rois(
            &[[0.0, 0.0, 16.0, side], [0.0, 0.0, 16.0, 16.0]],
            &backend.device,
            DType::F32,
        );
        let pool = |config: MultiScaleRoiAlignConfig| {
            let config = config.with_canonical_scale(16.0).with_canonical_level(2);
            multi_scale_roi_align(maps.clone(), &rois, &SCALES, config)
        };
        let on_level = |level: usize, config: RoiAlignConfig| {
            roi_align(maps[level].clone(), &rois, config.with_spatial_scale(SCALES[level]))
        };
        let torchvision: MultiScaleRoiAlignConfig = torchvision::MultiScaleRoiAlign::new([3, 2]).into();
        let detectron2: MultiScaleRoiAlignConfig = detectron2::RoiPooler::new([3, 2]).into();
        assert_eq!(
            pool(torchvision.clone()).into_data(),
            on_level(1, torchvision.roi_align).into_data()
        );
        let rows = [
            on_level(0, detectron2.roi_align.clone()).narrow(0, 0, 1),
            on_level(1, detectron2.roi_align.clone()).narrow(0, 1, 1),
        ];
        assert_eq!(pool(detectron2).into_data(), Tensor::cat(rows.into(), 0).into_data());
    }
}

#[test]
fn a_pyramid_of_one_level_has_any_scale() {
    for backend in backends() {
        let map = pyramid(&backend.device, DType::F32).remove(0);
        let boxes: Vec<_> = BOXES.iter().map(|(sides, _)| *sides).collect();
        let rois = rois(&boxes, &backend.device, DType::F32);
        let output = multi_scale_roi_align(vec![map.clone()], &rois, &[0.3], config());
        let expected = roi_align(map, &rois, config().roi_align.with_spatial_scale(0.3));
        assert_eq!(output.into_data(), expected.into_data());
    }
}

/// With levels that follow the order of the maps, scales are any.
#[test]
fn levels_can_follow_the_order_of_the_maps() {
    for backend in backends() {
        let scales = [0.3, 0.2, 0.7, 0.05];
        let maps = pyramid(&backend.device, DType::F32);
        let all = rois(&BOXES.map(|(sides, _)| sides), &backend.device, DType::F32);
        let config = config().with_canonical_level(1).with_first_level(Some(0));
        let pooled = multi_scale_roi_align(maps.clone(), &all, &scales, config.clone());
        for (row, (_, level)) in BOXES.iter().enumerate() {
            let config = config.roi_align.clone().with_spatial_scale(scales[*level]);
            let alone = roi_align(maps[*level].clone(), &all, config).narrow(0, row, 1);
            let found = pooled.clone().narrow(0, row, 1);
            assert_eq!(found.into_data(), alone.into_data(), "{}: row {row}", backend.name);
        }
    }
}

#[test]
fn a_box_without_area_can_belong_to_no_level() {
    for backend in backends() {
        let device = &backend.device;
        let maps = pyramid(device, DType::F32);
        let all = rois(&BOXES.map(|(sides, _)| sides), device, DType::F32);
        let mut config = config();
        config.roi_align = config.roi_align.with_out_of_bounds_value(7.0);
        let usual = multi_scale_roi_align(maps.clone(), &all, &SCALES, config.clone());
        let pooled = multi_scale_roi_align(maps.clone(), &all, &SCALES, config.with_pools_empty(false));
        for (row, (sides, _)) in BOXES.iter().enumerate() {
            let [usual, found] = [&usual, &pooled].map(|all| all.clone().narrow(0, row, 1));
            let expected = match (sides[2] - sides[0]) * (sides[3] - sides[1]) > 0.0 {
                true => usual,
                false => usual.full_like(7.0),
            };
            assert_eq!(found.into_data(), expected.into_data(), "{}: row {row}", backend.name);
        }
    }
}

#[cfg(feature = "autodiff")]
#[test]
fn a_box_that_belongs_to_no_level_has_no_gradient() {
    for backend in backends() {
        let device = &backend.device.clone().autodiff();
        let gradients = |boxes: &[[f32; 4]], config: MultiScaleRoiAlignConfig| {
            let maps: Vec<_> = pyramid(device, DType::F32)
                .into_iter()
                .map(Tensor::require_grad)
                .collect();
            let corners = rois(boxes, device, DType::F32).boxes().require_grad();
            let all = Rois::new(corners.clone(), Tensor::<1, Int>::zeros([boxes.len()], device));
            let output = multi_scale_roi_align(maps.clone(), &all, &SCALES, config);
            let gradients = output.powf_scalar(2.0).sum().backward();
            let of_maps = maps
                .iter()
                .map(|map| map.grad(&gradients).expect("a gradient").into_data());
            (
                of_maps.collect::<Vec<_>>(),
                corners.grad(&gradients).expect("a gradient").into_data(),
            )
        };
        let (area, none) = ([8.0, 8.0, 24.0, 24.0], [5.0, 5.0, 5.0, 30.0]);
        let (maps, boxes) = gradients(&[area, none], config().with_pools_empty(false));
        let (expected_maps, expected_boxes) = gradients(&[area], config());
        assert_eq!(maps, expected_maps, "{}", backend.name);
        let numbers: Vec<f32> = boxes.iter().collect();
        let expected: Vec<f32> = expected_boxes.iter().chain([0.0; 4]).collect();
        assert_eq!(numbers, expected, "{}", backend.name);
    }
}

#[test]
fn what_was_pooled_before_stays_as_it_was() {
    for backend in backends() {
        let maps = pyramid(&backend.device, DType::F32);
        let boxes: Vec<_> = BOXES.iter().map(|(sides, _)| *sides).collect();
        let rois = rois(&boxes, &backend.device, DType::F32);
        let module = config().init();
        let first = module.forward(maps.clone(), &rois, &SCALES);
        let kept = first.clone().into_data();
        let second = module.forward(maps, &rois, &SCALES);
        assert_eq!(first.into_data(), kept);
        assert_eq!(second.into_data(), kept);
    }
}

#[test]
fn scales_are_inferred_from_the_largest_image() {
    let maps = [[200, 304], [100, 152], [50, 76], [25, 38]];
    assert_eq!(
        infer_scales(&maps, &[[800, 1216], [640, 1200]]),
        [0.25, 0.125, 0.0625, 0.03125]
    );
    // 24 / 65 and 40 / 105 are nearer to a half than to a quarter, as torchvision has it for padded images.
    assert_eq!(infer_scales(&[[24, 40]], &[[65, 105]]), [0.5]);
    let text = "`image_sizes` is an empty list, but must have one entry for each image";
    refuses(text, || try_infer_scales(&maps, &[]));
    let text = "`map_sizes` is [[0, 3]], but must be above 0 in height and in width";
    refuses(text, || try_infer_scales(&[[0, 3]], &[[4, 4]]));
    let text = "`image_sizes` is [[0, 3]], but must be above 0 in height and in width";
    panics(text, || infer_scales(&[[1, 3]], &[[0, 3]]));
}

#[test]
fn bad_pyramids() {
    on_every_backend(|backend| {
        let device = &backend.device;
        let maps = pyramid(device, DType::F32);
        let rois = rois(&[[8.0, 8.0, 24.0, 24.0]], device, DType::F32);
        let check = |text: &str, maps: &[Tensor<4>], scales: &[f64], config: MultiScaleRoiAlignConfig| {
            refuses(text, || {
                try_multi_scale_roi_align(maps.to_vec(), &rois, scales, config.clone())
            });
            panics(text, || {
                multi_scale_roi_align(maps.to_vec(), &rois, scales, config.clone())
            });
            panics(text, || config.init().forward(maps.to_vec(), &rois, scales));
        };
        let levels = "but both must have one for each level, and there must be a level";
        let text = format!("`features` has 0 maps and `scales` has 0 numbers, {levels}");
        check(&text, &[], &[], config());
        let text = format!("`features` has 4 maps and `scales` has 3 numbers, {levels}");
        check(&text, &maps, &SCALES[..3], config());

        for scales in [[0.5, 0.125], [0.3, 0.15], [0.25, 0.5], [0.0, 0.0], [-0.5, -0.25]] {
            let text = format!(
                "`scales` is {scales:?}, but must be powers of two between 2^-32 and 2^32, each half of the one before"
            );
            check(&text, &maps[..2], &scales, config());
        }
        let text = "`scales` is NaN, but must be finite and above 0";
        check(text, &maps[..1], &[f64::NAN], config());

        let other = vec![maps[0].clone(), Tensor::zeros([2, 4, 8, 8], device)];
        let text =
            "`features` has shape [2, 4, 8, 8], but must have shape [N, C, H, W], with the N and C of the first level";
        check(text, &other, &SCALES[..2], config());
        // Boxes of f32 go with features of both.
        if backend.supports(DType::F16) {
            let other = vec![maps[0].clone(), maps[1].clone().cast(DType::F16)];
            let text = "`features` is of dtype F16, but must be of F32, as `features[0]` is";
            check(text, &other, &SCALES[..2], config());
        }
        let other = vec![maps[0].clone(), Tensor::zeros([2, 3, 0, 8], device)];
        let text = "`features` has shape [2, 3, 0, 8], but height and width must be above 0 where there are regions";
        check(text, &other, &SCALES[..2], config());

        let text = "`canonical_scale` is 0, but must be 0.000001 to 1000000";
        check(text, &maps, &SCALES, config().with_canonical_scale(0.0));
        let text = "`canonical_level` is 33, but must be -32 to 32";
        check(text, &maps, &SCALES, config().with_canonical_level(33));
        let text = "`first_level` is -33, but must be -32 to 32";
        check(text, &maps, &SCALES, config().with_first_level(Some(-33)));
        let text = "`level_epsilon` is NaN, but must be 0 to 1";
        check(text, &maps, &SCALES, config().with_level_epsilon(f64::NAN));
        let text = "`ratio_epsilon` is 2, but must be 0 to 1";
        check(text, &maps, &SCALES, config().with_ratio_epsilon(2.0));
        let mut spoiled = config();
        spoiled.roi_align.output_size = [0, 2];
        let text = "`output_size` is [0, 2], but must be 1 to 32767 in height and in width";
        check(text, &maps, &SCALES, spoiled);
    });
}

#[test]
fn regions_that_name_nothing() {
    for backend in backends() {
        let device = &backend.device;
        let boxes = Tensor::<2>::from_floats(
            [
                [8.0, 8.0, 24.0, f32::NAN],
                [8.0, 8.0, 24.0, 24.0],
                [0.0, 0.0, 64.0, 64.0],
            ],
            device,
        );
        let rois = Rois::new(boxes, Tensor::<1, Int>::from_ints([0, 2, -1], device));
        let config = MultiScaleRoiAlignConfig::new(RoiAlignConfig::new([2, 2]).with_out_of_bounds_value(7.0));
        let output = try_multi_scale_roi_align(pyramid(device, DType::F32), &rois, &SCALES, config);
        match backend.is_host() {
            true => assert!(matches!(output, Err(RoiError::BoxNotFinite { row: 0, .. }))),
            false => {
                let output = output.expect("a device is not read").into_data();
                assert!(output.iter::<f32>().all(|number| number == 7.0), "{output}");
            }
        }
    }
}
