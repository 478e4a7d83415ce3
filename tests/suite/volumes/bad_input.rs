//! Bad input to volumes: each is an error that names the argument.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_roi::*;

use crate::backends::backends;

fn features(device: &Device) -> Tensor<5> {
    Tensor::ones([2, 3, 4, 5, 6], (device, DType::F32))
}

fn rois(device: &Device, boxes: &[[f32; 6]], images: &[i32]) -> Rois3d {
    let boxes = Tensor::<1>::from_floats(boxes.concat().as_slice(), device).reshape([boxes.len(), 6]);
    Rois3d::new(boxes, Tensor::<1, Int>::from_ints(images, device), BoxFormat3d::Xyxyzz)
}

const BOX: [f32; 6] = [1.0, 1.0, 4.0, 4.0, 1.0, 3.0];

#[test]
fn options_are_checked() {
    for backend in backends() {
        let (features, rois) = (features(&backend.device), rois(&backend.device, &[BOX], &[0]));
        let align = |config| {
            try_roi_align_3d(features.clone(), &rois, config)
                .expect_err("it is wrong")
                .to_string()
        };
        let config = RoiAlign3dConfig::new([2, 2, 2]);
        let size = "but must be 1 to 32767 along each axis, with height times width at most 32767; a maximum counts \
            its samples";
        for output_size in [
            [0, 2, 2],
            [2, 0, 2],
            [2, 2, 0],
            [32_768, 1, 1],
            [1, 182, 182],
            [1, usize::MAX, 2],
        ] {
            let expected = format!("`output_size` is {output_size:?}, {size}");
            assert_eq!(align(RoiAlign3dConfig::new(output_size)), expected);
            let pool = try_roi_pool_3d(features.clone(), &rois, RoiPool3dConfig::new(output_size));
            assert_eq!(pool.expect_err("it is wrong").to_string(), expected);
            let crop = try_crop_and_resize_3d(features.clone(), &rois, CropAndResize3dConfig::new(output_size));
            let expected = expected.replace("output_size", "crop_size");
            assert_eq!(crop.expect_err("it is wrong").to_string(), expected);
        }
        for axis in 0..3 {
            let mut scale = [1.0; 3];
            scale[axis] = -1.0;
            let expected = "`spatial_scale` is -1, but must be finite and above 0";
            assert_eq!(align(config.clone().with_spatial_scale(scale)), expected);
            let mut sampling = [Sampling::Fixed(1); 3];
            sampling[axis] = Sampling::Fixed(0);
            let expected = "`sampling` is Fixed(0), but must be 1 to 1024 fixed samples";
            assert_eq!(align(config.clone().with_sampling(sampling)), expected);
        }
        let largest = config.clone().with_reduction(Reduction::Max);
        let expected = "`sampling` is Adaptive, but must be Fixed for a maximum";
        assert_eq!(align(largest.clone()), expected);
        let expected = format!("`output_size` is [2, 2, 2], {size}");
        assert_eq!(align(largest.with_sampling_ratio(100)), expected);
        let expected = "`reduction` is MaxOfWeightedCorners, but must be Average, Max or MaxFromZero";
        assert_eq!(
            align(config.clone().with_reduction(Reduction::MaxOfWeightedCorners)),
            expected
        );
        let expected = "`minimum_length` is -1, but must be 0 or above";
        assert_eq!(align(config.with_minimum_length(Some(-1.0))), expected);
    }
}

#[test]
fn shapes_are_checked() {
    for backend in backends() {
        let device = &backend.device;
        let config = RoiAlign3dConfig::new([2, 2, 2]);
        for shape in [[1, 3, 0, 5, 6], [1, 3, 4, 0, 6], [1, 3, 4, 5, 0]] {
            let features = Tensor::<5>::zeros(shape, (device, DType::F32));
            let error = try_roi_align_3d(features.clone(), &rois(device, &[BOX], &[0]), config.clone());
            let expected = format!(
                "`features` has shape {shape:?}, but must have shape [N, C, D, H, W], with D, H and W above 0 where \
                there are regions"
            );
            assert_eq!(
                error.expect_err("it has no voxel").to_string(),
                expected,
                "{}",
                backend.name
            );
            let none = Rois3d::from_images(vec![Tensor::zeros([0, 6], (device, DType::F32))], BoxFormat3d::Zyxzyx);
            assert!(none.is_empty() && none.boxes().dims() == [0, 6]);
            let pooled = try_roi_align_3d(features, &none, config.clone()).expect("no region needs no voxel");
            assert_eq!(pooled.dims(), [0, 3, 2, 2, 2], "{}", backend.name);
        }
        let indices = Tensor::<1, Int>::zeros([1], device);
        let four = Rois3d::try_new(Tensor::zeros([1, 4], device), indices.clone(), BoxFormat3d::Xyxyzz);
        let expected = "`boxes` has shape [1, 4], but must have shape [K, 6]";
        assert_eq!(four.expect_err("it is no volume").to_string(), expected);
        let two = Rois3d::try_new(Tensor::zeros([2, 6], device), indices, BoxFormat3d::Xyxyzz);
        let expected = "`boxes` has 2 rows and `batch_indices` has 1, but both must have one for each region";
        assert_eq!(two.expect_err("an index is missing").to_string(), expected);
        let no_images = Rois3d::try_from_images(Vec::new(), BoxFormat3d::Xyxyzz);
        assert!(matches!(no_images, Err(RoiError::NoImages { argument: "boxes" })));
        // Fewer channels than 1 are no channels.
        let empty = Tensor::<5>::zeros([1, 0, 4, 5, 6], (device, DType::F32));
        let pooled = roi_align_3d(empty, &rois(device, &[BOX], &[0]), config.clone());
        assert_eq!(pooled.dims(), [1, 0, 2, 2, 2], "{}", backend.name);
    }
}

/// A host names the row. Other devices give the out-of-bounds value.
#[test]
fn regions_are_checked() {
    for backend in backends() {
        let device = &backend.device;
        let refuses = |boxes: &[[f32; 6]], images: &[i32], expected: &str| {
            let rois = rois(device, boxes, images);
            assert_eq!(rois.validate(1).expect_err("a region is wrong").to_string(), expected);
            let features = features(device).narrow(0, 0, 1);
            let config = RoiAlign3dConfig::new([1, 2, 3]).with_out_of_bounds_value(5.0);
            match try_roi_align_3d(features, &rois, config) {
                Err(error) => assert!(backend.is_host() && error.to_string() == expected, "{error}"),
                Ok(_) if backend.is_host() => panic!("{} takes a wrong region", backend.name),
                Ok(pooled) => {
                    let wrong = pooled.narrow(0, boxes.len() - 1, 1).into_data();
                    assert!(wrong.iter::<f32>().all(|number| number == 5.0), "{}", backend.name);
                }
            }
        };
        for (column, expected) in [
            (0, "`boxes` row 2 is [NaN, 1.0, 4.0, 4.0], but must be finite"),
            (4, "`boxes` row 2 has z1 NaN and z2 3, but both must be finite"),
            (5, "`boxes` row 2 has z1 1 and z2 NaN, but both must be finite"),
        ] {
            let mut wrong = BOX;
            wrong[column] = f32::NAN;
            refuses(&[BOX, BOX, wrong], &[0, 0, 0], expected);
        }
        let expected = "`batch_indices` row 1 is 1, but must be at least 0 and below the batch size 1";
        refuses(&[BOX, BOX], &[0, 1], expected);
    }
}
