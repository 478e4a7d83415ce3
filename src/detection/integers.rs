//! Integers of a device's own dtype.

use burn::tensor::{Int, Tensor};

/// The same integers in the dtype that integers have on their device unless said otherwise.
pub fn of_device_dtype(integers: Tensor<1, Int>) -> Tensor<1, Int> {
    let device = integers.device();
    let dtype = device.settings().int_dtype;
    // burn-router 0.22.1 ends the session of a remote device at a cast of integers. f32 holds every label below 2^24.
    #[cfg(feature = "remote")]
    if crate::backend::is_remote(&device) && integers.dtype() != dtype.into() {
        return integers.float().int();
    }
    integers.cast(dtype)
}
