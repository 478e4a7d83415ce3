//! Times the operators on five workloads of two-stage detectors.
//!
//! ```text
//! cargo run --release --example throughput -- --backend flex --threads 2
//! cargo run --release --example throughput -- --backend flex --dtype f16 --json
//! cargo run --release --example throughput --features cuda -- --backend cuda
//! ```
//!
//! A call has its features and boxes on the device, and allocates its output, as a user's does. The
//! time is the median of at least 7 calls after 2 that warm up; on a device that queues, a call ends
//! when its work is done.

mod arguments;
mod measure;
mod random;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use measure::Measurement;

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
    let workloads = workload::named(&arguments.workload)?;
    if !arguments.json {
        println!("{}", Measurement::HEADER);
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()
        .map_err(|error| format!("{} threads: {error}", arguments.threads))?;
    let device = arguments.backend.device()?;
    let dtype = arguments.dtype.dtype();
    if !arguments.backend.supports(&device, dtype) {
        return Err(format!("{} has no {:?}", arguments.backend, arguments.dtype));
    }
    for workload in workloads {
        let measurement = measure::measure(&workload, arguments, &device, dtype);
        match arguments.json {
            true => println!("{}", measurement.json()),
            false => println!("{}", measurement.row()),
        }
    }
    Ok(())
}
