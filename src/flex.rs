//! The memory that Flex keeps of dropped outputs, for the whole process.
//!
//! On Linux, the memory of an output or a gradient of 128 KiB to 256 MiB is kept once its tensor is dropped, and the
//! next one of about that size gets it: the system then has no pages to clear. Of numbers of 2, of 4 and of 8 bytes at
//! most 16 blocks and 256 MiB are kept each, so that a process keeps at most 768 MiB.
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

/// Gives all of that memory back to the system. Calls on other threads may keep more at once.
pub fn release_kept_memory() {
    kept_outputs::release();
}

/// Keeps at most so many bytes from now on, 0 for none. If more are kept now, all of them are given back.
pub fn limit_kept_memory(bytes: usize) {
    kept_outputs::limit(bytes);
}
