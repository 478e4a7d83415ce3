//! Times `roi_align_3d` on four workloads: forward, and its gradient of features. `peers.py` beside it times torch's
//! `grid_sample` at the same sample points of the same boxes.
//!
//! ```text
//! cargo run --release -p volumes -- [--backend flex] [--threads 2] [--workload nodules]
//! ```
//!
//! A time is the median of 7 calls after one that is not timed. The limit is the time to read each voxel that a region
//! touches once and to write the output once.

#[path = "../../examples/support/backend_name.rs"]
mod backend_name;
mod limit;
mod workload;

use std::hint::black_box;
use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::{BoxFormat3d, Rois3d, roi_align_3d};
use clap::Parser;

use backend_name::BackendName;
use limit::Limit;
use workload::{WORKLOADS, Workload};

/// Calls of which the median is taken, after one that is not timed.
const CALLS: usize = 7;

#[derive(Debug, Parser)]
struct Arguments {
    /// The backend that runs the operators
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    backend: BackendName,
    /// Threads of a CPU backend
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Times the forward pass alone
    #[arg(long)]
    forward: bool,
    /// The workload, instead of all
    #[arg(long)]
    workload: Option<String>,
}

fn main() -> Result<(), String> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()
        .map_err(|error| format!("{} threads: {error}", arguments.threads))?;
    let device = match arguments.backend {
        #[cfg(feature = "flex")]
        BackendName::Flex => Device::flex(),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // Burn deprecates NdArray.
        BackendName::Ndarray => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => Device::wgpu(Default::default()),
        #[cfg(feature = "cuda")]
        BackendName::Cuda => Device::cuda(0),
        name => return Err(format!("backend {name} is not compiled in: add --features {name}")),
    };
    println!("workload       forward ms   gradient ms    limit ms");
    let wanted = |workload: &&Workload| arguments.workload.as_ref().is_none_or(|name| name == workload.name);
    for workload in WORKLOADS.iter().filter(wanted) {
        let [forward, gradient] = times(workload, &device, arguments.forward)?;
        let limit = Limit::new(workload);
        let limit = median(|| Ok(limit.pass()))?;
        println!("{:<12} {forward:12.2} {gradient:13.2} {limit:11.2}", workload.name);
    }
    Ok(())
}

/// Milliseconds of a call, and of its gradient of features, unless the forward pass alone is timed.
fn times(workload: &Workload, device: &Device, forward_alone: bool) -> Result<[f64; 2], String> {
    let of_device = |device: &Device| {
        let features = TensorData::new(workload.features(), workload.shape);
        let boxes = TensorData::new(workload.boxes(), [workload.regions, 6]);
        let boxes = Tensor::<2>::from_data(boxes, device);
        let rois = Rois3d::from_images(vec![boxes], BoxFormat3d::Xyxyzz);
        (Tensor::<5>::from_data(features, device), rois)
    };
    let failed = |error| format!("{}: {error:?}", workload.name);
    let (features, rois) = of_device(device);
    let forward = median(|| {
        let pooled = roi_align_3d(features.clone(), &rois, workload.config());
        device.sync().map_err(failed)?;
        Ok(pooled)
    })?;
    if forward_alone {
        return Ok([forward, f64::NAN]);
    }
    let tracked = device.clone().autodiff();
    let (features, rois) = of_device(&tracked);
    let features = features.require_grad();
    let mut times = Vec::new();
    for _ in 0..=CALLS {
        let sum = roi_align_3d(features.clone(), &rois, workload.config()).sum();
        device.sync().map_err(failed)?;
        let start = Instant::now();
        let gradients = sum.backward();
        device.sync().map_err(failed)?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        drop(gradients);
    }
    Ok([forward, middle(times.split_off(1))])
}

/// Milliseconds.
fn median<T>(call: impl Fn() -> Result<T, String>) -> Result<f64, String> {
    call()?;
    let time = |_| {
        let start = Instant::now();
        black_box(call()?);
        Ok(1e3 * start.elapsed().as_secs_f64())
    };
    Ok(middle((0..CALLS).map(time).collect::<Result<_, String>>()?))
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
