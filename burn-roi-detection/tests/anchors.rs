//! Anchors.

use burn_roi_detection::{AnchorGenerator3dConfig, AnchorGenerator3dSConfig, AnchorGeneratorConfig, BaseAnchors};

use crate::backends::backends;
use crate::cases::check_all;

#[test]
fn anchors_are_those_of_torchvision() {
    check_all("anchors", |case, backend| {
        let sizes: Vec<Vec<f64>> = case.option("sizes");
        let generator = AnchorGeneratorConfig::new(sizes, case.option("aspect_ratios")).init();
        let per_location: Vec<usize> = case.option("per_location");
        assert_eq!(generator.num_anchors_per_location(), per_location);

        let map_sizes: Vec<[usize; 2]> = case.option("map_sizes");
        let image_size = case.option("image_size");
        let anchors = generator.forward(image_size, &map_sizes, &backend.device);
        assert_eq!(anchors.len(), case.results());
        for (level, anchors) in anchors.into_iter().enumerate() {
            case.assert_floats(level, anchors, 0.0, backend);
        }
    });
}

/// Each anchor of three axes is the anchor of its depth's plane, in each slice.
#[test]
fn anchors_of_three_axes_are_those_of_two_at_each_depth() {
    let (sizes, ratios) = (vec![vec![8.0, 13.0], vec![21.0]], vec![vec![0.5, 1.0, 2.0]; 2]);
    let depths = vec![vec![3.0, 5.0], vec![7.5]];
    let halves = |base_anchors| match base_anchors {
        // Ties are rounded to the even number.
        BaseAnchors::Torchvision => [vec![2.0, 2.0], vec![4.0]],
        _ => [vec![1.5, 2.5], vec![3.75f32]],
    };
    let (volume_size, map_sizes) = ([7, 24, 40], [[3, 4, 5], [1, 2, 2]]);
    let steps = [2, 7];
    let plane_sizes = map_sizes.map(|[_, height, width]| [height, width]);
    for backend in backends() {
        for base_anchors in [
            BaseAnchors::Torchvision,
            BaseAnchors::Detectron2,
            BaseAnchors::Mmdetection,
        ] {
            for offset in [0.0, 0.5] {
                let config = AnchorGeneratorConfig::new(sizes.clone(), ratios.clone());
                let plane = config.with_base_anchors(base_anchors).with_offset(offset).init();
                let config = AnchorGenerator3dConfig::new(sizes.clone(), ratios.clone(), depths.clone());
                let volume = config.with_base_anchors(base_anchors).with_offset(offset).init();
                assert_eq!(volume.num_anchors_per_location(), [12, 3]);

                let planes = plane.forward([24, 40], &plane_sizes, &backend.device);
                let volumes = volume.forward(volume_size, &map_sizes, &backend.device);
                for (level, (plane, volume)) in planes.iter().zip(&volumes).enumerate() {
                    let in_plane: Vec<f32> = plane.to_data().iter::<f32>().collect();
                    let per_cell = plane.dims()[0] / plane_sizes[level].iter().product::<usize>();
                    let mut expected = Vec::new();
                    for slice in 0..map_sizes[level][0] {
                        let z = (slice as f32 + offset as f32) * steps[level] as f32;
                        for cell in in_plane.chunks(4 * per_cell) {
                            for half in &halves(base_anchors)[level] {
                                let rows = cell.chunks(4).map(|row| [row, &[z - half, z + half]].concat());
                                expected.extend(rows.flatten());
                            }
                        }
                    }
                    assert_eq!(volume.dims(), [expected.len() / 6, 6], "{}", backend.name);
                    let found: Vec<f32> = volume.to_data().iter::<f32>().collect();
                    assert_eq!(found, expected, "{base_anchors:?} on {}", backend.name);
                }
            }
        }
    }
}

/// The order of Python's `itertools.product(widths, heights, depths)`, as in nnDetection's `AnchorGenerator3DS`.
#[test]
fn sides_of_three_axes_are_not_rounded_and_depths_are_the_innermost() {
    for backend in backends() {
        let lists = [vec![vec![2.0, 5.0]], vec![vec![3.0, 7.0]], vec![vec![1.0, 4.0, 9.0]]];
        let [widths, heights, depths] = lists.clone();
        let config = AnchorGenerator3dSConfig::new(widths, heights, depths).with_offset(0.5);
        let generator = config.with_strides(Some(vec![[2, 4, 8]])).init();
        assert_eq!(generator.num_anchors_per_location(), [12]);
        let anchors = generator.forward([0; 3], &[[2, 1, 3]], &backend.device)[0].to_data();
        let found: Vec<f32> = anchors.iter::<f32>().collect();
        assert_eq!(found.len(), 6 * 12 * 6);
        // Slice 1, row 0, column 2 is cell 5, with its centre at (20, 2, 3).
        for (index, row) in found[5 * 12 * 6..].chunks(6).enumerate() {
            let [x, y, z] = [index / 6, index / 3 % 2, index % 3];
            let [x, y, z] = [lists[0][0][x], lists[1][0][y], lists[2][0][z]].map(|side| side as f32 / 2.0);
            let expected = [20.0 - x, 2.0 - y, 20.0 + x, 2.0 + y, 3.0 - z, 3.0 + z];
            assert_eq!(row, expected, "{}", backend.name);
        }
    }
}

#[test]
fn strides_of_three_axes_are_along_the_axes_of_the_map() {
    for backend in backends() {
        let config = AnchorGenerator3dConfig::new(vec![vec![2.0]], vec![vec![1.0]], vec![vec![2.0]]);
        let generator = config.with_strides(Some(vec![[1, 4, 8]])).init();
        let anchors = generator.forward([0; 3], &[[3, 3, 3]], &backend.device);
        let found: Vec<f32> = anchors[0].to_data().iter::<f32>().collect();
        // Slice 1, row 2, column 1.
        assert_eq!(
            found[16 * 6..17 * 6],
            [7.0, 7.0, 9.0, 9.0, 0.0, 2.0],
            "{}",
            backend.name
        );
        let none = generator.forward([0; 3], &[[0, 3, 3]], &backend.device);
        assert_eq!(none[0].dims(), [0, 6], "{}", backend.name);
    }
}
