//! Whether a tensor fits into memory: checked before it is allocated, since an allocation that fails ends the process.

use burn::backend::Dispatch;
use burn::tensor::{DType, Device};

use crate::backend::DeviceSupport;
use crate::error::RoiError;

/// Smaller allocations are not tried beforehand.
const SMALL: usize = 1 << 20;

/// From this size on, the memory that is left is asked for, by reading a file of the system.
const LARGE: usize = 64 << 20;

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
    let elements = match shape.contains(&0) {
        true => Some(0),
        false => shape
            .iter()
            .try_fold(1_usize, |elements, &size| elements.checked_mul(size)),
    };
    let bytes = elements.and_then(|elements| elements.checked_mul(dtype.size()));
    if bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok() && B::holds(device, bytes)) {
        return Ok(());
    }
    Err(RoiError::Memory {
        result,
        shape: shape.to_vec(),
        dtype,
    })
}

/// [`check`] of a Burn tensor.
pub(crate) fn check_tensor(
    result: &'static str,
    shape: &[usize],
    dtype: DType,
    device: &Device,
) -> Result<(), RoiError> {
    check::<Dispatch>(result, shape, dtype, device.as_dispatch())
}

/// Whether the host can allocate so many bytes.
pub(crate) fn host_holds(bytes: usize) -> bool {
    if bytes < SMALL {
        return true;
    }
    if bytes >= LARGE && left().is_some_and(|left| bytes > left) {
        return false;
    }
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
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
    fn a_host_holds_a_megabyte_and_not_every_address() {
        assert!(host_holds(0) && host_holds(SMALL) && host_holds(LARGE));
        assert!(!host_holds(1 << 46));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_says_what_is_left() {
        assert!(left().is_some_and(|left| left > LARGE));
    }
}
