//! Reading tensors back to the host: awaited, or waited for where the platform can block.

use burn::backend::ExecutionError;
use burn::tensor::{TensorData, try_read_sync};

use crate::error::RoiError;

/// Drives the asynchronous form of a function to its end, for the synchronous form.
///
/// # Errors
///
/// That of the future, or [`RoiError::SynchronousRead`] where the device would have to be awaited and the platform
/// can't block. `function` and `asynchronous` name the two forms.
pub(crate) fn wait<T>(
    function: &'static str,
    asynchronous: &'static str,
    future: impl Future<Output = Result<T, RoiError>>,
) -> Result<T, RoiError> {
    try_read_sync(future).unwrap_or(Err(RoiError::SynchronousRead { function, asynchronous }))
}

/// Awaits a tensor's data.
///
/// # Errors
///
/// [`RoiError::DeviceRead`]: the device failed.
pub(crate) async fn read(
    data: impl Future<Output = Result<TensorData, ExecutionError>>,
) -> Result<TensorData, RoiError> {
    data.await.map_err(|error| RoiError::DeviceRead {
        reason: error.to_string(),
    })
}
