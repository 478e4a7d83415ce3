//! Where elements read along an axis, by hand: examples from documents and from measured outputs of the frameworks.
//!
//! The features have a channel for each column of one row, which is 1 in that column. So an element is the list of the
//! weights that it gives to columns.

use std::ops::Range;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::openvino::{AlignedMode, Mode, RoiAlign9};
use burn_roi::*;

use crate::backends::backends;

/// The weights of columns in each element of regions along x, `[region][element][column]`. `pool` gets regions whose
/// rows are pixel 0.
fn weights(
    device: &Device,
    columns: usize,
    ends: &[[f32; 2]],
    pool: impl Fn(Tensor<4>, &Rois) -> Tensor<4>,
) -> Vec<Vec<Vec<f32>>> {
    let identity = Tensor::<2>::eye(columns, device).reshape([1, columns, 1, columns]);
    let boxes = ends.iter().flat_map(|&[low, high]| [low, 0.0, high, 1.0]).collect();
    let boxes = Tensor::<2>::from_data(TensorData::new::<f32, _>(boxes, [ends.len(), 4]), device);
    let rois = Rois::new(boxes, Tensor::<1, Int>::zeros([ends.len()], device));
    let pooled = pool(identity, &rois);
    let elements = pooled.dims()[3];
    let numbers: Vec<f32> = pooled.permute([0, 3, 1, 2]).into_data().iter::<f32>().collect();
    let regions = numbers.chunks(elements * columns);
    regions
        .map(|region| region.chunks(columns).map(<[f32]>::to_vec).collect())
        .collect()
}

/// The columns from the first that has a weight to the last.
fn read(element: &[f32]) -> Range<usize> {
    let first = element.iter().position(|&weight| weight != 0.0);
    let last = element.iter().rposition(|&weight| weight != 0.0);
    first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
}

/// The mean of the columns by their weights: where an element's samples lie in the middle.
fn middle(element: &[f32]) -> f32 {
    (0..).zip(element).map(|(column, weight)| column as f32 * weight).sum()
}

fn assert_near(found: &[f32], expected: &[f32], of: &str) {
    let near = |(found, expected): (&f32, &f32)| (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(near),
        "{of}: {found:?}, not {expected:?}"
    );
}

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

#[test]
fn precise_bins_weigh_hats() {
    for backend in backends() {
        let weights = |ends: [f32; 2], elements: usize, columns: usize| {
            let found = weights(&backend.device, columns, &[ends], |features, rois| {
                // Rows that are all the same, so that the weight along y is 1.
                let features = features.repeat_dim(2, 3);
                let boxes = rois
                    .boxes()
                    .add(Tensor::from_floats([[0.0, 0.5, 0.0, 0.5]], &backend.device));
                prroi_pool(
                    features,
                    &Rois::from_images(vec![boxes]),
                    PrRoiPoolConfig::new([1, elements]),
                )
            });
            found[0].clone()
        };
        let check = |found: &[Vec<f32>], expected: &[f32]| assert_near(&found.concat(), expected, backend.name);
        check(
            &weights([2.0, 4.0], 2, 5),
            &[0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5],
        );
        check(&weights([1.5, 2.5], 1, 5), &[0.0, 0.125, 0.75, 0.125, 0.0]);
        // Pixels outside of the map are 0, so the map is half as high half a pixel beyond its border.
        check(&weights([-1.0, 0.0], 1, 3), &[0.5, 0.0, 0.0]);
        check(&weights([2.0, 4.0], 1, 3), &[0.0, 0.0, 0.25]);
        for ends in [
            [-9.0, -1.0],
            [3.0, 9.0],
            [1.0, 1.0],
            [2.0, 1.0],
            [0.0, 1e-40],
            [3e38, -3e38],
        ] {
            check(&weights(ends, 2, 3), &[0.0; 6]);
        }
    }
}

/// The value of the map that each box is pooled from; the levels of the maps are 1 to 4.
fn level_of(boxes: Tensor<2>, maps: [Tensor<4>; 4]) -> Vec<f32> {
    let (rois, scales) = (Rois::from_images(vec![boxes]), [0.5, 0.25, 0.125, 0.0625]);
    let config = RoiPoolConfig::new([1, 1]);
    let found = multi_scale_pool(maps.into(), &rois, &scales, config, PyramidConfig::new());
    found.into_data().iter::<f32>().collect()
}

/// torchvision's levels, as its `LevelMapper` gave them for the floats around each of its borders.
#[test]
fn levels_begin_at_the_areas_where_torchvision_begins_them() {
    for backend in backends() {
        let device = &backend.device;
        let borders = [3135.9956f32, 12543.98, 50175.93];
        let mut boxes = Vec::new();
        for area in borders {
            boxes.extend([0.0, 0.0, 1.0, area.next_down(), 0.0, 0.0, 1.0, area]);
        }
        // Each box is in one range: the finest level has all that are smaller, and the coarsest all that are larger.
        for side in [0.0, -5.0, 1e-30, 3e38, f32::MAX] {
            boxes.extend([0.0, 0.0, 1.0, side]);
        }
        let count = boxes.len() / 4;
        let boxes = Tensor::<2>::from_data(TensorData::new(boxes, [count, 4]), device);
        let maps = [1, 2, 3, 4].map(|level| Tensor::<4>::full([1, 1, 4, 4], level, device));
        let found = level_of(boxes, maps);
        assert_eq!(
            found,
            [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 1.0, 1.0, 1.0, 4.0, 4.0],
            "{}",
            backend.name
        );
        if backend.supports(DType::F64) {
            // The epsilon, and not rounding, says how far below the canonical area a level begins.
            let border = 50176.0 * (1.0 - 2e-6 * std::f64::consts::LN_2);
            let boxes = [-1e-6, 1e-6].map(|step| [0.0, 0.0, 1.0, border + step]).concat();
            let boxes = Tensor::<2>::from_data(TensorData::new(boxes, [2, 4]), (device, DType::F64));
            let maps = [1, 2, 3, 4].map(|level| Tensor::<4>::full([1, 1, 4, 4], level, (device, DType::F64)));
            assert_eq!(level_of(boxes, maps), [3.0, 4.0], "{}", backend.name);
        }
    }
}
