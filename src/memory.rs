//! Whether a tensor fits into memory: checked before it is allocated, since an allocation that fails ends the process.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device};

use crate::backend::DeviceSupport;
use crate::error::RoiError;

/// Smaller tensors are not checked. An allocation on trial counts as memory that is taken, for as long as it lasts.
const SMALL: usize = 32 << 20;

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

/// Whether the host can allocate so many bytes.
pub(crate) fn host_holds(bytes: usize) -> bool {
    bytes < SMALL || left().is_none_or(|left| bytes <= left) && Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The bytes that Linux says are left, swap space included; none on other systems, and where it does not say.
///
/// Linux grants more memory than there is, and ends a process once it writes to what there is not.
fn left() -> Option<usize> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':')
            .split_whitespace()
            .next()?
            .parse::<usize>()
            .ok()
    };
    let swap = kilobytes("SwapFree").unwrap_or(0);
    kilobytes("MemAvailable")?.checked_add(swap)?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_holds_some_megabytes_and_not_every_address() {
        assert!(host_holds(0) && host_holds(SMALL));
        assert!(!host_holds(1 << 46));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_says_what_is_left() {
        assert!(left().is_some_and(|left| left > SMALL));
    }
}
