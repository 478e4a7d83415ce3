//! The command line.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{DType, Device, Tensor};
use clap::{Parser, ValueEnum};

use crate::backend_name::BackendName;

/// Times region operators.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs the operators
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,
    /// A server that runs the operators instead, such as ws://127.0.0.1:3000
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// Threads of a CPU backend
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// The dtype of features, boxes and output
    #[arg(long, value_enum, default_value_t = Number::F32)]
    pub dtype: Number,
    /// Workloads to run, separated by commas [default: the standard five]
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    pub workload: String,
    /// The minimum number of timed calls
    #[arg(long, default_value_t = 7)]
    pub calls: usize,
    /// How many calls are timed together, without waiting for the device between them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub burst: u32,
    /// Time the gradient of features instead
    #[arg(long)]
    pub backward: bool,
    /// Time the gradient of boxes instead of that of features
    #[arg(long, requires = "backward")]
    pub of_boxes: bool,
    /// Sum the output in the time, too, as a program does that reads it at once
    #[arg(long)]
    pub read: bool,
    /// Time roi_align on the features, boxes and output size of each workload instead, with 2 samples
    #[arg(long)]
    pub as_roi_align: bool,
    /// Measure the least that a call can take on these threads, too: reading each pixel that a region touches once, and
    /// writing the output once
    #[arg(long, conflicts_with = "backward")]
    pub limit: bool,
    /// Print one JSON object for each workload
    #[arg(long)]
    pub json: bool,
}

impl BackendName {
    /// The backend's device, ready to compute.
    pub fn device(self) -> Result<Device, String> {
        let open = self
            .opener()
            .ok_or(format!("backend {self} is not compiled in: add --features {self}"))?;
        // Burn opens a device at its first use, and panics if there is none.
        catch_unwind(AssertUnwindSafe(|| {
            let device = open();
            Tensor::<1>::zeros([1], &device).into_data();
            device
        }))
        .map_err(|_| format!("backend {self} has no device here"))
    }

    fn opener(self) -> Option<fn() -> Device> {
        match self {
            #[cfg(feature = "flex")]
            Self::Flex => Some(Device::flex),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)] // Burn deprecates NdArray.
            Self::Ndarray => Some(Device::ndarray),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Some(|| Device::wgpu(Default::default())),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => Some(|| Device::vulkan(Default::default())),
            #[cfg(feature = "cuda")]
            Self::Cuda => Some(|| Device::cuda(0)),
            #[cfg(feature = "cpu")]
            Self::Cpu => Some(Device::cpu),
            #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
            _ => None,
        }
    }

    /// Whether tensors of a dtype can be made on the device.
    pub fn supports(self, device: &Device, dtype: DType) -> bool {
        match self {
            Self::Ndarray => matches!(dtype, DType::F32 | DType::F64),
            _ => device.supports_dtype(dtype),
        }
    }
}

/// The dtype of a workload's tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Number {
    F32,
    F16,
    Bf16,
    F64,
}

impl Number {
    /// Burn's name for it.
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::F16 => DType::F16,
            Self::Bf16 => DType::BF16,
            Self::F64 => DType::F64,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F64 => "f64",
        })
    }
}
