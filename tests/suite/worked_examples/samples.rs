//! Samples between pixels.

use burn::tensor::{Device, Int, Tensor};
use burn_roi::openvino::{AlignedMode, Mode, RoiAlign9};
use burn_roi::*;

use super::{assert_near, middle, weights};
use crate::backends::backends;

/// The middles of the elements of one region on a map of 10 columns.
fn middles(config: impl Into<RoiAlignConfig>, ends: [f32; 2], device: &Device) -> Vec<f32> {
    let config = config.into();
    let found = weights(device, 10, &[ends], |features, rois| {
        roi_align(features, rois, config.clone())
    });
    found[0].iter().map(|element| middle(element)).collect()
}

#[test]
fn samples_lie_where_the_frameworks_put_them() {
    for backend in backends() {
        let check = |config: RoiAlignConfig, ends: [f32; 2], expected: &[f32]| {
            let found = middles(config.clone(), ends, &backend.device);
            assert_near(&found, expected, &format!("{config:?} at {ends:?}"));
        };
        // Over the first two pixels: aligned, their centres.
        let torchvision = torchvision::RoiAlign::new([1, 2]).with_sampling_ratio(1);
        check(torchvision.clone().with_aligned(true).into(), [0.0, 2.0], &[0.0, 1.0]);
        check(torchvision.into(), [0.0, 2.0], &[0.5, 1.5]);
        // An empty region has one pixel, no sample, or one.
        check(torchvision::RoiAlign::new([1, 1]).into(), [3.0, 3.0], &[3.5]);
        check(
            torchvision::RoiAlign::new([1, 1]).with_aligned(true).into(),
            [3.0, 3.0],
            &[0.0],
        );
        let between = Sampling::Clamped { minimum: 1, maximum: 4 };
        let aligned = |size| RoiAlignConfig::new([1, size]).with_aligned(true);
        check(aligned(1).with_sampling(between), [3.0, 3.0], &[2.5]);
        for arithmetic in [Arithmetic::FromElements, Arithmetic::FromRegion] {
            let config = aligned(2).with_sampling_ratio(1).with_arithmetic(arithmetic);
            check(config.clone(), [0.0, 4.0], &[0.5, 2.5]);
            check(config, [4.0, 0.0], &[2.5, 0.5]);
        }
        // Corners are reached, and a lone sample takes the middle.
        let corners = |size| {
            let config = aligned(size).with_sampling_ratio(1).with_align_corners(true);
            config.with_output_pixel_offset(0.0)
        };
        check(corners(3), [0.5, 4.5], &[0.0, 2.0, 4.0]);
        check(corners(1), [0.5, 4.5], &[2.0]);
        // DirectML's document of `ROI_ALIGN_GRAD`: two pixels to three. It rounds a half down, and TensorFlow up.
        let nearest = aligned(3)
            .with_sampling_ratio(1)
            .with_interpolation(Interpolation::Nearest);
        check(
            nearest.with_arithmetic(Arithmetic::FromRegion),
            [0.0, 2.0],
            &[0.0, 0.0, 1.0],
        );
        let crop = CropAndResizeConfig::new([1, 3]).with_method(Interpolation::Nearest);
        let found = weights(&backend.device, 2, &[[0.0, 1.0]], |features, rois| {
            crop_and_resize(features, rois, crop.clone().with_box_format(BoxFormat::Xyxy))
        });
        assert_eq!(
            found[0].iter().map(|element| middle(element)).collect::<Vec<_>>(),
            [0.0, 1.0, 1.0]
        );
        // DirectML gives pixel 0 at position -0.9375, with no blend: it is held within the map.
        check(aligned(1).with_sampling_ratio(1), [-0.9375, 0.0625], &[0.0]);
        check(aligned(1).with_sampling_ratio(1), [10.0, 11.0], &[9.0]);
    }
}

/// The largest sample of an element tells how many there are.
#[test]
fn a_region_on_the_grid_has_whole_counts() {
    for backend in backends() {
        for (length, samples) in [
            (7.0f32, 1.0f32),
            (14.0, 2.0),
            (14.000001, 3.0),
            (13.999999, 2.0),
            (70.0, 10.0),
        ] {
            let ramp = Tensor::<1, Int>::arange(0..80, &backend.device)
                .float()
                .reshape([1, 1, 1, 80]);
            let boxes = Tensor::<2>::from_floats([[0.5, 0.0, 0.5 + length, 1.0]], &backend.device);
            let config = RoiAlignConfig::new([1, 7])
                .with_aligned(true)
                .with_reduction(Reduction::Max);
            let pooled = roi_align(ramp, &Rois::from_images(vec![boxes]), config).into_data();
            let first = pooled.iter::<f32>().next().expect("there is an element");
            let expected = length / 7.0 * (1.0 - 0.5 / samples);
            assert!((first - expected).abs() < 1e-3, "{}: {length}: {first}", backend.name);
        }
    }
}

/// The offset is subtracted last: 15.5 stays 15.5, whose nearest pixel is 15.
#[test]
fn directml_subtracts_the_input_pixel_offset_last() {
    for backend in backends() {
        let config = RoiAlignConfig::new([1, 1])
            .with_aligned(true)
            .with_sampling_ratio(1)
            .with_interpolation(Interpolation::Nearest)
            .with_arithmetic(Arithmetic::FromRegion);
        let ends: Vec<[f32; 2]> = (0..20_000)
            .map(|step| step as f32 / 7.0)
            .map(|start| [start, 32.0 - start])
            .collect();
        let found = weights(&backend.device, 33, &ends, |features, rois| {
            roi_align(features, rois, config.clone())
        });
        let (mut ties, mut moved) = (0, 0);
        for ([start, end], found) in ends.into_iter().zip(found) {
            let position = (0.5 * (end - start) + start) - 0.5;
            // A half is rounded down.
            assert_eq!(middle(&found[0]), (position - 0.5).ceil(), "{}: {start}", backend.name);
            ties += (position == 15.5) as u32;
            moved += ((start - 0.5) + 0.5 * (end - start) != position) as u32;
        }
        assert!(ties > 0 && moved > 0);
    }
}

/// The share of each element's samples that are in bounds.
fn shares(config: impl Into<RoiAlignConfig>, ends: [f32; 2], columns: usize, device: &Device) -> Vec<f32> {
    let config = config.into();
    let found = weights(device, columns, &[ends], |features, rois| {
        roi_align(features, rois, config.clone())
    });
    found[0].iter().map(|element| element.iter().sum()).collect()
}

#[test]
fn bounds_are_one_pixel_beyond_or_the_pixels_centres() {
    for backend in backends() {
        let device = &backend.device;
        // An empty region of a pixel: its sample lies half a pixel after its start.
        let one = RoiAlignConfig::new([1, 1]).with_sampling_ratio(1);
        for (start, expected) in [(-1.5, 1.0), (-1.500001, 0.0), (4.5, 1.0), (4.500001, 0.0)] {
            assert_near(
                &shares(one.clone(), [start; 2], 5, device),
                &[expected],
                &format!("at {start}"),
            );
        }
        for (place, expected) in [(0.0, 1.0), (-1e-6, 0.0), (1.0, 1.0), (1.000001, 0.0)] {
            let config = CropAndResizeConfig::new([1, 1]).with_box_format(BoxFormat::Xyxy);
            let found = weights(device, 5, &[[place; 2]], |features, rois| {
                crop_and_resize(features, rois, config.clone())
            });
            assert_near(&[found[0][0].iter().sum()], &[expected], &format!("a crop at {place}"));
        }
        let aligned = torchvision::RoiAlign::new([1, 4]).with_aligned(true);
        assert_near(
            &shares(aligned, [-4.0, 13.0], 10, device),
            &[0.2, 1.0, 1.0, 0.4],
            "aligned",
        );
    }
}

/// Boxes at which the frameworks disagree about a sample at the border, as measured.
#[test]
fn the_order_of_arithmetic_decides_a_sample_at_the_border() {
    struct Border {
        attributes: RoiAlign9,
        columns: usize,
        ends: [f32; 2],
        element: usize,
        /// How many samples are in bounds by shares of elements, and by steps.
        counts: [f32; 2],
    }
    let border = |mode, size, scale, ratio, columns, ends, element, counts| Border {
        attributes: RoiAlign9::new(1, size, ratio, scale, Mode::Avg).with_aligned_mode(mode),
        columns,
        ends,
        element,
        counts,
    };
    let borders = [
        border(
            AlignedMode::HalfPixelForNn,
            6,
            0.25,
            5,
            27,
            [-80.666_664, -0.666_666_7],
            5,
            [1.0, 0.0],
        ),
        border(
            AlignedMode::Asymmetric,
            9,
            0.0625,
            7,
            14,
            [-154.807_79, 122.807_79],
            4,
            [4.0, 3.0],
        ),
        border(
            AlignedMode::HalfPixel,
            9,
            1.0,
            5,
            26,
            [2.916_658_9, -4.916_659],
            4,
            [2.0, 3.0],
        ),
    ];
    for backend in backends() {
        for Border {
            attributes,
            columns,
            ends,
            element,
            counts,
        } in &borders
        {
            let by_steps = RoiAlignConfig::from(attributes.clone());
            let by_shares = by_steps.clone().with_arithmetic(Arithmetic::FromElements);
            for (config, count) in [by_shares, by_steps].into_iter().zip(counts) {
                let found = shares(config, *ends, *columns, &backend.device)[*element];
                assert_near(&[found], &[count / attributes.sampling_ratio as f32], backend.name);
            }
        }
        let torchvision = torchvision::RoiAlign::new([1, 2]).with_spatial_scale(0.0625);
        let found = shares(torchvision, [-65.333_336, 116.0], 3, &backend.device);
        // Of six samples.
        assert_near(&found, &[3.0 / 6.0, 2.0 / 6.0], backend.name);
    }
}
