//! Times the calls of a workload.

use std::time::{Duration, Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::{Rois, RotatedRois};
use serde_json::json;

use crate::arguments::{Arguments, Number};
use crate::operator::Inputs;
use crate::traffic;
use crate::workload::Workload;

/// The number of calls that are not timed, before those that are.
const WARM_UP: usize = 2;
/// Calls are repeated for at least this long.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The times of a workload.
pub struct Measurement {
    workload: &'static str,
    /// The backend, or the server.
    backend: String,
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
            "backend": self.backend,
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
    let call = prepare(workload, device, dtype, arguments);
    let first = time(device, &call, 1);
    for _ in 1..WARM_UP {
        time(device, &call, 1);
    }

    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < arguments.calls || start.elapsed() < LEAST_TIME {
        times.push(time(device, &call, arguments.burst));
    }
    times.sort();
    Measurement {
        workload: workload.name,
        backend: arguments.server.clone().unwrap_or(arguments.backend.to_string()),
        dtype: arguments.dtype,
        threads: arguments.threads,
        first,
        median: times[times.len() / 2],
        // The gradient of boxes reads the same pixels as the call, and the output's gradient.
        bytes: match arguments.backward && !arguments.of_boxes {
            true => traffic::bytes_of_backward(workload, dtype.size()),
            false => traffic::bytes(workload, dtype.size()),
        },
    }
}

/// Puts features and regions on the device, and returns the call, or that of a gradient.
fn prepare(
    workload: &Workload,
    device: &Device,
    dtype: DType,
    arguments: &Arguments,
) -> Box<dyn Fn() -> Vec<Tensor<4>>> {
    let inputs = on_device(workload, device, dtype);
    let operator = workload.operator.clone();
    if !arguments.backward {
        return Box::new(move || vec![operator.call(&inputs)]);
    }
    let shape = operator.call(&inputs).dims();
    let gradient = TensorData::new(workload.output_gradient(shape.iter().product()), shape);
    let gradient = Tensor::from_data(gradient.convert_dtype(dtype), (device, dtype));
    let of_boxes = arguments.of_boxes;
    Box::new(move || operator.gradient(&inputs, &gradient, of_boxes))
}

fn on_device(workload: &Workload, device: &Device, dtype: DType) -> Inputs {
    fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device, dtype: DType) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values, shape).convert_dtype(dtype), (device, dtype))
    }
    let regions = workload.regions;
    let [rows, columns] = workload.operator.output_size();
    let maps = workload.maps().into_iter().zip(workload.features());
    let boxes = workload.boxes().into_flattened();
    let rotated = workload.rotated_boxes().into_flattened();
    let offsets = workload.offsets(2 * rows * columns);
    Inputs {
        features: maps
            .map(|([channels, height, width], values)| tensor(values, [1, channels, height, width], device, dtype))
            .collect(),
        rois: Rois::from_images(vec![tensor(boxes, [regions, 4], device, dtype)]),
        rotated: RotatedRois::from_images(vec![tensor(rotated, [regions, 5], device, dtype)]),
        offsets: tensor(offsets, [regions, 2, rows, columns], device, dtype),
    }
}

/// The time of a call, as the mean of `burst` calls. All but the last output are dropped in between.
fn time<T>(device: &Device, call: impl Fn() -> T, burst: u32) -> Duration {
    let start = Instant::now();
    for _ in 1..burst {
        drop(call());
    }
    let output = call();
    device.sync().expect("the device should finish its work");
    let time = start.elapsed() / burst;
    drop(output);
    time
}
