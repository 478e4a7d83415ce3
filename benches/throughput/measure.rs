//! Times the calls of a workload.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::{Rois, RotatedRois};
use serde_json::json;

use crate::arguments::{Arguments, Number};
use crate::limit::Limit;
use crate::operator::Inputs;
use crate::system_time::system_time;
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
    /// What the system spent on a call, on average.
    system: Option<Duration>,
    /// The least that a call can take.
    limit: Option<Duration>,
    bytes: usize,
}

impl Measurement {
    /// The columns of [`Self::row`].
    pub fn header(with_limit: bool) -> String {
        let header = "workload             median ms    first ms          MB        GB/s   system ms";
        match with_limit {
            true => format!("{header}    limit ms    multiple"),
            false => header.into(),
        }
    }

    pub fn row(&self) -> String {
        let row = format!(
            "{:<18} {:>11.3} {:>11.3} {:>11.1} {:>11.2} {:>11}",
            self.workload,
            milliseconds(self.median),
            milliseconds(self.first),
            self.bytes as f64 / 1e6,
            self.bytes_per_second() / 1e9,
            self.system
                .map_or("unknown".into(), |time| format!("{:.3}", milliseconds(time))),
        );
        match (self.limit, self.multiple()) {
            (Some(limit), Some(multiple)) => format!("{row} {:>11.3} {multiple:>11.2}", milliseconds(limit)),
            _ => row,
        }
    }

    /// How many times the limit a call takes.
    fn multiple(&self) -> Option<f64> {
        self.limit.map(|limit| self.median.as_secs_f64() / limit.as_secs_f64())
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
            "system_ms": self.system.map(milliseconds),
            "limit_ms": self.limit.map(milliseconds),
            "multiple_of_limit": self.multiple(),
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
pub fn measure(
    workload: &Workload,
    arguments: &Arguments,
    device: &Device,
    dtype: DType,
) -> Result<Measurement, String> {
    let limit = arguments.limit.then(|| Limit::new(workload, dtype.size()));
    let limit = limit.map(|limit| median(arguments.calls, || limit.time()));
    let limit = limit
        .transpose()
        .map_err(|error| format!("memory for the limit: {error}"))?;

    let call = prepare(workload, device, dtype, arguments);
    let call: Box<dyn Fn() -> Vec<Tensor<4>>> = match arguments.read {
        true => Box::new(move || call().into_iter().map(|output| output.sum().reshape([1; 4])).collect()),
        false => call,
    };
    let first = time(device, &call, 1);
    for _ in 1..WARM_UP {
        time(device, &call, 1);
    }
    let (system_before, mut calls) = (system_time(), 0);
    let median = median(arguments.calls, || {
        calls += arguments.burst;
        Ok::<_, Infallible>(time(device, &call, arguments.burst))
    });
    let Ok(median) = median;
    let system = system_before.zip(system_time());
    Ok(Measurement {
        workload: workload.name,
        backend: arguments.server.clone().unwrap_or(arguments.backend.to_string()),
        dtype: arguments.dtype,
        threads: arguments.threads,
        first,
        median,
        system: system.map(|(before, after)| (after - before) / calls),
        limit,
        // The gradient of boxes reads the same pixels as the call, and the output's gradient.
        bytes: match arguments.backward && !arguments.of_boxes {
            true => traffic::bytes_of_backward(workload, dtype.size()),
            false => traffic::bytes(workload, dtype.size()),
        },
    })
}

/// The median of at least `least` times.
fn median<E>(least: usize, mut time: impl FnMut() -> Result<Duration, E>) -> Result<Duration, E> {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < least || start.elapsed() < LEAST_TIME {
        times.push(time()?);
    }
    times.sort();
    Ok(times[times.len() / 2])
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
