//! Catches panics of burn-onnx.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a function, or the text of its panic.
pub(super) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("it panicked")
            .to_string()
    })
}
