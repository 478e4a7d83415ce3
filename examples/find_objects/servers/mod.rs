//! Pictures on servers: the heads or the whole detector run there, and each server works on a picture of its own.

mod spread;

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use image::RgbImage;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::found::Found;
use crate::report::Report;
use crate::server_device::connect;
use crate::stages::progress_bar;
use crate::{config, load, pictures, present};
use burn_roi::RoiError;
use burn_roi_detection::DetectionError;
use burn_roi_detection::models::{Detector, DetectorConfig};
use spread::{Event, Failure, Incomplete, spread};

/// A picture and what was found in it.
type Detected = (RgbImage, Vec<Found>);

/// Detects objects in all pictures on the servers, and draws them. A server that fails is left out, and the others do
/// its picture.
pub fn run(files: &[PathBuf], arguments: &Arguments, report: &Report) -> Result<(), Error> {
    let config = config::read(&arguments.config)?;
    let local = arguments.backend.device()?;
    let mut detectors = Vec::new();
    for server in &arguments.server {
        match detector(server, &config, &local, arguments, report)? {
            Ok(detector) => detectors.push((server.clone(), detector)),
            Err(reason) => left_out(server, &reason, report),
        }
    }
    let bar = progress_bar(files.len() as u64);
    let work = |detector: &mut Detector, job: usize| detect(detector, &files[job]);
    let outcome = spread(detectors, files.len(), work, |event| match event {
        Event::Done(job, (picture, found)) => {
            let output = pictures::numbered(&arguments.output, job + 1, files.len());
            bar.suspend(|| present(&picture, &files[job], &output, &found, arguments, &config, report))?;
            // Not while the bar is suspended, which holds its lock.
            bar.inc(1);
            Ok(())
        }
        Event::Lost(server, reason) => {
            bar.suspend(|| left_out(&server, &reason, report));
            Ok(())
        }
    });
    bar.finish_and_clear();
    outcome.map_err(|incomplete| match incomplete {
        Incomplete::NoWorker(left) => Error::NoServerLeft(left),
        Incomplete::Job(error) => error,
    })
}

fn left_out(server: &str, reason: &str, report: &Report) {
    report.line(&format!("{server} is left out: {reason}"));
}

/// The detector whose heads, or all of which, are on a server; or why that server can't be used.
fn detector(
    server: &str,
    config: &DetectorConfig,
    local: &Device,
    arguments: &Arguments,
    report: &Report,
) -> Result<Result<Detector, String>, Error> {
    let device = match connect(server) {
        Ok(device) => device,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(Ok(if arguments.all {
        load(arguments, config.clone(), &device, report)?
    } else {
        load(arguments, config.clone(), local, report)?.with_heads_on(&device)
    }))
}

fn detect(detector: &Detector, file: &Path) -> Result<Detected, Failure<Error>> {
    let picture = pictures::read(file).map_err(Failure::Job)?;
    match crate::detect(detector, &picture, &mut ()) {
        Ok(found) => Ok((picture, found)),
        Err(error @ (Error::Data(_) | Error::Refused(DetectionError::Roi(RoiError::DeviceRead { .. })))) => {
            Err(Failure::Worker(error.to_string()))
        }
        Err(error) => Err(Failure::Job(error)),
    }
}
