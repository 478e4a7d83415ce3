//! Times the calls of a workload.

use std::time::{Duration, Instant};

use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::{Rois, primitive, roi_align, roi_pool};
use serde_json::json;

use crate::arguments::{Arguments, Number};
use crate::backend_name::BackendName;
use crate::workload::{Operator, Workload};

/// The number of calls that are not timed, before those that are.
const WARM_UP: usize = 2;
/// Calls are repeated for at least this long.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The times of a workload.
pub struct Measurement {
    workload: &'static str,
    backend: BackendName,
    dtype: Number,
    threads: usize,
    first: Duration,
    median: Duration,
    bytes: usize,
}

impl Measurement {
    pub const HEADER: &str = "workload             median ms    first ms          MB        GB/s";

    pub fn row(&self) -> String {
        format!(
            "{:<18} {:>11.3} {:>11.3} {:>11.1} {:>11.2}",
            self.workload,
            milliseconds(self.median),
            milliseconds(self.first),
            self.bytes as f64 / 1e6,
            self.bytes_per_second() / 1e9,
        )
    }

    pub fn json(&self) -> String {
        json!({
            "workload": self.workload,
            "backend": self.backend.to_string(),
            "dtype": self.dtype.to_string(),
            "threads": self.threads,
            "median_ms": milliseconds(self.median),
            "first_ms": milliseconds(self.first),
            "bytes": self.bytes,
            "gb_per_s": self.bytes_per_second() / 1e9,
        })
        .to_string()
    }

    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.median.as_secs_f64()
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Times a workload. The first call is timed separately, because it compiles the kernels on a GPU.
pub fn measure(workload: &Workload, arguments: &Arguments, device: &Device, dtype: DType) -> Measurement {
    let call = prepare(workload, device, dtype, arguments.backward);
    let first = time(device, &call);
    for _ in 1..WARM_UP {
        time(device, &call);
    }

    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < arguments.calls || start.elapsed() < LEAST_TIME {
        times.push(time(device, &call));
    }
    times.sort();
    Measurement {
        workload: workload.name,
        backend: arguments.backend,
        dtype: arguments.dtype,
        threads: arguments.threads,
        first,
        median: times[times.len() / 2],
        bytes: match arguments.backward {
            true => workload.bytes_of_backward(dtype.size()),
            false => workload.bytes(dtype.size()),
        },
    }
}

/// Puts features and regions on the device, and returns the call, or that of its features' gradient.
fn prepare(workload: &Workload, device: &Device, dtype: DType, backward: bool) -> Box<dyn Fn() -> Tensor<4>> {
    let [channels, height, width] = workload.features;
    let on_device = |data: TensorData| data.convert_dtype(dtype);
    let features = TensorData::new(workload.features(), [1, channels, height, width]);
    let features = Tensor::<4>::from_data(on_device(features), (device, dtype));
    let boxes = workload.boxes().into_iter().flatten().collect();
    let boxes = TensorData::new(boxes, [workload.regions, 4]);
    let rois = Rois::from_images(vec![Tensor::<2>::from_data(on_device(boxes), (device, dtype))]);
    let operator = workload.operator.clone();
    let call = move |features: Tensor<4>, rois: &Rois| match &operator {
        Operator::RoiAlign(config) => roi_align(features, rois, config.clone()),
        Operator::RoiPool(config) => roi_pool(features, rois, config.clone()),
    };
    if !backward {
        return Box::new(move || call(features.clone(), &rois));
    }
    let shape = call(features.clone(), &rois).dims();
    let gradient = TensorData::new(workload.output_gradient(shape.iter().product()), shape);
    let gradient = Tensor::<4>::from_data(on_device(gradient), (device, dtype));
    let operator = workload.operator.clone();
    Box::new(move || {
        let (gradient, features) = (gradient.clone().into_dispatch(), features.clone().into_dispatch());
        let (boxes, indices) = (rois.boxes().into_dispatch(), rois.batch_indices().into_dispatch());
        let backward = match &operator {
            Operator::RoiAlign(config) => {
                primitive::roi_align_backward::<Dispatch>(gradient, features, boxes, indices, config.clone())
            }
            Operator::RoiPool(config) => {
                primitive::roi_pool_backward::<Dispatch>(gradient, features, boxes, indices, config.clone())
            }
        };
        Tensor::from_dispatch(backward.features())
    })
}

fn time(device: &Device, call: impl Fn() -> Tensor<4>) -> Duration {
    let start = Instant::now();
    let output = call();
    device.sync().expect("the device should finish its work");
    let time = start.elapsed();
    drop(output);
    time
}
