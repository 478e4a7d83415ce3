//! The memory of dropped outputs that Flex keeps, for the whole process.
//!
//! On Linux, Flex keeps the memory of an output or a gradient of 128 KiB to 256 MiB when its tensor is dropped. The
//! next output of about that size reuses it, so the system need not clear new pages. Per element width (2, 4 and 8
//! bytes) at most 16 buffers and 256 MiB are kept: 768 MiB in all.
//!
//! ```
//! burn_roi::flex::limit_kept_memory(64 << 20);
//! // After the last image of a batch, say:
//! burn_roi::flex::release_kept_memory();
//! assert_eq!(burn_roi::flex::kept_memory(), 0);
//! ```

use crate::backend::kept_outputs;

/// How many bytes of dropped outputs are kept.
pub fn kept_memory() -> usize {
    kept_outputs::kept_bytes()
}

/// Frees all kept memory. Calls on other threads may keep memory again at once.
pub fn release_kept_memory() {
    kept_outputs::release();
}

/// Limits the kept memory to `bytes` from now on, 0 for none. If more is kept now, all kept memory is freed.
pub fn limit_kept_memory(bytes: usize) {
    kept_outputs::limit(bytes);
}
