//! Times the operators on the workloads of two-stage detectors: five, or those that `--workload` names.
//!
//! ```text
//! cargo run --release -p throughput -- --backend flex --threads 2
//! cargo run --release -p throughput -- --backend flex --dtype f16 --json
//! cargo run --release -p throughput -- --backend flex --backward
//! cargo run --release -p throughput -- --backend flex --limit
//! cargo run --release -p throughput -- --workload rotated-p2,prroi-p2,extractor,ps-rfcn,deform-c4
//! cargo run --release -p throughput --features ndarray -- --backend ndarray
//! cargo run --release -p throughput --features cuda -- --backend cuda --burst 20
//! cargo run --release -p throughput --features remote -- --server ws://127.0.0.1:3000
//! ```
//!
//! Features and boxes are on the device before the call, and the call allocates its output. With `--backward` the call
//! is that of the features' gradient, alone. With `--as-roi-align` it is that of `roi_align` on the same features,
//! boxes and output size. The time is the median of at least 7 calls after 2 warm-up calls. Each call is timed until
//! the device has finished its work. With `--burst 20` twenty calls are, and the time is a twentieth: on a GPU the
//! next call is prepared while the one before it runs.
//!
//! `system ms` is what the system spent on a call, all threads together, with the release of its output. With `--limit`
//! the least that a call can take is measured as well: see [`limit`].

mod arguments;
#[path = "../../examples/support/backend_name.rs"]
mod backend_name;
mod limit;
mod measure;
mod operator;
mod random;
#[cfg(feature = "remote")]
#[path = "../../examples/support/server_device.rs"]
mod server_device;
mod system_time;
mod traffic;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use measure::Measurement;
use workload::Workload;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut workloads = workload::named(&arguments.workload)?;
    if arguments.as_roi_align {
        workloads = workloads.into_iter().map(Workload::with_roi_align).collect();
    }
    if !arguments.json {
        println!("{}", Measurement::header(arguments.limit));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()
        .map_err(|error| format!("{} threads: {error}", arguments.threads))?;
    let device = match &arguments.server {
        Some(server) => on_server(server)?,
        None => arguments.backend.device()?,
    };
    let dtype = arguments.dtype.dtype();
    if !arguments.backend.supports(&device, dtype) {
        return Err(format!("{} has no {:?}", arguments.backend, arguments.dtype));
    }
    for workload in workloads {
        let measurement = measure::measure(&workload, arguments, &device, dtype)?;
        match arguments.json {
            true => println!("{}", measurement.json()),
            false => println!("{}", measurement.row()),
        }
    }
    Ok(())
}

#[cfg(feature = "remote")]
use server_device::connect as on_server;

#[cfg(not(feature = "remote"))]
fn on_server(_server: &str) -> Result<burn::tensor::Device, String> {
    Err("servers are not compiled in: add --features remote".to_string())
}
