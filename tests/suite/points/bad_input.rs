//! Bad input: each is an error that names the argument, and never a wrong answer.

use burn::tensor::{DType, Device, FloatDType, Int, Tensor};
use burn_roi::*;

use crate::backends::backends;
use crate::bad_input::{panics, refuses};

fn features(device: &Device) -> Tensor<4> {
    Tensor::ones([1, 8, 6, 8], device)
}

fn rotated(device: &Device, boxes: [[f32; 5]; 1]) -> RotatedRois {
    RotatedRois::from_images(vec![Tensor::<2>::from_floats(boxes, device)])
}

fn upright(device: &Device) -> Rois {
    Rois::from_images(vec![Tensor::<2>::from_floats([[1.0, 1.0, 5.0, 5.0]], device)])
}

const BOX: [[f32; 5]; 1] = [[4.0, 3.0, 4.0, 2.0, 0.5]];

#[test]
fn options_out_of_range() {
    let device = &backends()[0].device;
    let (features, rois) = (features(device), rotated(device, BOX));
    let config = RoiAlignRotatedConfig::new([2, 2]);
    let cases = [
        (
            RoiAlignRotatedConfig::new([0, 2]),
            "`output_size` is [0, 2], but must be 1 to 32767 in height and in width",
        ),
        (
            config.clone().with_spatial_scale(-1.0),
            "`spatial_scale` is -1, but must be finite and above 0",
        ),
        (
            config.clone().with_sampling(Sampling::Fixed(1025)),
            "`sampling` is Fixed(1025), but must be 1 to 1024 fixed samples",
        ),
        (
            config
                .clone()
                .with_sampling(Sampling::Clamped { minimum: 1, maximum: 2 }),
            "`sampling` is Clamped { minimum: 1, maximum: 2 }, but must be Fixed or Adaptive",
        ),
        (
            config.with_arithmetic(Arithmetic::FromRegion),
            "`arithmetic` is FromRegion, but must be FromElements or FromElementsBySteps",
        ),
    ];
    for (config, text) in cases {
        refuses(text, || try_roi_align_rotated(features.clone(), &rois, config.clone()));
        panics(text, || roi_align_rotated(features.clone(), &rois, config.clone()));
        panics(text, || config.init().forward(features.clone(), &rois));
    }
    let text = "`gamma` is inf, but must be finite";
    let config = DeformRoiPoolConfig::new([2, 2]).with_gamma(f64::INFINITY);
    refuses(text, || {
        try_deform_roi_pool(features.clone(), &upright(device), None, config.clone())
    });
    panics(text, || config.init().forward(features.clone(), &upright(device)));
    let text = "`part_size` is [0, 1], but must be 1 to 32767 in height and in width";
    let config = DeformPsRoiPoolConfig::new([2, 2], 2).with_part_size([0, 1]);
    refuses(text, || {
        try_deform_ps_roi_pool(features.clone(), &upright(device), None, config.clone())
    });
    let text = "`output_channels` is 0, but must be 1 or more";
    let config = DeformPsRoiPoolConfig::new([2, 2], 0);
    refuses(text, || {
        try_deform_ps_roi_pool(features.clone(), &upright(device), None, config.clone())
    });
    let text = "`parts` is 0, but must be 1 to 1024";
    let config = PsCropAndResizeConfig::new([2, 2], [0, 1]);
    refuses(text, || {
        try_ps_crop_and_resize(features.clone(), &upright(device), config.clone())
    });
    panics(text, || {
        ps_crop_and_resize(features.clone(), &upright(device), config.clone())
    });
    let text = "`orientations` is 0, but must be 1 to 1024";
    let config = RiRoiAlignRotatedConfig::new([2, 2]).with_orientations(0);
    refuses(text, || {
        try_riroi_align_rotated(features.clone(), &rois, config.clone())
    });
    panics(text, || riroi_align_rotated(features.clone(), &rois, config.clone()));
}

#[test]
fn tensors_that_do_not_fit() {
    for backend in backends() {
        let device = &backend.device;
        let features = features(device);
        let indices = || Tensor::<1, Int>::zeros([1], device);
        refuses(
            "`boxes` has shape [1, 4], but must have shape [K, 5], with up to two leading dimensions of 1",
            || RotatedRois::try_new(Tensor::<2>::zeros([1, 4], device), indices()),
        );
        refuses(
            "`boxes` has shape [1, 5], but must have shape [K, 6], with up to two leading dimensions of 1",
            || RotatedRois::try_from_index_first(Tensor::<2>::zeros([1, 5], device)),
        );
        refuses("`boxes` has shape [2, 4], but must have shape [K, 5]", || {
            RotatedRois::try_from_images(vec![Tensor::<2>::zeros([2, 4], device)])
        });
        refuses(
            "`features` has 8 channels, but must have a multiple of 3: one for each orientation",
            || {
                let config = RiRoiAlignRotatedConfig::new([2, 2]).with_orientations(3);
                try_riroi_align_rotated(features.clone(), &rotated(device, BOX), config)
            },
        );
        refuses(
            "`features` has 8 channels, but must have a multiple of 6: one for each part of a region",
            || {
                try_ps_crop_and_resize(
                    features.clone(),
                    &upright(device),
                    PsCropAndResizeConfig::new([2, 2], [2, 3]),
                )
            },
        );
        refuses(
            "`features` has shape [1, 8, 6, 8], but must have shape [N, channels, H, W], with a channel for each \
            output channel and element",
            || {
                try_deform_ps_roi_pool(
                    features.clone(),
                    &upright(device),
                    None,
                    DeformPsRoiPoolConfig::new([3, 3], 1),
                )
            },
        );
        let deform = |offsets: Tensor<4>| {
            try_deform_roi_pool(
                features.clone(),
                &upright(device),
                Some(offsets),
                DeformRoiPoolConfig::new([2, 3]),
            )
        };
        let expected = "but must have shape [K, 2, rows, columns], with an offset along x and one along y for each \
            part of a region";
        for shape in [[1, 2, 3, 2], [2, 2, 2, 3], [1, 1, 2, 3], [1, 4, 2, 3]] {
            let text = format!("`offsets` has shape {shape:?}, {expected}");
            refuses(&text, || deform(Tensor::zeros(shape, device)));
        }
        refuses(
            "`offsets` has shape [1, 6, 1, 1], but must have shape [K, 2 * classes, part height, part width], with \
            classes that divide the output channels",
            || {
                let offsets = Tensor::zeros([1, 6, 1, 1], device);
                let config = DeformPsRoiPoolConfig::new([2, 2], 2);
                try_deform_ps_roi_pool(features.clone(), &upright(device), Some(offsets), config)
            },
        );
        if backend.supports(DType::F16) {
            refuses("`offsets` is of dtype F16, but must be of F32, as `boxes` is", || {
                deform(Tensor::<4>::zeros([1, 2, 2, 3], device).cast(FloatDType::F16))
            });
        }
    }
}

/// On a host device an angle or an offset that is not finite is an error; elsewhere such a region or element gives 0.
#[test]
fn numbers_that_are_not_finite() {
    for backend in backends() {
        let device = &backend.device;
        for angle in [f32::NAN, f32::INFINITY] {
            let rois = rotated(device, [[4.0, 3.0, 4.0, 2.0, angle]]);
            let call = || try_roi_align_rotated(features(device), &rois, RoiAlignRotatedConfig::new([2, 2]));
            let ri_call = || try_riroi_align_rotated(features(device), &rois, RiRoiAlignRotatedConfig::new([2, 2]));
            if backend.is_host() {
                let text = format!("`boxes` row 0 has the angle {angle}, but it must be finite");
                refuses(&text, call);
                refuses(&text, ri_call);
            } else {
                for output in [call(), ri_call()] {
                    let output = output.expect("it is not read").into_data();
                    assert!(output.iter::<f32>().all(|number| number == 0.0), "{}", backend.name);
                }
            }
        }
        let offsets = || {
            let mut numbers = [0.0f32; 8];
            numbers[5] = f32::NAN;
            Tensor::<1>::from_floats(numbers, device).reshape([1, 2, 2, 2])
        };
        let config = DeformRoiPoolConfig::new([2, 2]).with_sampling_ratio(2);
        let call = || try_deform_roi_pool(features(device), &upright(device), Some(offsets()), config.clone());
        if backend.is_host() {
            refuses(
                "`offsets` of region 0 has NaN at place 5 of its `[2, rows, columns]`, but must be finite",
                call,
            );
        } else {
            let output: Vec<f32> = call().expect("it is not read").into_data().iter::<f32>().collect();
            let expected = [1.0, 0.0, 1.0, 1.0].repeat(8);
            assert_eq!(output, expected, "{}", backend.name);
        }
    }
}
