//! What burn-roi-detection shares with this crate. It is no part of the public interface, and changes in any version.

pub use crate::backend::{is_host, is_remote};
pub use crate::config::given;
pub use crate::error::or_panic;
pub use crate::memory::check_tensor as check_memory;
pub use crate::read_back::{integers, read, reads, wait};
pub use crate::regions::{same_device, same_dtype};
pub use paste::paste;
