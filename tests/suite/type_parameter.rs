//! The operators by type parameter give what the functions on `Tensor` give.

use burn::backend::DispatchKindConversion;
use burn::backend::DispatchTensor;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{Device, Float, Int, Tensor};
use burn_roi::*;

use crate::backends::backends;

/// A head that is written once for all backends.
fn head<B: RoiBackend>(
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    rotated_boxes: FloatTensor<B>,
    offsets: FloatTensor<B>,
    batch_indices: IntTensor<B>,
) -> Vec<FloatTensor<B>> {
    use primitive::{RegionTensors, multi_scale_pool, pool};
    let arguments = || {
        (
            features.clone(),
            RegionTensors::new(boxes.clone(), batch_indices.clone()),
        )
    };
    let (f, r) = arguments();
    let aligned = pool::<B>(f, r, RoiAlignConfig::from(torchvision::RoiAlign::new([3, 2])));
    let (f, r) = arguments();
    let pooled = pool::<B>(f, r, RoiPoolConfig::from(torchvision::RoiPool::new([3, 2])));
    let (f, r) = arguments();
    let cropped = pool::<B>(f, r, CropAndResizeConfig::new([3, 2]));
    let (f, r) = arguments();
    let config = MultiScaleRoiAlignConfig::from(torchvision::MultiScaleRoiAlign::new([3, 2]));
    let of_level = multi_scale_pool::<B>(vec![f], r, &[1.0], config.roi_align.clone(), config.pyramid());
    let (f, r) = arguments();
    let ps_aligned = pool::<B>(f, r, PsRoiAlignConfig::from(torchvision::PsRoiAlign::new([1, 5])));
    let (f, r) = arguments();
    let ps_pooled = pool::<B>(f, r, PsRoiPoolConfig::from(torchvision::PsRoiPool::new([5, 1])));
    let (f, r) = arguments();
    let precise = pool::<B>(f, r, PrRoiPoolConfig::from(mmcv::PrRoiPool::new([3, 2])));
    let (f, r) = arguments();
    let parts = pool::<B>(f, r, PsCropAndResizeConfig::new([3, 2], [1, 5]));
    let (f, r) = arguments();
    let deformed = pool::<B>(f, r, DeformRoiPoolConfig::new([3, 2]));
    let (f, r) = arguments();
    let (levels, scales) = (vec![f.clone(), f], [1.0, 0.5]);
    let of_levels = multi_scale_pool::<B>(levels, r, &scales, RoiPoolConfig::new([3, 2]), PyramidConfig::new());
    let (f, r) = arguments();
    let deformed_classes = pool::<B>(f, r.with_offsets(offsets), deform_ps());
    let turning = || {
        (
            features.clone(),
            RegionTensors::new(rotated_boxes.clone(), batch_indices.clone()),
        )
    };
    let (f, r) = turning();
    let turned = pool::<B>(f, r, turned());
    let (f, r) = turning();
    let turned_levels = multi_scale_pool::<B>(vec![f.clone(), f], r, &scales, self::turned(), PyramidConfig::new());
    vec![
        aligned,
        pooled,
        cropped,
        of_level,
        ps_aligned,
        ps_pooled,
        precise,
        parts,
        deformed,
        of_levels,
        deformed_classes,
        turned,
        turned_levels,
    ]
}

/// Two classes, of one channel each; one channel of the features is not read.
fn deform_ps() -> DeformPsRoiPoolConfig {
    DeformPsRoiPoolConfig::new([2, 1], 2).with_part_size([1, 2])
}

fn turned() -> RiRoiAlignRotatedConfig {
    RiRoiAlignRotatedConfig::new([3, 2]).with_orientations(5)
}

fn check<B: RoiBackend>(device: &Device)
where
    DispatchTensor: DispatchKindConversion<B>,
    Float: burn::tensor::BackendPrimitive<B, Primitive = FloatTensor<B>>,
    Int: burn::tensor::BackendPrimitive<B, Primitive = IntTensor<B>>,
{
    let features = Tensor::<4>::random([2, 5, 9, 11], burn::tensor::Distribution::Default, device);
    let boxes = Tensor::<2>::from_floats([[0.1, 0.2, 0.9, 0.8], [1.0, 2.0, 7.0, 6.0]], device);
    let rois = Rois::new(boxes.clone(), Tensor::<1, Int>::from_ints([1, 0], device));
    let rotated_boxes =
        Tensor::<2>::from_floats([[4.0, 4.0, 6.0, 3.0, 0.7], [150.0, 100.0, 400.0, 300.0, -9.0]], device);
    let rotated = RotatedRois::new(rotated_boxes.clone(), rois.batch_indices());
    let offsets = Tensor::<4>::random([2, 4, 1, 2], burn::tensor::Distribution::Default, device);
    let outputs = head::<B>(
        features
            .clone()
            .try_into_primitive::<B>()
            .expect("features of this backend"),
        boxes.try_into_primitive::<B>().expect("boxes of this backend"),
        rotated_boxes.try_into_primitive::<B>().expect("boxes of this backend"),
        offsets
            .clone()
            .try_into_primitive::<B>()
            .expect("offsets of this backend"),
        rois.batch_indices()
            .try_into_primitive::<B>()
            .expect("indices of this backend"),
    );
    let expected = [
        roi_align(features.clone(), &rois, torchvision::RoiAlign::new([3, 2])),
        roi_pool(features.clone(), &rois, torchvision::RoiPool::new([3, 2])),
        crop_and_resize(features.clone(), &rois, CropAndResizeConfig::new([3, 2])),
        roi_align(features.clone(), &rois, torchvision::RoiAlign::new([3, 2])),
        ps_roi_align(features.clone(), &rois, torchvision::PsRoiAlign::new([1, 5])),
        ps_roi_pool(features.clone(), &rois, torchvision::PsRoiPool::new([5, 1])),
        prroi_pool(features.clone(), &rois, mmcv::PrRoiPool::new([3, 2])),
        ps_crop_and_resize(features.clone(), &rois, PsCropAndResizeConfig::new([3, 2], [1, 5])),
        deform_roi_pool(features.clone(), &rois, None, DeformRoiPoolConfig::new([3, 2])),
        multi_scale_pool(
            vec![features.clone(), features.clone()],
            &rois,
            &[1.0, 0.5],
            RoiPoolConfig::new([3, 2]),
            PyramidConfig::new(),
        ),
        deform_ps_roi_pool(features.clone(), &rois, Some(offsets), deform_ps()),
        riroi_align_rotated(features.clone(), &rotated, turned()),
        // Each box on the level of its size.
        Tensor::cat(
            [(0, 1.0), (1, 0.5)]
                .map(|(row, scale)| {
                    let pooled = riroi_align_rotated(features.clone(), &rotated, turned().with_spatial_scale(scale));
                    pooled.slice_dim(0, row..row + 1)
                })
                .into(),
            0,
        ),
    ];
    assert_eq!(outputs.len(), expected.len());
    for (output, expected) in outputs.into_iter().zip(expected) {
        let output = Tensor::<4>::from_primitive::<B>(output);
        assert_eq!(output.into_data(), expected.into_data());
    }
}

#[test]
fn operators_by_type_parameter_are_those_on_tensors() {
    for backend in backends() {
        match backend.name {
            #[cfg(feature = "flex")]
            "flex" => check::<burn::backend::Flex>(&backend.device),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)]
            "ndarray" => check::<burn::backend::NdArray>(&backend.device),
            #[cfg(feature = "remote")]
            "remote" => check::<burn::backend::Remote>(&backend.device),
            #[cfg(feature = "cube")]
            _ => check::<burn::backend::Cube>(&backend.device),
            #[cfg(not(feature = "cube"))]
            name => panic!("{name} is not known"),
        }
    }
}
