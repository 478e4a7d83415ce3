//! Options out of their range.

use super::*;

#[test]
fn output_sizes() {
    on_every_backend(|backend| {
        for size in [[0, 3], [2, 0], [32_768, 1]] {
            let call = Call::new(&backend.device);
            let (features, rois) = (call.features, call.rois);
            let text = format!("`output_size` is {size:?}, but must be 1 to 32767 in height and in width");
            refuses(&text, || {
                try_roi_align(features.clone(), &rois, RoiAlignConfig::new(size))
            });
            panics(&text, || roi_align(features.clone(), &rois, RoiAlignConfig::new(size)));
            refuses(&text, || {
                try_roi_pool(features.clone(), &rois, RoiPoolConfig::new(size))
            });
            panics(&text, || roi_pool(features.clone(), &rois, RoiPoolConfig::new(size)));
            let text = text.replace("output_size", "crop_size");
            let config = || CropAndResizeConfig::new(size);
            refuses(&text, || try_crop_and_resize(features.clone(), &rois, config()));
            panics(&text, || crop_and_resize(features.clone(), &rois, config()));
        }
    });
}

#[test]
fn options() {
    let align = || RoiAlignConfig::new([2, 3]);
    let positive = "finite and above 0";
    let fixed = "1 to 1024 fixed samples";
    let clamped = |minimum, maximum| align().with_sampling(Sampling::Clamped { minimum, maximum });
    let table = [
        (align().with_spatial_scale(0.0), "spatial_scale_y", "0", positive),
        (align().with_spatial_scale(-1.0), "spatial_scale_y", "-1", positive),
        (align().with_spatial_scale(f64::NAN), "spatial_scale_y", "NaN", positive),
        (
            align().with_spatial_scale(f64::INFINITY),
            "spatial_scale_y",
            "inf",
            positive,
        ),
        (align().with_spatial_scale_x(0.0), "spatial_scale_x", "0", positive),
        (align().with_sampling(Sampling::Fixed(0)), "sampling", "Fixed(0)", fixed),
        (align().with_sampling_ratio(1025), "sampling", "Fixed(1025)", fixed),
        (
            clamped(0, 4),
            "sampling",
            "Clamped { minimum: 0, maximum: 4 }",
            "1 to 1024 samples at least",
        ),
        (
            clamped(5, 4),
            "sampling",
            "Clamped { minimum: 5, maximum: 4 }",
            "a maximum of at least the minimum",
        ),
        (
            align().with_minimum_length(Some(-1.0)),
            "minimum_length",
            "-1",
            "0 or above",
        ),
        (
            align().with_minimum_length(Some(f64::NAN)),
            "minimum_length",
            "NaN",
            "0 or above",
        ),
        (align().with_box_offset(f64::NAN), "box_offset", "NaN", "finite"),
        (align().with_end_offset(f64::NAN), "end_offset", "NaN", "finite"),
        (
            align().with_input_pixel_offset(f64::NAN),
            "input_pixel_offset",
            "NaN",
            "finite",
        ),
        (
            align().with_output_pixel_offset(f64::NAN),
            "output_pixel_offset",
            "NaN",
            "-1024 to 1024",
        ),
        (
            align().with_output_pixel_offset(-1e9),
            "output_pixel_offset",
            "-1000000000",
            "-1024 to 1024",
        ),
        (
            align().with_out_of_bounds_value(f64::NAN),
            "out_of_bounds_value",
            "NaN",
            "finite",
        ),
    ];
    on_every_backend(|backend| {
        let Call { features, rois, .. } = Call::new(&backend.device);
        for (config, argument, value, expected) in &table {
            let text = format!("`{argument}` is {value}, but must be {expected}");
            refuses(&text, || try_roi_align(features.clone(), &rois, config.clone()));
            panics(&text, || roi_align(features.clone(), &rois, config.clone()));
        }
        for (scale, value) in [(0.0, "0"), (-2.0, "-2"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let config = || RoiPoolConfig::new([2, 3]).with_spatial_scale(scale);
            let text = format!("`spatial_scale_y` is {value}, but must be finite and above 0");
            refuses(&text, || try_roi_pool(features.clone(), &rois, config()));
            panics(&text, || roi_pool(features.clone(), &rois, config()));
        }
        for (length, value) in [(0.5, "0.5"), (65536.0, "65536"), (f64::NAN, "NaN")] {
            let config = || RoiPoolConfig::new([2, 3]).with_minimum_length(Some(length));
            let text = format!("`minimum_length` is {value}, but must be a whole number from 0 to 65535");
            refuses(&text, || try_roi_pool(features.clone(), &rois, config()));
            panics(&text, || roi_pool(features.clone(), &rois, config()));
        }
        let text = "`spatial_scale` is 0, but must be finite and above 0";
        let config = || PrRoiPoolConfig::new([2, 3]).with_spatial_scale(0.0);
        refuses(text, || try_prroi_pool(features.clone(), &rois, config()));
        panics(text, || prroi_pool(features.clone(), &rois, config()));
        let pool = || PsRoiPoolConfig::new([2, 3]);
        for (config, argument, value, expected) in [
            (pool().with_end_offset(f64::NAN), "end_offset", "NaN", "finite"),
            (
                pool().with_minimum_length(Some(-0.1)),
                "minimum_length",
                "-0.1",
                "0 to 65535",
            ),
            (
                pool().with_minimum_length(Some(1e9)),
                "minimum_length",
                "1000000000",
                "0 to 65535",
            ),
        ] {
            let text = format!("`{argument}` is {value}, but must be {expected}");
            refuses(&text, || try_ps_roi_pool(features.clone(), &rois, config.clone()));
            panics(&text, || ps_roi_pool(features.clone(), &rois, config.clone()));
        }
        let config = || CropAndResizeConfig::new([2, 3]).with_extrapolation_value(f64::INFINITY);
        let text = "`extrapolation_value` is inf, but must be finite";
        refuses(text, || try_crop_and_resize(features.clone(), &rois, config()));
        panics(text, || crop_and_resize(features.clone(), &rois, config()));
    });
}
