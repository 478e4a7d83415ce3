//! The backends by name, for the command lines of all examples.

use std::fmt;

use clap::ValueEnum;

/// Every backend that the command knows, compiled in or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    Flex,
    Ndarray,
    Wgpu,
    Vulkan,
    Cuda,
    Cpu,
}

impl fmt::Display for BackendName {
    /// The name, which is also that of the cargo feature.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Flex => "flex",
            Self::Ndarray => "ndarray",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
        })
    }
}
