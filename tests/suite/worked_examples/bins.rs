//! Bins of whole pixels.

use std::ops::Range;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;

use super::{assert_near, read, weights};
use crate::backends::backends;

/// The bins of a region in `count` elements on a map of 10 columns.
fn bins(config: &RoiPoolConfig, ends: [f32; 2], count: usize, device: &Device) -> Vec<Range<usize>> {
    let config = RoiPoolConfig {
        output_size: [1, count],
        ..config.clone()
    };
    let found = weights(device, 10, &[ends], |features, rois| {
        roi_pool(features, rois, config.clone())
    });
    found[0].iter().map(|element| read(element)).collect()
}

#[test]
fn bins_overlap_are_held_within_the_map_and_may_be_empty() {
    for backend in backends() {
        let device = &backend.device;
        let torchvision: RoiPoolConfig = torchvision::RoiPool::new([1, 1]).with_spatial_scale(0.5).into();
        let bins_of = |ends| bins(&torchvision, ends, 3, device);
        // 0.5 and 3.5 round away from zero: pixels 1 to 4. And -0.5 rounds to -1.
        assert_eq!(bins_of([1.0, 7.0]), [1..3, 2..4, 3..5]);
        assert_eq!(bins_of([-1.0, 3.0]), [0..1, 0..2, 1..3]);
        assert_eq!(bins_of([40.0, 60.0]), [0..0, 0..0, 0..0]);
        // An inverted region is one pixel here, and no pixel in DirectML.
        assert_eq!(bins_of([9.0, 1.0]), [5..6, 5..6, 5..6]);
        let directml: RoiPoolConfig = directml::RoiPoolingOperatorDesc::new(0.5, [1, 1]).into();
        assert_eq!(bins(&directml, [9.0, 1.0], 3, device), [0..0, 0..0, 0..0]);
        // 57 pixels in 7 bins: torchvision rounds the length of a bin.
        let last = |config: RoiPoolConfig| {
            let found = weights(device, 100, &[[0.0, 56.0]], |features, rois| {
                roi_pool(features, rois, config.clone())
            });
            read(&found[0][6])
        };
        assert_eq!(last(torchvision::RoiPool::new([1, 7]).into()), 48..58);
        assert_eq!(last(directml::RoiPoolingOperatorDesc::new(1.0, [1, 7]).into()), 48..57);
    }
}

/// In f64, pixels may be smaller than the least f32, which torchvision starts with.
#[test]
fn a_maximum_of_smaller_pixels_is_what_it_starts_from() {
    use MaximumFrom::{Least, LeastSingle, NegativeInfinity};
    let least_single = f64::from(f32::MIN);
    for backend in backends() {
        for (dtype, pixel, expected) in [
            (DType::F64, -1e300, [least_single, -1e300, -1e300]),
            (
                DType::F64,
                f64::NEG_INFINITY,
                [least_single, f64::MIN, f64::NEG_INFINITY],
            ),
            (DType::F64, f64::NAN, [least_single, f64::MIN, f64::NEG_INFINITY]),
            (
                DType::F32,
                f64::NEG_INFINITY,
                [least_single, least_single, f64::NEG_INFINITY],
            ),
            (DType::F32, f64::NAN, [least_single, least_single, f64::NEG_INFINITY]),
        ] {
            if !backend.supports(dtype) {
                continue;
            }
            let tensor = |numbers| TensorData::new::<f64, _>(numbers, [1, 4]);
            let features = Tensor::<2>::from_data(tensor(vec![pixel; 4]), (&backend.device, dtype));
            let boxes = Tensor::<2>::from_data(tensor(vec![0.0, 0.0, 2.0, 0.0]), (&backend.device, dtype));
            let rois = Rois::from_images(vec![boxes]);
            let found = [LeastSingle, Least, NegativeInfinity].map(|start| {
                let config = RoiPoolConfig::new([1, 1]).with_maximum_from(start);
                let pooled = roi_pool(features.clone().reshape([1, 1, 1, 4]), &rois, config);
                pooled.into_data().iter::<f64>().next().expect("there is one element")
            });
            assert_eq!(found, expected, "{}: {dtype:?}, pixels of {pixel}", backend.name);
        }
    }
}

/// As torchvision 0.29 gives on a map of 6 pixels, of which it never reads the last.
#[test]
fn position_sensitive_bins_end_before_the_last_pixel() {
    for backend in backends() {
        // A second row, since the last one is not read.
        let bin = |ends: [f32; 2], size: usize, config: PsRoiPoolConfig| {
            let found = weights(&backend.device, size, &[ends], |features, rois| {
                let features = features.repeat_dim(2, 2);
                ps_roi_pool(features, rois, config.clone())
            });
            (read(&found[0][0]), found[0][0].iter().sum::<f32>())
        };
        let torchvision = || PsRoiPoolConfig::from(torchvision::PsRoiPool::new([1, 1]));
        for (ends, expected) in [
            ([0.0, 6.0], 0..5),
            ([4.0, 5.0], 4..5),
            ([5.0, 6.0], 0..0),
            // An empty or an inverted region has one pixel.
            ([2.0, 2.0], 2..3),
            ([4.0, 2.0], 4..5),
        ] {
            let (found, sum) = bin(ends, 6, torchvision());
            assert_eq!(found, expected, "{ends:?}");
            assert_near(
                &[sum],
                &[if expected.is_empty() { 0.0 } else { 1.0 }],
                "the sum of weights",
            );
        }
        assert_eq!(bin([0.0, 1.0], 1, torchvision()).0, 0..0);
    }
}

/// As OpenVINO's `PSROIPooling` and Paddle's `psroi_pool` have it.
#[test]
fn a_box_that_is_rounded_before_it_is_scaled_begins_inside_a_pixel() {
    for backend in backends() {
        let bin = |ends: [f32; 2], config: PsRoiPoolConfig| {
            let found = weights(&backend.device, 10, &[ends], |features, rois| {
                ps_roi_pool(features, rois, config.clone())
            });
            read(&found[0][0])
        };
        let paddle = |scale| PsRoiPoolConfig::from(paddle::PsRoiPool::new([1, 1]).with_spatial_scale(scale));
        // From 1 / 4 to (6 + 1) / 4; an inverted region is a tenth of a pixel long.
        for (ends, expected) in [
            ([1.4, 5.6], 0..2),
            ([8.0, 2.0], 2..3),
            ([40.0, 48.0], 0..0),
            ([-9.0, -6.0], 0..0),
        ] {
            assert_eq!(bin(ends, paddle(0.25)), expected, "{ends:?}");
        }
        // With 1 added before it is rounded, 0.49999997 becomes 1.5 and then 2.
        assert_eq!(bin([0.0, 0.499_999_97], paddle(1.0)), 0..1);
        let openvino = openvino::PsRoiPoolingAverage::new(1, 1.0).into();
        assert_eq!(bin([0.0, 0.499_999_97], openvino), 0..2);
    }
}
