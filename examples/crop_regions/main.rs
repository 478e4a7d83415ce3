//! Cuts regions out of a photograph with `crop_and_resize`, `roi_align` and `roi_pool`, and a turned one with
//! `roi_align_rotated`, and draws the results side by side in one PNG file.
//!
//! ```text
//! cargo run --release -p crop_regions
//! cargo run --release -p crop_regions --features ndarray -- --backend ndarray
//! cargo run --release -p crop_regions --features wgpu,fusion -- --backend wgpu
//! ```
//!
//! `operators.rs` calls the operators: three generic over the backend, and the fourth on tensors of any backend.
//! `backends.rs` turns a backend's name into its type.
//!
//! `photograph.jpg` is NASA's portrait of the astronaut Eileen Collins, which is in the public domain.

mod arguments;
#[path = "../support/backend_name.rs"]
mod backend_name;
mod backends;
mod canvas;
mod error;
mod operators;
#[path = "../support/picture_files.rs"]
mod picture_files;
mod pictures;
mod regions;
mod report;
mod sheet;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use error::Error;
use operators::Job;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let photograph = pictures::read(&arguments.image)?;
    let regions = regions::on_photograph(photograph.dimensions());
    let turned = regions::turned_on_photograph(photograph.dimensions());
    let job = Job::new(&photograph, &regions, &turned, arguments.size);

    let results = backends::pool_regions(arguments.backend, &job)?;
    let reference = backends::pool_regions_on_ndarray(&job)?;
    report::print(arguments.backend, &job, &results, reference.as_deref());

    let sheet = sheet::draw(&photograph, &regions, &turned, &results);
    pictures::write(&sheet, &arguments.output)?;
    println!("\nwrote {}", report::short(&arguments.output).display());
    Ok(())
}
