//! What frameworks' backward passes get wrong, and conventions that are theirs alone.

use burn::tensor::{Device, Tensor};
use burn_roi::*;

use crate::backends::backends;

fn map(device: &Device, channels: usize) -> Tensor<4> {
    let numbers = crate::problem::random_numbers(4, channels * 36);
    Tensor::from_data(burn::tensor::TensorData::new(numbers, [1, channels, 6, 6]), device)
}

fn numbers<const D: usize>(tensor: Option<Tensor<D>>) -> Vec<f32> {
    tensor.expect("a gradient").into_data().iter::<f32>().collect()
}

fn gradient_of_features(
    device: &Device,
    channels: usize,
    corners: [f32; 4],
    call: impl Fn(Tensor<4>, &Rois) -> Tensor<4>,
) -> Vec<f32> {
    let features = map(device, channels).require_grad();
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats([corners], device)]);
    let gradients = call(features.clone(), &rois).sum().backward();
    numbers(features.grad(&gradients))
}

/// The gradient of a box on a map whose pixels are their columns' numbers.
fn gradient_of_box(device: &Device, corners: [f32; 4], call: impl Fn(Tensor<4>, &Rois) -> Tensor<4>) -> Vec<f32> {
    let ramp: Vec<f32> = (0..36).map(|pixel| (pixel % 6) as f32).collect();
    let ramp = Tensor::<1>::from_floats(ramp.as_slice(), device).reshape([1, 1, 6, 6]);
    let boxes = Tensor::<2>::from_floats([corners], device).require_grad();
    let rois = Rois::from_images(vec![boxes.clone()]);
    let gradients = call(ramp, &rois).sum().backward();
    numbers(boxes.grad(&gradients))
}

/// torchvision's `ps_roi_pool` ends its bins before the last row and column, and its gradient does not.
#[test]
fn the_gradient_of_ps_roi_pool_is_that_of_its_bins() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let config = torchvision::PsRoiPool::new([1, 1]);
        let whole_map = [0.0, 0.0, 6.0, 6.0];
        let own = gradient_of_features(&device, 1, whole_map, |map, rois| {
            ps_roi_pool(map, rois, config.clone())
        });
        let theirs = gradient_of_features(&device, 1, whole_map, |map, rois| {
            ps_roi_pool(map, rois, config.clone().with_torchvision_gradient(true))
        });
        let inside = |pixel: usize| pixel % 6 < 5 && pixel / 6 < 5;
        let expected: Vec<f32> = (0..36)
            .map(|pixel| if inside(pixel) { 1.0 / 25.0 } else { 0.0 })
            .collect();
        let close = |found: &[f32], expected: &[f32]| {
            found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-6)
        };
        assert!(close(&own, &expected), "{}: {own:?}", backend.name);
        assert!(close(&theirs, &[1.0 / 36.0; 36]), "{}: {theirs:?}", backend.name);
    }
}

/// torchvision divides 0 by 0 for an adaptive number of samples of an empty region.
#[test]
fn an_empty_region_of_ps_roi_align_has_no_gradient() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let config = PsRoiAlignConfig::new([2, 2]).with_sampling_ratio(0);
        let found = gradient_of_features(&device, 4, [3.0, 3.0, 3.0, 3.0], |map, rois| {
            ps_roi_align(map, rois, config.clone())
        });
        assert_eq!(found, [0.0; 144], "{}", backend.name);
    }
}

/// A sample on a pixel has the slope to the next one; TensorFlow gives it none.
#[test]
fn a_sample_on_a_pixel_moves_to_the_next_but_in_tensorflow() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let of_box = |corners, call: &dyn Fn(Tensor<4>, &Rois) -> Tensor<4>| gradient_of_box(&device, corners, call);
        // The one sample lies at 2 along x.
        let align = RoiAlignConfig::new([1, 1]).with_aligned(true).with_sampling_ratio(1);
        let found = of_box([2.0, 2.0, 3.0, 3.0], &|map, rois| roi_align(map, rois, align.clone()));
        assert_eq!(found, [0.5, 0.0, 0.5, 0.0], "{}", backend.name);

        let crop = CropAndResizeConfig::new([1, 1]);
        let crop = |map, rois: &Rois| crop_and_resize(map, rois, crop.clone());
        assert_eq!(of_box([0.0, 0.0, 0.8, 0.8], &crop), [0.0; 4], "{}", backend.name);
        // A little further, at 2.05, the slope of 5 pixels a unit is shared by both ends.
        let found = of_box([0.0, 0.0, 0.82, 0.82], &crop);
        let expected = [0.0, 2.5, 0.0, 2.5];
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5),
            "{}: {found:?}",
            backend.name
        );
    }
}

/// DirectML's document: nearest pixels of four regions, with gradients 1 to 12.
#[test]
fn directml_roi_align_grad_gives_what_its_document_says() {
    let config = RoiAlignConfig::from(directml::RoiAlign1OperatorDesc {
        output_size: [1, 3],
        reduction_function: directml::ReduceFunction::Average,
        interpolation_mode: directml::InterpolationMode::NearestNeighbor,
        spatial_scale_x: 1.0,
        spatial_scale_y: 1.0,
        input_pixel_offset: 0.5,
        output_pixel_offset: -0.5,
        out_of_bounds_input_value: 0.0,
        minimum_samples_per_output: 1,
        maximum_samples_per_output: 1,
        align_regions_to_corners: false,
    });
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let features = Tensor::<4>::zeros([1, 1, 4, 4], &device).require_grad();
        let boxes = [
            [0.0, 0.0, 2.0, 2.0],
            [2.0, 0.0, 4.0, 2.0],
            [0.0, 2.0, 2.0, 4.0],
            [2.0, 2.0, 4.0, 4.0],
        ];
        let rois = Rois::from_images(vec![Tensor::<2>::from_floats(boxes, &device)]);
        let weights: Vec<f32> = (1..=12).map(|number| number as f32).collect();
        let weights = Tensor::<1>::from_floats(weights.as_slice(), &device).reshape([4, 1, 1, 3]);
        let gradients = (roi_align(features.clone(), &rois, config.clone()) * weights)
            .sum()
            .backward();
        let found = numbers(features.grad(&gradients));
        let expected = [[3.0, 3.0, 9.0, 6.0], [0.0; 4], [15.0, 9.0, 21.0, 12.0], [0.0; 4]];
        assert_eq!(found, expected.concat(), "{}", backend.name);
    }
}

/// Of equal pixels the first wins, row by row, as in torchvision; one in a bin of nothing but the lowest does not.
#[test]
fn the_first_of_equal_pixels_wins() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let pixels = [0.0, 7.0, 1.0, 7.0, 7.0, 2.0, 1.0, 7.0, 7.0];
        let features = Tensor::<1>::from_floats(pixels, &device)
            .reshape([1, 1, 3, 3])
            .require_grad();
        let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0]], &device)]);
        let gradients = roi_pool(features.clone(), &rois, RoiPoolConfig::new([1, 1]))
            .sum()
            .backward();
        let found = numbers(features.grad(&gradients));
        assert_eq!(found, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{}", backend.name);
    }
}

/// A region of exactly the least length moves with both of its ends, as `torch.clamp` does at its limit.
#[test]
fn only_a_region_below_the_least_length_is_held_there() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let align = RoiAlignConfig::new([1, 1]).with_aligned(false).with_sampling_ratio(1);
        let of_length = |length: f32| {
            let corners = [2.25, 2.0, 2.25 + length, 4.0];
            gradient_of_box(&device, corners, |map, rois| roi_align(map, rois, align.clone()))
        };
        assert_eq!(of_length(1.0), [0.5, 0.0, 0.5, 0.0], "{}", backend.name);
        assert_eq!(of_length(0.5), [1.0, 0.0, 0.0, 0.0], "{}", backend.name);
    }
}
