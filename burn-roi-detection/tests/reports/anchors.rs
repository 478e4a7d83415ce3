//! Anchors of detectron2 and mmdetection.

use burn::tensor::Tensor;
use burn_roi_detection::{AnchorGenerator3dConfig, AnchorGenerator3dSConfig, AnchorGeneratorConfig, BaseAnchors};

use crate::backends::backends;
use crate::bad_input::assert_error;

fn config(sizes: &[f64], aspect_ratios: &[f64]) -> AnchorGeneratorConfig {
    AnchorGeneratorConfig::new(vec![sizes.to_vec()], vec![aspect_ratios.to_vec()])
}

fn rows(anchors: &Tensor<2>) -> Vec<[f32; 4]> {
    let values: Vec<f32> = anchors.to_data().iter::<f32>().collect();
    values.as_chunks::<4>().0.to_vec()
}

/// A half of the sides: 32 * sqrt(0.5) / 2 = 11.313708 and 32 / sqrt(0.5) / 2 = 22.627417.
#[test]
fn anchors_of_detectron2_and_mmdetection_are_not_rounded() {
    for backend in backends() {
        let (long, short) = (22.627417, 11.313708);
        for (base_anchors, expected) in [
            (BaseAnchors::Torchvision, [-23.0, -11.0, 23.0, 11.0]),
            (BaseAnchors::Detectron2, [-long, -short, long, short]),
            (BaseAnchors::Mmdetection, [-long, -short, long, short]),
        ] {
            let generator = config(&[32.0], &[0.5]).with_base_anchors(base_anchors).init();
            let anchors = generator.forward([4, 4], &[[1, 1]], &backend.device);
            assert_eq!(rows(&anchors[0]), [expected], "{base_anchors:?} on {}", backend.name);
        }
    }
}

/// The values are those of the frameworks' formulas in NumPy. sqrt(1 / 3) is rounded to f32 by mmdetection only.
#[test]
fn anchors_have_the_precision_of_their_framework() {
    for backend in backends() {
        for (base_anchors, expected) in [
            (
                BaseAnchors::Detectron2,
                [-55.425625, -18.475208, 55.425625, 18.475208f32],
            ),
            (BaseAnchors::Mmdetection, [-55.42563, -18.475208, 55.42563, 18.475208]),
        ] {
            let generator = config(&[64.0], &[1.0 / 3.0]).with_base_anchors(base_anchors).init();
            let anchors = generator.forward([4, 4], &[[1, 1]], &backend.device);
            assert_eq!(rows(&anchors[0]), [expected], "{base_anchors:?} on {}", backend.name);
        }
    }
}

/// Two sizes and two ratios at the fourth pixel of a map of stride 8, half a stride away: NumPy, as above.
#[test]
fn anchors_are_in_the_order_of_their_framework_and_offset_by_half_a_stride() {
    for backend in backends() {
        let of_size_32 = [
            [5.3725834, 16.68629, 50.62742, 39.31371f32],
            [16.68629, 5.3725834, 39.31371, 50.62742],
        ];
        let of_size_40 = [
            [-0.28427124, 13.857864, 56.28427, 42.142136f32],
            [13.857864, -0.28427124, 42.142136, 56.28427],
        ];
        for (base_anchors, expected) in [
            (
                BaseAnchors::Detectron2,
                [of_size_32[0], of_size_32[1], of_size_40[0], of_size_40[1]],
            ),
            (
                BaseAnchors::Mmdetection,
                [of_size_32[0], of_size_40[0], of_size_32[1], of_size_40[1]],
            ),
        ] {
            // Row 3 of column 3: the offset is the same along both axes.
            let generator = config(&[32.0, 40.0], &[0.5, 2.0])
                .with_base_anchors(base_anchors)
                .with_offset(0.5)
                .init();
            assert_eq!(generator.num_anchors_per_location(), [4]);
            let anchors = generator.forward([32, 32], &[[4, 4]], &backend.device);
            let anchors = rows(&anchors[0]);
            assert_eq!(anchors[15 * 4..], expected, "{base_anchors:?} on {}", backend.name);
        }
    }
}

#[test]
fn offsets_move_rounded_anchors_too() {
    for backend in backends() {
        let generator = config(&[4.0], &[1.0]).with_offset(0.25).init();
        let anchors = generator.forward([8, 32], &[[1, 2]], &backend.device);
        // The strides are 8 and 16, and a quarter of them 2 and 4.
        assert_eq!(rows(&anchors[0]), [[2.0, 0.0, 6.0, 4.0], [18.0, 0.0, 22.0, 4.0]]);
    }
}

/// An image 100 pixels high has 13 rows of stride 8. torchvision's stride is 100 / 13, rounded down, which is 7.
#[test]
fn strides_can_be_given() {
    for backend in backends() {
        let last = |strides: Option<Vec<usize>>| {
            let generator = config(&[4.0], &[1.0]).with_strides(strides).init();
            let anchors = generator.forward([100, 8], &[[13, 1]], &backend.device);
            rows(&anchors[0])[12]
        };
        assert_eq!(last(None), [-2.0, 82.0, 2.0, 86.0]);
        assert_eq!(last(Some(vec![8])), [-2.0, 94.0, 2.0, 98.0]);
    }
}

#[test]
fn options_of_anchors_that_do_not_fit() {
    for offset in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_error(
            config(&[4.0], &[1.0]).with_offset(offset).try_init(),
            &format!("`offset` is {offset}, but must be from 0 to 1"),
        );
    }
    assert_error(
        config(&[4.0], &[1.0]).with_strides(Some(vec![4, 8])).try_init(),
        "`strides` has length 2, but must have length 1: one for each feature map",
    );
    assert_error(
        config(&[4.0], &[1.0]).with_strides(Some(vec![0])).try_init(),
        "`strides` is [0], but must be above 0 for each feature map",
    );
    // In f32, 1e-50 is 0 and 1e39 is infinite.
    for (base_anchors, size, ratio, pair) in [
        (
            BaseAnchors::Torchvision,
            4.0,
            1e-50,
            "4.0 with an aspect ratio of 1e-50",
        ),
        (BaseAnchors::Mmdetection, 1e39, 1.0, "1e39 with an aspect ratio of 1.0"),
        (BaseAnchors::Detectron2, 1e39, 1.0, "1e39 with an aspect ratio of 1.0"),
    ] {
        assert_error(
            config(&[size], &[ratio]).with_base_anchors(base_anchors).try_init(),
            &format!("`sizes` is {pair} for one feature map, but must be a size whose anchors are finite in f32"),
        );
    }
    let generator = config(&[4.0], &[1.0]).init();
    assert_error(
        generator.try_forward([8, 8], &[[1 << 40, 1 << 40]], &backends()[0].device),
        "the anchors of a feature map would have shape [1099511627776, 1099511627776, 1, 4] of F32, but must fit into \
         the memory of its device",
    );
}

#[test]
fn options_of_anchors_of_three_axes_that_do_not_fit() {
    let device = &backends()[0].device;
    let config = |depths: Vec<Vec<f64>>| AnchorGenerator3dConfig::new(vec![vec![8.0]], vec![vec![1.0]], depths);
    assert_error(
        config(vec![]).try_init(),
        "`depths` has length 0, but must have length 1: one for each list of `sizes`",
    );
    assert_error(
        config(vec![vec![2.0, 0.0]]).try_init(),
        "`depths` is 0 for one feature map, but must be finite and above 0",
    );
    assert_error(
        config(vec![vec![1e39]]).try_init(),
        "`depths` is 1e39 for one feature map, but must be finite in f32",
    );
    let sides = |height: f64, depths: Vec<Vec<f64>>| {
        AnchorGenerator3dSConfig::new(vec![vec![8.0]], vec![vec![4.0, height]], depths)
    };
    assert_error(
        sides(1.0, vec![]).try_init(),
        "`depths` has length 0, but must have length 1: one for each list of `widths`",
    );
    assert_error(
        sides(f64::NAN, vec![vec![2.0]]).try_init(),
        "`heights` is NaN for one feature map, but must be finite and above 0",
    );
    assert_error(
        sides(1e39, vec![vec![2.0]]).try_init(),
        "`heights` is 1e39 for one feature map, but must be finite in f32",
    );
    let config = config(vec![vec![2.0]]);
    assert_error(
        config.clone().with_strides(Some(vec![[1, 0, 1]])).try_init(),
        "`strides` is [[1, 0, 1]], but must be above 0 for each feature map",
    );
    assert_error(
        config.clone().with_offset(2.0).try_init(),
        "`offset` is 2, but must be from 0 to 1",
    );
    let generator = config.init();
    assert_error(
        generator.try_forward([8; 3], &[], device),
        "`map_sizes` has length 0, but must have length 1: one for each feature map",
    );
    assert_error(
        generator.try_forward([8; 3], &[[1 << 22; 3]], device),
        "the anchors of a feature map would have shape [4194304, 4194304, 4194304, 1, 6] of F32, but must fit into the \
         memory of its device",
    );
}
