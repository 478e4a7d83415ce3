//! Outputs that no memory holds, and maps that are larger than usual.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Int, Tensor};
use burn_roi::*;

use crate::backends::{Backend, backends};
use crate::bad_input::refuses;

/// Features `[1, channels, 1, 1]`, and as many boxes; one number each, where the backend need not copy what it expands.
fn call(device: &Device, channels: usize, count: usize) -> (Tensor<4>, Rois) {
    let features = Tensor::<4>::ones([1, 1, 1, 1], device).expand([1, channels, 1, 1]);
    let boxes = Tensor::<2>::ones([1, 4], device).expand([count, 4]);
    let indices = Tensor::<1, Int>::zeros([1], device).expand([count]);
    (features, Rois::new(boxes, indices))
}

fn text(shape: [usize; 4]) -> String {
    format!("the output would have shape {shape:?} of F32, but must fit into the memory of its device")
}

/// A server refuses by itself, when the output is read.
fn checks_memory(backend: &Backend) -> bool {
    backend.name != "remote"
}

#[test]
fn outputs_of_two_to_the_64th_elements_and_of_other_products_that_wrap_are_errors() {
    let cases = [
        (65_536, 1 << 20, [16_384, 16_384]),
        (65_536, 1 << 18, [16_384, 16_384]),
        (181_978, 97_574, [32_007, 32_458]),
    ];
    for backend in backends().iter().filter(|backend| checks_memory(backend)) {
        for (channels, count, size) in cases {
            let (features, rois) = call(&backend.device, channels, count);
            let text = text([count, channels, size[0], size[1]]);
            refuses(&text, || {
                try_roi_align(features.clone(), &rois, RoiAlignConfig::new(size))
            });
            refuses(&text, || {
                try_roi_pool(features.clone(), &rois, RoiPoolConfig::new(size))
            });
            refuses(&text, || {
                try_crop_and_resize(features.clone(), &rois, CropAndResizeConfig::new(size))
            });
            refuses(&text, || {
                try_prroi_pool(features.clone(), &rois, PrRoiPoolConfig::new(size))
            });
            refuses(&text, || {
                let offsets = None;
                try_deform_roi_pool(features.clone(), &rois, offsets, DeformRoiPoolConfig::new(size))
            });
            refuses(&text, || {
                let config = MultiScaleRoiAlignConfig::new(RoiAlignConfig::new(size));
                try_multi_scale_roi_align(vec![features.clone()], &rois, &[1.0], config)
            });
            refuses(&text, || {
                primitive::try_pool::<Dispatch>(
                    features.clone().into_dispatch(),
                    (&rois).into(),
                    RoiAlignConfig::new(size),
                )
                .map(Tensor::<4>::from_dispatch)
            });
        }
    }
}

#[test]
fn an_output_of_a_terabyte_is_an_error() {
    for backend in backends().iter().filter(|backend| checks_memory(backend)) {
        let features = Tensor::<4>::ones([1, 256, 8, 8], &backend.device);
        let rois = Rois::from_images(vec![Tensor::<2>::ones([1, 4], &backend.device)]);
        let size = [32_767, 32_767];
        let text = text([1, 256, 32_767, 32_767]);
        refuses(&text, || {
            try_roi_align(features.clone(), &rois, RoiAlignConfig::new(size))
        });
        refuses(&text, || {
            try_roi_pool(features.clone(), &rois, RoiPoolConfig::new(size))
        });
    }
}

#[test]
fn an_output_without_images_is_as_large() {
    for backend in backends().iter().filter(|backend| checks_memory(backend)) {
        let features = Tensor::<4>::ones([0, 65_536, 4, 4], &backend.device);
        let (_, rois) = call(&backend.device, 1, 1 << 20);
        let size = [16_384, 16_384];
        refuses(&text([1 << 20, 65_536, 16_384, 16_384]), || {
            try_roi_align(features.clone(), &rois, RoiAlignConfig::new(size))
        });
    }
}

/// Burn multiplies the strides of an empty tensor, too.
#[test]
fn an_empty_output_whose_strides_wrap_is_an_error() {
    for backend in backends().iter().filter(|backend| checks_memory(backend)) {
        let features = Tensor::<4>::ones([0, 1_usize << 40, 1, 1], &backend.device);
        let rois = Rois::new(
            Tensor::<2>::zeros([0, 4], &backend.device),
            Tensor::<1, Int>::zeros([0], &backend.device),
        );
        refuses(&text([0, 1 << 40, 16_384, 16_384]), || {
            try_roi_align(features.clone(), &rois, RoiAlignConfig::new([16_384, 16_384]))
        });
    }
}

#[cfg(feature = "flex")]
#[test]
fn a_gradient_that_memory_does_not_hold_is_an_error() {
    let device = Device::flex();
    let features = Tensor::<4>::ones([1, 1, 4, 4], &device).expand([1_usize << 50, 1, 4, 4]);
    let rois = Rois::from_images(vec![Tensor::<2>::ones([1, 4], &device)]);
    let backward = primitive::try_backward::<Dispatch>(
        Tensor::<4>::ones([1, 1, 2, 2], &device).into_dispatch(),
        features.into_dispatch(),
        (&rois).into(),
        RoiAlignConfig::new([2, 2]),
    );
    let text = "the gradient of `features` would have shape [1125899906842624, 1, 4, 4] of F32, but must fit into the \
        memory of its device";
    assert_eq!(backward.expect_err("no memory holds it").to_string(), text);
}

/// Regions in opposite corners, so that the gradient's sums are as wide as the map, of 2 GiB that nothing else touches.
#[cfg(feature = "flex")]
#[test]
fn the_gradient_of_roi_pool_on_a_map_of_two_to_the_29th_pixels() {
    let (device, [height, width]) = (Device::flex(), [32_768, 16_384]);
    let mut features = Tensor::<4>::zeros([1, 1, height, width], (&device, DType::F32));
    let corners = [[5, 3], [height - 2, width - 4]];
    for [y, x] in corners {
        let one = Tensor::ones([1, 1, 1, 1], &device);
        features = features.slice_assign([0..1, 0..1, y..y + 1, x..x + 1], one);
    }
    let [low, high] = [
        [0.0, 0.0, 9.0, 9.0],
        [width as f32 - 10.0, height as f32 - 10.0, width as f32, height as f32],
    ];
    let boxes = Tensor::<2>::from_floats([low, high], &device);
    let rois = Rois::from_images(vec![boxes]);
    let backward = primitive::backward::<Dispatch>(
        Tensor::<4>::from_floats([[[[2.0]]], [[[3.0]]]], &device).into_dispatch(),
        features.into_dispatch(),
        (&rois).into(),
        RoiPoolConfig::new([1, 1]),
    );
    let gradient = Tensor::<4>::from_dispatch(backward.features());
    for ([y, x], expected) in corners.into_iter().zip([2.0, 3.0]) {
        let around = gradient.clone().slice([0..1, 0..1, y - 1..y + 2, x - 1..x + 2]);
        let found: Vec<f32> = around.into_data().iter::<f32>().collect();
        assert_eq!(found, [0.0, 0.0, 0.0, 0.0, expected, 0.0, 0.0, 0.0, 0.0]);
    }
}
