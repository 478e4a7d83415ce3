//! With Burn's feature `fusion`, a remote device is refused in words.

use burn::tensor::Tensor;
use burn_roi::remote::check;
use burn_roi::{RoiAlignConfig, Rois, try_roi_align};

use crate::servers::{device, operators, serve};

#[test]
fn a_remote_device_is_refused() {
    let device = device(&serve(1, operators()), 0);
    let features = Tensor::<4>::ones([1, 1, 4, 4], &device);
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats([[0.0, 0.0, 2.0, 2.0]], &device)]);
    let call = try_roi_align(features, &rois, RoiAlignConfig::new([1, 1])).map(drop);
    for error in [check(&device), call] {
        let error = error.expect_err("fusion is on").to_string();
        assert!(
            error.contains("for a server, the feature `fusion` must be off"),
            "{error}"
        );
    }
}
