//! Turns a backend's name into its device.

use burn::tensor::Device;

use crate::backend_name::BackendName;
use crate::error::Error;

impl BackendName {
    /// The backend's device.
    pub fn device(self) -> Result<Device, Error> {
        match self {
            #[cfg(feature = "flex")]
            Self::Flex => Ok(Device::flex()),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)] // Burn deprecates NdArray.
            Self::Ndarray => Ok(Device::ndarray()),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => {
                use burn::backend::{CubeDevice, WgpuDeviceKind};
                self.available(CubeDevice::wgpu(WgpuDeviceKind::DefaultDevice))
            }
            #[cfg(feature = "cuda")]
            Self::Cuda => self.available(burn::backend::CubeDevice::cuda(0)),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => Ok(Device::vulkan(Default::default())),
            #[cfg(feature = "cpu")]
            Self::Cpu => Ok(Device::cpu()),
            #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
            _ => Err(Error::NotCompiledIn(self)),
        }
    }

    /// The first devices of the backend, so many of them.
    pub fn devices(self, count: usize) -> Result<Vec<Device>, Error> {
        let mut devices = match self {
            _ if count == 1 => vec![self.device()?],
            #[cfg(feature = "cuda")]
            Self::Cuda => Device::enumerate(burn::tensor::DeviceType::Cuda).into_vec(),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Device::enumerate(burn::tensor::DeviceType::Wgpu).into_vec(),
            _ => vec![self.device()?],
        };
        if devices.len() < count {
            return Err(Error::FewDevices {
                backend: self,
                found: devices.len(),
                count,
            });
        }
        devices.truncate(count);
        Ok(devices)
    }

    /// An error if the machine has no such device.
    #[cfg(any(feature = "wgpu", feature = "cuda"))]
    fn available<Reason: std::fmt::Display>(
        self,
        device: Result<burn::backend::CubeDevice, Reason>,
    ) -> Result<Device, Error> {
        match device {
            Ok(device) => Ok(Device::new(device)),
            Err(reason) => Err(Error::NoDevice {
                backend: self,
                reason: reason.to_string(),
            }),
        }
    }
}
