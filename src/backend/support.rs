//! What a device can do.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, DispatchAutodiffContext, DispatchTensor};
use burn::tensor::{DType, Device};

use super::{RegionKernels, host_memory};

/// A backend that the region operators run on. Use it as the bound of code that is generic over backends.
///
/// It is implemented for `Flex`, `NdArray`, `Remote` and `CubeBackend` (with the aliases `Wgpu`, `Cuda`, …), with and
/// without `Fusion`, if the crate's features for them are on, and for `Dispatch`, which stands for all of them. No
/// other crate can implement it.
///
/// ```
/// use burn::backend::tensor::{FloatTensor, IntTensor};
/// use burn_roi::primitive::{self, RegionTensors};
/// use burn_roi::{RoiAlignConfig, RoiBackend};
///
/// fn pool<B: RoiBackend>(
///     features: FloatTensor<B>,
///     boxes: FloatTensor<B>,
///     batch_indices: IntTensor<B>,
/// ) -> FloatTensor<B> {
///     let config = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25);
///     primitive::pool::<B>(features, RegionTensors::new(boxes, batch_indices), config)
/// }
/// ```
pub trait RoiBackend: RegionKernels + DeviceSupport {}

impl<B: RegionKernels + DeviceSupport> RoiBackend for B {}

/// How the operators run on a device.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// The host plans: every call reads the boxes, and refuses one that is not finite and a batch index that is out
    /// of range.
    Host,
    /// Kernels read the boxes, and the host does not: such a row reads no image and returns the out-of-bounds value.
    Accelerator,
    /// The operators do not run there.
    #[default]
    Unsupported,
}

/// What the devices of a backend can do.
pub trait DeviceSupport: Backend {
    /// How the operators run on a device.
    fn device_kind(device: &Self::Device) -> DeviceKind;

    /// Whether the operators take features of a dtype on a device.
    fn pools_dtype(device: &Self::Device, dtype: DType) -> bool;

    /// Whether the operators take batch indices of an integer dtype on a device.
    fn indexes_dtype(_device: &Self::Device, _dtype: DType) -> bool {
        true
    }

    /// Whether [`RegionKernels::pool_with_positions`] runs on a device.
    fn keeps_positions(_device: &Self::Device) -> bool {
        false
    }

    /// Whether a tensor of so many bytes fits into the memory of a device.
    fn holds(_device: &Self::Device, bytes: usize) -> bool {
        host_memory::holds(bytes)
    }

    /// Whether operations on a tensor are recorded for gradients.
    fn is_autodiff(_tensor: &FloatTensor<Self>) -> bool {
        false
    }
}

#[cfg(feature = "flex")]
impl DeviceSupport for burn::backend::Flex {
    fn device_kind(_device: &Self::Device) -> DeviceKind {
        DeviceKind::Host
    }

    fn pools_dtype(_device: &Self::Device, dtype: DType) -> bool {
        matches!(dtype, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
    }
}

#[cfg(feature = "ndarray")]
impl DeviceSupport for burn::backend::NdArray {
    fn device_kind(_device: &Self::Device) -> DeviceKind {
        DeviceKind::Host
    }

    fn pools_dtype(_device: &Self::Device, dtype: DType) -> bool {
        matches!(dtype, DType::F64 | DType::F32)
    }
}

#[cfg(feature = "cube")]
impl DeviceSupport for burn_cubecl::CubeBackend {
    fn device_kind(_device: &Self::Device) -> DeviceKind {
        DeviceKind::Accelerator
    }

    fn pools_dtype(device: &Self::Device, dtype: DType) -> bool {
        matches!(dtype, DType::F32 | DType::F16 | DType::BF16) && Self::supports_dtype(device, dtype)
    }

    fn indexes_dtype(device: &Self::Device, dtype: DType) -> bool {
        Self::supports_dtype(device, dtype)
    }

    fn keeps_positions(_device: &Self::Device) -> bool {
        true
    }

    fn holds(device: &Self::Device, bytes: usize) -> bool {
        bytes as u64 <= device.client().properties().memory.max_page_size
    }
}

/// The functions of [`DeviceSupport`] for a backend that asks another one. `answer` is the macro that calls a function
/// of the other backend.
macro_rules! answered_by {
    ($answer:ident) => {
        fn device_kind(device: &Self::Device) -> DeviceKind {
            $answer!(device, device_kind())
        }

        fn pools_dtype(device: &Self::Device, dtype: DType) -> bool {
            $answer!(device, pools_dtype(dtype))
        }

        fn indexes_dtype(device: &Self::Device, dtype: DType) -> bool {
            $answer!(device, indexes_dtype(dtype))
        }

        fn keeps_positions(device: &Self::Device) -> bool {
            $answer!(device, keeps_positions())
        }

        fn holds(device: &Self::Device, bytes: usize) -> bool {
            $answer!(device, holds(bytes))
        }
    };
}
#[cfg(feature = "autodiff")]
pub(super) use answered_by;

/// Calls a function of the inner backend `B`, whose devices are those of the outer one.
#[cfg(any(feature = "autodiff", feature = "cube"))]
macro_rules! of_inner_backend {
    ($device:expr, $function:ident ($($argument:expr),*)) => {
        B::$function($device $(, $argument)*)
    };
}
#[cfg(feature = "autodiff")]
pub(super) use of_inner_backend;

#[cfg(feature = "cube")]
impl<B: burn_fusion::FusionBackend + DeviceSupport> DeviceSupport for burn_fusion::Fusion<B> {
    answered_by!(of_inner_backend);
}

/// Whether the host reads what is on a device, since that costs nothing.
pub fn is_host(device: &Device) -> bool {
    Dispatch::device_kind(device.as_dispatch()) == DeviceKind::Host
}

/// Whether the operators run on a device.
#[cfg(feature = "remote")]
pub(crate) fn is_supported(device: &Device) -> bool {
    Dispatch::device_kind(device.as_dispatch()) != DeviceKind::Unsupported
}

/// Whether a device is on a server.
pub fn is_remote(device: &Device) -> bool {
    #[cfg(feature = "remote")]
    return matches!(
        device.clone().inner().as_dispatch(),
        burn::backend::DispatchDevice::Remote(_)
    );
    #[cfg(not(feature = "remote"))]
    return {
        _ = device;
        false
    };
}

/// Calls a function of the backend that a device belongs to. A backend without the operators supports nothing.
macro_rules! of_backend {
    ($device:expr, $function:ident ($($argument:expr),*)) => {
        match $device {
            #[cfg(feature = "flex")]
            burn::backend::DispatchDevice::Flex(device) => burn::backend::Flex::$function(device $(, $argument)*),
            #[cfg(feature = "ndarray")]
            burn::backend::DispatchDevice::NdArray(device) => burn::backend::NdArray::$function(device $(, $argument)*),
            #[cfg(feature = "cube")]
            burn::backend::DispatchDevice::Cube(device) => burn_cubecl::CubeBackend::$function(device $(, $argument)*),
            #[cfg(feature = "remote")]
            burn::backend::DispatchDevice::Remote(device) => burn::backend::Remote::$function(device $(, $argument)*),
            #[cfg(feature = "autodiff")]
            burn::backend::DispatchDevice::Autodiff(device) => Dispatch::$function(&**device $(, $argument)*),
            #[allow(unreachable_patterns)]
            _ => Default::default(),
        }
    };
}

#[cfg_attr(
    not(any(feature = "flex", feature = "ndarray", feature = "cube", feature = "remote")),
    allow(unused_variables, clippy::only_used_in_recursion)
)]
impl DeviceSupport for Dispatch {
    answered_by!(of_backend);

    fn is_autodiff(tensor: &DispatchTensor) -> bool {
        matches!(tensor.autodiff, DispatchAutodiffContext::Enabled(_))
    }
}
