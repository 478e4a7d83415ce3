//! Whether a tensor fits into memory: checked before it is allocated, since an allocation that fails ends the process.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device};

use crate::backend::DeviceSupport;
use crate::error::RoiError;

/// Checks that the tensor `result` of a backend fits into the memory of its device.
///
/// # Errors
///
/// [`RoiError::Memory`].
pub(crate) fn check<B: DeviceSupport>(
    result: &'static str,
    shape: &[usize],
    dtype: DType,
    device: &B::Device,
) -> Result<(), RoiError> {
    // Burn multiplies the strides of an empty tensor, too.
    let product = shape
        .iter()
        .try_fold(dtype.size(), |bytes, &size| bytes.checked_mul(size.max(1)));
    let bytes = product.map(|bytes| if shape.contains(&0) { 0 } else { bytes });
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok() && B::holds(device, bytes)) {
        return Ok(());
    }
    Err(RoiError::Memory {
        result,
        shape: shape.to_vec(),
        dtype,
    })
}

/// Checks that a Burn tensor fits into the memory of its device.
pub fn check_tensor(result: &'static str, shape: &[usize], dtype: DType, device: &Device) -> Result<(), RoiError> {
    check::<Dispatch>(result, shape, dtype, device.as_dispatch())
}
