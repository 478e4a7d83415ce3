//! A server of one backend's device, with the region operators.

use burn::server::RemoteServer;

use crate::backend_name::BackendName;
use crate::error::Error;

/// A server of a device of a backend type, which runs the operators.
#[allow(unused_macros)] // The features decide whether it is used.
macro_rules! serve {
    ($backend:ty, $device:expr) => {{
        let mut operations = burn::server::CustomOpRegistry::<$backend>::new();
        burn_roi::remote::register(&mut operations);
        Ok(RemoteServer::new([$device]).with_custom_ops(operations))
    }};
}

/// A server of the backend's first device.
pub fn with_operators(backend: BackendName) -> Result<RemoteServer, Error> {
    match backend {
        #[cfg(feature = "flex")]
        BackendName::Flex => serve!(burn::backend::Flex, burn::tensor::Device::flex()),
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => serve!(burn::backend::Cube, burn::tensor::Device::wgpu(Default::default())),
        #[cfg(feature = "cuda")]
        BackendName::Cuda => serve!(burn::backend::Cube, burn::tensor::Device::cuda(0)),
        BackendName::Ndarray | BackendName::Vulkan | BackendName::Cpu => Err(Error::NotServed(backend)),
        #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
        _ => Err(Error::NotCompiledIn(backend)),
    }
}
