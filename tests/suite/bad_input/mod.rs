//! Bad input: each is an error that names the argument, through `try_…` and through the panic.

mod options;
mod regions;

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Distribution, Int, Tensor, TensorData};
use burn_roi::*;

use crate::backends::{Backend, backends};

/// What an operator is called with: everything is right unless a test spoils it.
struct Call {
    features: Tensor<4>,
    rois: Rois,
    align: RoiAlignConfig,
    pool: RoiPoolConfig,
    crop: CropAndResizeConfig,
}

impl Call {
    fn new(device: &Device) -> Self {
        Self {
            features: Tensor::random([2, 3, 6, 8], Distribution::Default, device),
            rois: rois(device, [[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 7.0, 5.0]], [0, 1]),
            align: RoiAlignConfig::new([2, 3]),
            pool: RoiPoolConfig::new([2, 3]),
            crop: CropAndResizeConfig::new([2, 3]),
        }
    }

    /// All three operators refuse it with this text.
    fn all_refuse(self, text: &str) {
        let features = || self.features.clone();
        refuses(text, || try_roi_align(features(), &self.rois, self.align.clone()));
        panics(text, || roi_align(features(), &self.rois, self.align.clone()));
        panics(text, || self.align.init().forward(features(), &self.rois));
        refuses(text, || try_roi_pool(features(), &self.rois, self.pool.clone()));
        panics(text, || roi_pool(features(), &self.rois, self.pool.clone()));
        panics(text, || self.pool.init().forward(features(), &self.rois));
        refuses(text, || try_crop_and_resize(features(), &self.rois, self.crop.clone()));
        panics(text, || crop_and_resize(features(), &self.rois, self.crop.clone()));
        panics(text, || self.crop.init().forward(features(), &self.rois));
    }

    /// All three operators answer it, with a shape and one value everywhere.
    fn all_give(self, shape: [usize; 4], value: f32) {
        let outputs = [
            try_roi_align(self.features.clone(), &self.rois, self.align),
            try_roi_pool(self.features.clone(), &self.rois, self.pool),
            try_crop_and_resize(self.features, &self.rois, self.crop),
        ];
        for output in outputs {
            let output = output.expect("the call is right").into_data();
            assert_eq!(output.shape().to_vec(), shape);
            assert!(output.iter::<f32>().all(|number| number == value), "{output}");
        }
    }
}

fn rois<const K: usize>(device: &Device, boxes: [[f32; 4]; K], images: [i32; K]) -> Rois {
    Rois::new(
        Tensor::<2>::from_data(TensorData::from(boxes), device),
        Tensor::<1, Int>::from_ints(images, device),
    )
}

pub fn refuses<T>(text: &str, call: impl Fn() -> Result<T, RoiError>) {
    match call() {
        Ok(_) => panic!("should have been refused: {text}"),
        Err(error) => assert_eq!(error.to_string(), text),
    }
}

pub fn panics<T>(text: &str, call: impl Fn() -> T) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(call()))) else {
        panic!("should have panicked: {text}");
    };
    let message = panic.downcast_ref::<String>().expect("the message should be a text");
    assert_eq!(message, text);
}

pub fn on_every_backend(test: impl Fn(&Backend)) {
    for backend in backends() {
        eprintln!("on {}", backend.name);
        test(&backend);
    }
}

#[test]
fn maps_without_pixels() {
    on_every_backend(|backend| {
        for shape in [[2, 3, 0, 8], [2, 3, 6, 0]] {
            let mut call = Call::new(&backend.device);
            call.features = Tensor::zeros(shape, &backend.device);
            call.all_refuse(&format!(
                "`features` has shape {shape:?}, but height and width must be above 0 where there are \
                 regions"
            ));
        }
    });
}

#[test]
fn nothing_to_do() {
    on_every_backend(|backend| {
        let device = &backend.device;
        let none = || Rois::from_images(vec![Tensor::<2>::zeros([0, 4], device)]);
        let mut call = Call::new(device);
        call.rois = none();
        call.all_give([0, 3, 2, 3], 0.0);
        for shape in [[2, 3, 0, 8], [0, 3, 6, 8], [2, 0, 6, 8]] {
            let mut call = Call::new(device);
            call.features = Tensor::zeros(shape, device);
            call.rois = none();
            call.all_give([0, shape[1], 2, 3], 0.0);
        }
        let mut call = Call::new(device);
        call.features = Tensor::zeros([2, 0, 6, 8], device);
        call.all_give([2, 0, 2, 3], 0.0);
    });
}

/// Boxes that are not finite, with the way their row is printed.
fn boxes_that_are_not_finite() -> [([f32; 4], &'static str); 3] {
    [
        ([0.0, f32::NAN, 4.0, 4.0], "[0.0, NaN, 4.0, 4.0]"),
        ([0.0, 0.0, f32::INFINITY, 4.0], "[0.0, 0.0, inf, 4.0]"),
        ([f32::NEG_INFINITY, 0.0, 4.0, 4.0], "[-inf, 0.0, 4.0, 4.0]"),
    ]
}

#[test]
fn boxes_not_finite_and_images_out_of_range() {
    on_every_backend(|backend| {
        let good = [1.0, 1.0, 5.0, 4.0];
        for (bad, printed) in boxes_that_are_not_finite() {
            let text = format!("`boxes` row 1 is {printed}, but must be finite");
            check_bad_row(backend, [good, bad], [0, 1], &text);
        }
        for index in [2, -1, i32::MAX, i32::MIN] {
            let text = format!("`batch_indices` row 1 is {index}, but must be at least 0 and below the batch size 2");
            check_bad_row(backend, [good, good], [0, index], &text);
        }
    });
}

/// A host device refuses a bad second row; others give the out-of-bounds value there, and the first
/// row as if it were alone.
fn check_bad_row(backend: &Backend, boxes: [[f32; 4]; 2], images: [i32; 2], text: &str) {
    let device = &backend.device;
    let mut call = Call::new(device);
    call.rois = rois(device, boxes, images);
    refuses(text, || call.rois.validate(2));
    if backend.is_host() {
        call.all_refuse(text);
        return;
    }
    let alone = rois(device, [boxes[0]], [images[0]]);
    let align = call.align.with_out_of_bounds_value(-7.5);
    let crop = call.crop.with_extrapolation_value(-7.5);
    let outputs = |rois: &Rois| {
        let features = || call.features.clone();
        [
            (roi_align(features(), rois, align.clone()), -7.5),
            (roi_pool(features(), rois, call.pool.clone()), 0.0),
            (crop_and_resize(features(), rois, crop.clone()), -7.5),
        ]
    };
    for ((output, outside), (alone, _)) in outputs(&call.rois).into_iter().zip(outputs(&alone)) {
        let first = output.clone().narrow(0, 0, 1);
        assert_eq!(first.into_data(), alone.into_data());
        let second = output.narrow(0, 1, 1).into_data();
        assert!(second.iter::<f32>().all(|number| number == outside), "{second}");
    }
}

#[test]
fn an_empty_batch_on_a_device_gives_the_out_of_bounds_value() {
    on_every_backend(|backend| {
        let mut call = Call::new(&backend.device);
        call.features = Tensor::zeros([0, 3, 6, 8], &backend.device);
        if backend.is_host() {
            let text = "`batch_indices` row 0 is 0, but must be at least 0 and below the batch size 0";
            call.all_refuse(text);
        } else {
            call.all_give([2, 3, 2, 3], 0.0);
        }
    });
}

#[test]
fn batch_indices_that_come_as_floats() {
    on_every_backend(|backend| {
        let device = &backend.device;
        for bad in [0.5, -1.0, 2.0, f32::NAN, f32::INFINITY, 3e9, -3e9] {
            let table = [[0.0, 1.0, 1.0, 5.0, 4.0], [bad, 1.0, 1.0, 5.0, 4.0]];
            let table = || Tensor::<2>::from_floats(table, device);
            if backend.is_host() && bad.fract() != 0.0 {
                let text = format!("`boxes` row 1 begins with batch index {bad}, but it must be a whole number");
                refuses(&text, || Rois::try_from_index_first(table()));
                continue;
            }
            let rois = Rois::from_index_first(table());
            let error = rois.validate(2).expect_err("a bad index");
            assert!(matches!(error, RoiError::BatchIndex { row: 1, .. }), "{bad}: {error}");
        }
    });
}

#[test]
fn channels_that_do_not_divide() {
    on_every_backend(|backend| {
        let Call { features, rois, .. } = Call::new(&backend.device);
        let text = "`features` has 3 channels, but must have a multiple of 4: one for each output element of 2 x 2";
        let align = || PsRoiAlignConfig::new([2, 2]);
        refuses(text, || try_ps_roi_align(features.clone(), &rois, align()));
        panics(text, || ps_roi_align(features.clone(), &rois, align()));
        panics(text, || align().init().forward(features.clone(), &rois));
        let pool = || PsRoiPoolConfig::new([2, 2]);
        refuses(text, || try_ps_roi_pool(features.clone(), &rois, pool()));
        panics(text, || ps_roi_pool(features.clone(), &rois, pool()));
        panics(text, || pool().init().forward(features.clone(), &rois));

        // No channel divides by any number.
        let none = features.clone().slice_dim(1, 0..0);
        assert_eq!(ps_roi_align(none.clone(), &rois, align()).dims(), [2, 0, 2, 2]);
        assert_eq!(ps_roi_pool(none, &rois, pool()).dims(), [2, 0, 2, 2]);

        let text = "`spatial_scale` is 0, but must be finite and above 0";
        refuses(text, || {
            try_ps_roi_align(features.clone(), &rois, align().with_spatial_scale(0.0))
        });
        refuses(text, || {
            try_ps_roi_pool(features.clone(), &rois, pool().with_spatial_scale(0.0))
        });
        let text = "`output_size` is [0, 2], but must be 1 to 32767 in height and in width";
        refuses(text, || {
            try_ps_roi_align(features.clone(), &rois, PsRoiAlignConfig::new([0, 2]))
        });
        refuses(text, || {
            try_ps_roi_pool(features.clone(), &rois, PsRoiPoolConfig::new([0, 2]))
        });
    });
}
