//! Reading tensors back to the host: awaited, or waited for where the platform can block.

use std::cell::Cell;

use burn::backend::ExecutionError;
use burn::tensor::{DType, TensorData, try_read_sync};

use crate::error::RoiError;

thread_local! {
    /// Whether this thread runs a function that would have to block.
    static WAITS: Cell<bool> = const { Cell::new(false) };
    /// How many tensors this thread has read back.
    static READS: Cell<usize> = const { Cell::new(0) };
}

/// Drives the asynchronous form of a function to its end, for the synchronous form.
///
/// # Errors
///
/// That of the future, or [`RoiError::SynchronousRead`] where the device would have to be awaited and the platform
/// can't block. `function` and `asynchronous` name the two forms.
pub fn wait<T, E: From<RoiError>>(
    function: &'static str,
    asynchronous: &'static str,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    WAITS.set(true);
    let output = try_read_sync(future);
    WAITS.set(false);
    output.unwrap_or_else(|| Err(RoiError::SynchronousRead { function, asynchronous }.into()))
}

/// Awaits a tensor's data. `on_host` says that it is there already.
///
/// # Errors
///
/// [`RoiError::DeviceRead`]: the device failed.
pub async fn read<F: Future<Output = Result<TensorData, ExecutionError>>>(
    on_host: bool,
    data: impl FnOnce() -> F,
) -> Result<TensorData, RoiError> {
    // A read that is begun and given up keeps one of WebGPU's buffers, and the next read then fails.
    if cfg!(target_family = "wasm") && !on_host && WAITS.get() {
        std::future::pending::<()>().await;
    }
    if !on_host {
        READS.set(READS.get() + 1);
    }
    data().await.map_err(|error| RoiError::DeviceRead {
        reason: error.to_string(),
    })
}

/// How many tensors this thread has read back from devices that are not the host. Each waits for the device.
pub fn reads() -> usize {
    READS.get()
}

/// The elements of integers of any dtype. An i128 holds every u64 and every i64.
pub fn integers(data: &TensorData) -> Vec<i128> {
    match data.dtype() {
        DType::U64 => data.iter::<u64>().map(i128::from).collect(),
        _ => data.iter::<i64>().map(i128::from).collect(),
    }
}
