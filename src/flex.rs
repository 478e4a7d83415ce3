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

pub use crate::backend::kept_outputs::{
    kept_bytes as kept_memory, limit as limit_kept_memory, release as release_kept_memory,
};
