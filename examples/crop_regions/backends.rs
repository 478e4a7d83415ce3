//! Turns a backend's name into its type.

use crate::backend_name::BackendName;
use crate::error::Error;
use crate::operators::{Job, Pooled};

/// Runs all operators on the backend of that name.
pub fn pool_regions(name: BackendName, job: &Job) -> Result<Vec<Pooled>, Error> {
    match name {
        #[cfg(feature = "flex")]
        BackendName::Flex => {
            use burn::backend::{Flex, FlexDevice};
            job.run::<Flex>(&FlexDevice)
        }
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // Burn deprecates NdArray.
        BackendName::Ndarray => {
            use burn::backend::{NdArray, NdArrayDevice};
            job.run::<NdArray>(&NdArrayDevice::Cpu)
        }
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => {
            use burn::backend::{CubeDevice, Wgpu, WgpuDeviceKind};
            let device = CubeDevice::wgpu(WgpuDeviceKind::DefaultDevice);
            job.run::<Wgpu>(&available(name, device)?)
        }
        #[cfg(feature = "cuda")]
        BackendName::Cuda => {
            use burn::backend::{CubeDevice, Cuda};
            job.run::<Cuda>(&available(name, CubeDevice::cuda(0))?)
        }
        #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
        _ => Err(Error::NotCompiledIn(name)),
    }
}

/// NdArray's results for comparison, or `None` in a build without NdArray.
pub fn pool_regions_on_ndarray(job: &Job) -> Result<Option<Vec<Pooled>>, Error> {
    match pool_regions(BackendName::Ndarray, job) {
        Err(Error::NotCompiledIn(_)) => Ok(None),
        results => results.map(Some),
    }
}

/// An error if the machine has no such device.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn available<Device, Reason: std::fmt::Display>(
    backend: BackendName,
    device: Result<Device, Reason>,
) -> Result<Device, Error> {
    device.map_err(|reason| Error::NoDevice {
        backend,
        reason: reason.to_string(),
    })
}
