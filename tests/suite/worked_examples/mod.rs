//! Where elements read along an axis, by hand: examples from documents and from measured outputs of the frameworks.
//!
//! The features have a channel for each column of one row, which is 1 in that column. So an element is the list of the
//! weights that it gives to columns.

mod bins;
mod samples;

use std::ops::Range;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
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
