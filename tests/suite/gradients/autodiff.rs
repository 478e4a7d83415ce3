//! Autodiff devices: what is recorded, and what is not.

use burn::tensor::{DType, Device, Tensor};
use burn_roi::*;

use crate::backends::backends;
use crate::problem::Operator;

fn features(device: &Device, size: [usize; 2]) -> Tensor<4> {
    let [height, width] = size;
    let numbers = crate::problem::random_numbers(9, 3 * height * width);
    let data = burn::tensor::TensorData::new(numbers, [1, 3, height, width]);
    Tensor::from_data(data, (device, DType::F32))
}

fn boxes(device: &Device) -> Tensor<2> {
    Tensor::from_floats(
        [[3.0, 4.0, 21.0, 17.0], [0.5, 1.5, 60.0, 50.0], [-9.0, 2.0, 14.0, 70.0]],
        device,
    )
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Both strategies of checkpointing give the same gradients, of features that were computed themselves.
#[test]
fn both_checkpointing_strategies_give_the_same() {
    for backend in backends() {
        for reduction in [Reduction::Average, Reduction::Max] {
            let config = RoiAlignConfig::new([3, 4]).with_aligned(true).with_reduction(reduction);
            let run = |device: Device| {
                let map = features(&device, [20, 24]).require_grad();
                let boxes = boxes(&device).require_grad();
                let rois = Rois::from_images(vec![boxes.clone()]);
                let pooled = roi_align(map.clone().mul_scalar(2.0).exp(), &rois, config.clone());
                let gradients = pooled.powf_scalar(2.0).sum().backward();
                let of_boxes = boxes.grad(&gradients).expect("a gradient of boxes");
                (
                    numbers(map.grad(&gradients).expect("a gradient of features")),
                    numbers(of_boxes),
                )
            };
            let kept = run(backend.device.clone().autodiff());
            let again = run(backend.device.clone().autodiff().gradient_checkpointing());
            assert_eq!(kept, again, "{}", backend.name);
            assert!(kept.0.iter().any(|&number| number != 0.0) && kept.1.iter().any(|&number| number != 0.0));
        }
    }
}

/// Each level of a pyramid gets the gradient of its own regions, and a box that of its level.
#[test]
fn levels_get_the_gradients_of_their_regions() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let sizes = [[32, 40], [16, 20], [8, 10]];
        let maps = sizes.map(|size| features(&device, size).require_grad());
        let corners = boxes(&device).require_grad();
        let rois = Rois::from_images(vec![corners.clone()]);
        let align = RoiAlignConfig::new([2, 3]).with_aligned(true).with_sampling_ratio(2);
        let config = MultiScaleRoiAlignConfig::new(align.clone())
            .with_canonical_scale(20.0)
            .with_canonical_level(1);
        let scales = [1.0, 0.5, 0.25];
        let pooled = multi_scale_roi_align(maps.to_vec(), &rois, &scales, config);
        let gradients = pooled.clone().powf_scalar(2.0).sum().backward();

        // The same, region by region, on the level that its output is from.
        let mut levels_used = 0;
        let mut of_maps = maps.each_ref().map(|map| vec![0.0; map.shape().num_elements()]);
        let mut of_boxes = Vec::new();
        for row in 0..3 {
            let expected = numbers(pooled.clone().narrow(0, row, 1));
            let level = (0..3).find(|&level| {
                let alone = boxes(&device).narrow(0, row, 1);
                let config = align.clone().with_spatial_scale(scales[level]);
                numbers(roi_align(maps[level].clone(), &Rois::from_images(vec![alone]), config)) == expected
            });
            let level = level.expect("a region is of one level");
            levels_used |= 1 << level;
            let map = features(&device, sizes[level]).require_grad();
            let alone = boxes(&device).narrow(0, row, 1).require_grad();
            let config = align.clone().with_spatial_scale(scales[level]);
            let output = roi_align(map.clone(), &Rois::from_images(vec![alone.clone()]), config);
            let gradients = output.powf_scalar(2.0).sum().backward();
            let of_map = numbers(map.grad(&gradients).expect("a gradient"));
            of_maps[level]
                .iter_mut()
                .zip(of_map)
                .for_each(|(sum, number)| *sum += number);
            of_boxes.extend(numbers(alone.grad(&gradients).expect("a gradient")));
        }
        assert!(
            levels_used != 1 && levels_used != 2 && levels_used != 4,
            "more than one level"
        );
        let close = |found: Vec<f64>, expected: &[f64]| {
            found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() <= 1e-4 * expected.abs().max(1.0))
        };
        for (map, expected) in maps.iter().zip(&of_maps) {
            let found = numbers(map.grad(&gradients).expect("a gradient of each level"));
            assert!(close(found, expected), "{}", backend.name);
        }
        let found = numbers(corners.grad(&gradients).expect("a gradient of boxes"));
        assert!(close(found, &of_boxes), "{}", backend.name);
    }
}

/// Features on an autodiff device and boxes on the inner one go together, as do features that need no gradient and
/// boxes that do.
#[test]
fn an_input_that_is_not_tracked_has_no_gradient() {
    for backend in backends() {
        let autodiff = backend.device.clone().autodiff();
        let config = RoiAlignConfig::new([2, 2]).with_sampling_ratio(2);
        let map = features(&autodiff, [20, 24]).require_grad();
        let rois = Rois::from_images(vec![boxes(&backend.device)]);
        let gradients = roi_align(map.clone(), &rois, config.clone()).sum().backward();
        assert!(map.grad(&gradients).is_some());

        let map = features(&autodiff, [20, 24]);
        let corners = boxes(&autodiff).require_grad();
        let rois = Rois::from_images(vec![corners.clone()]);
        let gradients = roi_align(map.clone(), &rois, config.clone()).sum().backward();
        assert!(map.grad(&gradients).is_none() && corners.grad(&gradients).is_some());
    }
}

/// Where boxes move nothing, their gradient is 0, not an error.
#[test]
fn nearest_pixels_and_bins_do_not_move_with_boxes() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let operators = [
            Operator::RoiAlign(RoiAlignConfig::new([2, 2]).with_interpolation(Interpolation::Nearest)),
            Operator::RoiPool(RoiPoolConfig::new([2, 2])),
        ];
        for operator in operators {
            let corners = boxes(&device).require_grad();
            let map = features(&device, [20, 24]).require_grad();
            let rois = Rois::from_images(vec![corners.clone()]);
            let output = operator.call(map, &rois).expect("the call is right");
            let gradients = output.sum().backward();
            let of_boxes = numbers(corners.grad(&gradients).expect("a gradient"));
            assert_eq!(of_boxes, [0.0; 12], "{}", backend.name);
        }
    }
}

/// A picture without regions trains as one with them does: its loss is part of the graph.
#[test]
fn no_region_gives_gradients_of_zeros() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let map = features(&device, [20, 24]).require_grad();
        let corners = Tensor::<2>::zeros([0, 4], &device).require_grad();
        let rois = Rois::from_images(vec![corners.clone()]);
        let pooled = roi_align(map.clone(), &rois, RoiAlignConfig::new([3, 4]));
        assert_eq!(pooled.dims(), [0, 3, 3, 4]);
        let gradients = pooled.sum().backward();
        let of_map = map.grad(&gradients).expect("a gradient of features");
        assert_eq!(of_map.dims(), map.dims());
        assert!(numbers(of_map).iter().all(|&number| number == 0.0), "{}", backend.name);
        let of_boxes = corners.grad(&gradients).expect("a gradient of boxes");
        assert_eq!(of_boxes.dims(), [0, 4]);
    }
}
