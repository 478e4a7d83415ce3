//! Pyramids by any operator: each region is what the operator gives on its level.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::*;

use crate::agreement::largest_error;
use crate::backends::backends;
use crate::bad_input::refuses;
use crate::problem::random_numbers;

const SCALES: [f64; 3] = [0.5, 0.25, 0.125];

fn maps(channels: usize, device: &Device) -> Vec<Tensor<4>> {
    let map = |level: usize| {
        let shape = [1, channels, 32 >> level, 40 >> level];
        let numbers = random_numbers(level as u64, shape.iter().product());
        Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
    };
    (0..3).map(map).collect()
}

fn levels() -> PyramidConfig {
    PyramidConfig::new().with_canonical_scale(16.0).with_canonical_level(2)
}

/// Boxes of the three levels, one after another: 8, 24 and 60 pixels wide.
fn upright(device: &Device) -> Rois {
    let boxes = [[3.0, 4.0, 11.0, 12.0], [8.0, 8.0, 32.0, 32.0], [2.0, 1.0, 62.0, 61.0]];
    Rois::from_images(vec![Tensor::<2>::from_floats(boxes, device)])
}

fn rotated(device: &Device) -> RotatedRois {
    let boxes = [
        [7.0, 8.0, 8.0, 8.0, 0.4],
        [20.0, 20.0, 24.0, 24.0, 1.0],
        [32.0, 31.0, 60.0, 60.0, -2.0],
    ];
    RotatedRois::from_images(vec![Tensor::<2>::from_floats(boxes, device)])
}

/// Compares a pyramid with the operator on each level, whose row is that of the level.
fn check(name: &str, pyramid: Tensor<4>, level: impl Fn(usize) -> Tensor<4>) {
    for row in 0..3 {
        let expected = level(row).slice_dim(0, row..row + 1).into_data();
        let found = pyramid.clone().slice_dim(0, row..row + 1).into_data();
        let error = largest_error(&found, &expected);
        assert!(error <= 1e-6, "{name}: region {row}: {error:e}");
        assert!(
            expected.iter::<f32>().any(|number| number != 0.0),
            "{name}: region {row} is empty"
        );
    }
}

/// Normalized boxes are the same on all maps, and so is the operator.
#[test]
fn each_normalized_region_is_pooled_on_its_level() {
    for backend in backends() {
        let device = &backend.device;
        let (plain, of_parts, scales) = (maps(3, device), maps(12, device), &SCALES);
        let rois = Rois::from_images(vec![upright(device).boxes() / 64.0]);
        let levels = || levels().with_canonical_scale(0.25);
        let name = |operator: &str| format!("{}: {operator}", backend.name);

        let config = || CropAndResizeConfig::new([2, 2]);
        let pooled = multi_scale_pool(plain.clone(), &rois, scales, config(), levels());
        check(&name("crop_and_resize"), pooled, |level| {
            crop_and_resize(plain[level].clone(), &rois, config())
        });

        let config = || PsCropAndResizeConfig::new([2, 2], [2, 2]);
        let pooled = multi_scale_pool(of_parts.clone(), &rois, scales, config(), levels());
        check(&name("ps_crop_and_resize"), pooled, |level| {
            ps_crop_and_resize(of_parts[level].clone(), &rois, config())
        });
    }
}

/// Regions with offsets, by type parameter.
#[test]
fn each_region_with_offsets_is_pooled_on_its_level() {
    for backend in backends() {
        let device = &backend.device;
        let (maps, rois) = (maps(3, device), upright(device));
        let offsets = Tensor::<4>::from_data(
            TensorData::new(random_numbers(9, 3 * 2 * 4), [3, 2, 2, 2]),
            (device, DType::F32),
        );
        let config = |scale: f64| DeformRoiPoolConfig::new([2, 2]).with_spatial_scale(scale);
        let regions = primitive::RegionTensors::from(&rois).with_offsets(offsets.clone().into_dispatch());
        let of_levels = maps.iter().map(|map| map.clone().into_dispatch()).collect();
        let pooled = primitive::multi_scale_pool::<Dispatch>(of_levels, regions, &SCALES, config(1.0), levels());
        check(backend.name, Tensor::from_dispatch(pooled), |level| {
            let config = config(SCALES[level]);
            deform_roi_pool(maps[level].clone(), &rois, Some(offsets.clone()), config)
        });
    }
}

#[test]
fn each_region_is_pooled_on_its_level() {
    for backend in backends() {
        let device = &backend.device;
        let (upright, rotated, scales) = (upright(device), rotated(device), &SCALES);
        let (plain, of_elements) = (maps(3, device), maps(12, device));
        let name = |operator: &str| format!("{}: {operator}", backend.name);

        let config = |scale: f64| RoiPoolConfig::new([2, 2]).with_spatial_scale(scale);
        let pooled = multi_scale_pool(plain.clone(), &upright, scales, config(1.0), levels());
        check(&name("roi_pool"), pooled, |level| {
            roi_pool(plain[level].clone(), &upright, config(SCALES[level]))
        });

        let config = |scale: f64| PsRoiAlignConfig::new([2, 2]).with_spatial_scale(scale);
        let pooled = multi_scale_pool(of_elements.clone(), &upright, scales, config(1.0), levels());
        check(&name("ps_roi_align"), pooled, |level| {
            ps_roi_align(of_elements[level].clone(), &upright, config(SCALES[level]))
        });

        let config = |scale: f64| PsRoiPoolConfig::new([2, 2]).with_spatial_scale(scale);
        let pooled = multi_scale_pool(of_elements.clone(), &upright, scales, config(1.0), levels());
        check(&name("ps_roi_pool"), pooled, |level| {
            ps_roi_pool(of_elements[level].clone(), &upright, config(SCALES[level]))
        });

        let config = |scale: f64| PrRoiPoolConfig::new([2, 2]).with_spatial_scale(scale);
        let pooled = multi_scale_pool(plain.clone(), &upright, scales, config(1.0), levels());
        check(&name("prroi_pool"), pooled, |level| {
            prroi_pool(plain[level].clone(), &upright, config(SCALES[level]))
        });

        let config = |scale: f64| RoiAlignRotatedConfig::new([2, 2]).with_spatial_scale(scale);
        let pooled = multi_scale_pool(plain.clone(), &rotated, scales, config(1.0), levels());
        check(&name("roi_align_rotated"), pooled, |level| {
            roi_align_rotated(plain[level].clone(), &rotated, config(SCALES[level]))
        });

        let align = RoiAlignConfig::new([2, 2]);
        let pooled = multi_scale_pool(plain.clone(), &upright, scales, align.clone(), levels());
        let config = MultiScaleRoiAlignConfig::new(align)
            .with_canonical_scale(16.0)
            .with_canonical_level(2);
        let expected = multi_scale_roi_align(plain, &upright, scales, config);
        assert_eq!(pooled.into_data(), expected.into_data(), "{}", backend.name);
    }
}

/// On a device that is not read, a row that names no image or is not finite gives 0 on every level.
#[test]
fn a_region_of_no_image_gives_0() {
    for backend in backends().iter().filter(|backend| !backend.is_host()) {
        let device = &backend.device;
        let boxes = [
            [7.0, 8.0, 8.0, 8.0, 0.4],
            [32.0, 31.0, 60.0, 60.0, 0.4],
            [7.0, 8.0, 8.0, 8.0, f32::NAN],
            [f32::NAN, 8.0, 60.0, 60.0, 0.4],
            [32.0, 31.0, f32::NAN, 60.0, 0.4],
        ];
        let images = Tensor::<1, Int>::from_ints([7, -1, 0, 0, 0], device);
        let rois = RotatedRois::new(Tensor::<2>::from_floats(boxes, device), images);
        let config = RoiAlignRotatedConfig::new([2, 2]);
        // What lies in memory that was used before would be seen.
        for _ in 0..3 {
            drop(Tensor::<4>::ones([5, 3, 2, 2], device).into_data());
            let pooled = multi_scale_pool(maps(3, device), &rois, &SCALES, config.clone(), levels()).into_data();
            assert!(
                pooled.iter::<f32>().all(|number| number == 0.0),
                "{}: {pooled}",
                backend.name
            );
        }
    }
}

#[test]
fn scales_of_levels_are_checked() {
    let device = &backends()[0].device;
    let call = |scales: &[f64], config: RoiAlignRotatedConfig| {
        try_multi_scale_pool(maps(3, device), &rotated(device), scales, config, levels())
    };
    let config = RoiAlignRotatedConfig::new([2, 2]);
    refuses(
        "`features` has 3 maps and `scales` has 2 numbers, but both must have one for each level, and there must be a \
        level",
        || call(&[0.5, 0.25], config.clone()),
    );
    refuses("`spatial_scale` is 0, but must be finite and above 0", || {
        call(&SCALES, config.clone().with_spatial_scale(0.0))
    });
    refuses("`canonical_scale` is 0, but must be 0.000001 to 1000000", || {
        let levels = levels().with_canonical_scale(0.0);
        try_multi_scale_pool(maps(3, device), &rotated(device), &SCALES, config.clone(), levels)
    });
}

/// Operators whose features are converted, and those whose features are not.
#[test]
fn levels_have_one_dtype() {
    for backend in backends().iter().filter(|backend| backend.supports(DType::F16)) {
        let device = &backend.device;
        let mut maps = maps(4, device);
        maps[1] = maps[1].clone().cast(DType::F16);
        let text = "`features` is of dtype F16, but must be of F32, as `features[0]` is";
        let config = RoiAlignRotatedConfig::new([2, 2]);
        refuses(text, || {
            try_multi_scale_pool(maps.clone(), &rotated(device), &SCALES, config.clone(), levels())
        });
        let config = RiRoiAlignRotatedConfig::new([2, 2]).with_orientations(4);
        refuses(text, || {
            try_multi_scale_pool(maps.clone(), &rotated(device), &SCALES, config.clone(), levels())
        });
    }
}
