//! Turns a backend's name into its type.

use burn::tensor::Device;

use crate::backend_name::BackendName;
use crate::error::Error;
use crate::operators::{Job, Pooled};

/// Runs all operators on the backend of that name; the last result is that of the turned region.
pub fn pool_regions(name: BackendName, job: &Job) -> Result<Vec<Pooled>, Error> {
    match name {
        #[cfg(feature = "flex")]
        BackendName::Flex => {
            use burn::backend::{Flex, FlexDevice};
            with_turned(job, job.run::<Flex>(&FlexDevice)?, &Device::flex())
        }
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // Burn deprecates NdArray.
        BackendName::Ndarray => {
            use burn::backend::{NdArray, NdArrayDevice};
            with_turned(job, job.run::<NdArray>(&NdArrayDevice::Cpu)?, &Device::ndarray())
        }
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => {
            use burn::backend::{CubeDevice, Wgpu, WgpuDeviceKind};
            let device = CubeDevice::wgpu(WgpuDeviceKind::DefaultDevice);
            let upright = job.run::<Wgpu>(&available(name, device)?)?;
            with_turned(job, upright, &Device::wgpu(Default::default()))
        }
        #[cfg(feature = "cuda")]
        BackendName::Cuda => {
            use burn::backend::{CubeDevice, Cuda};
            let upright = job.run::<Cuda>(&available(name, CubeDevice::cuda(0))?)?;
            with_turned(job, upright, &Device::cuda(0))
        }
        #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
        _ => Err(Error::NotCompiledIn(name)),
    }
}

/// The results with that of the turned region, whose operator takes tensors of any backend.
fn with_turned(job: &Job, mut results: Vec<Pooled>, device: &Device) -> Result<Vec<Pooled>, Error> {
    results.push(job.run_turned(device)?);
    Ok(results)
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
