//! Finds faces and their landmarks in photographs with MTCNN, and the weights of the Python package `mtcnn`.
//!
//! ```text
//! cargo run --release -p find_faces
//! cargo run --release -p find_faces --features ndarray -- --backend ndarray
//! cargo run --release -p find_faces -- --image folder --batch 8 --json
//! cargo run --release -p find_faces --features wgpu,fusion -- --backend wgpu
//! ```
//!
//! - `networks/` has the layers that have weights: a proposal network that looks at a pyramid of the picture, and two
//!   networks that look at the proposals again, in crops by `burn_roi::crop_and_resize`.
//! - `detector.rs` has the steps between them, and `candidates.rs` the boxes.
//! - `package/` converts the package's weights, records what it finds, and times it. `LICENSE-mtcnn` is its licence.
//!
//! All numbers are those of the package, its habits included; `candidates.rs`, `pyramid.rs` and `detector.rs` name
//! them. Two of its faults are mended: it finds no face if the least face is above 22 pixels, and in a batch it can
//! move boxes by the padding of another picture.
//!
//! The package finds the face of the shipped photograph with a score of 0.9991 and this command with 0.9959: their
//! decoders of JPEG interpolate colours differently. From the same pixels both have the same score.

mod arguments;
mod batch;
mod candidates;
mod detector;
mod drawing;
mod error;
mod networks;
mod pyramid;
mod report;
mod stages;

use std::fs;
use std::path::{Path, PathBuf};

use find_objects::pictures;
use image::RgbImage;

pub use arguments::{Arguments, PHOTOGRAPH, WEIGHTS};
pub use candidates::Candidate;
pub use detector::{Detector, Face, Found};
pub use error::Error;
use find_objects::{Report, short};
pub use pyramid::LEAST_FACE;
pub use stages::{Stage, Stages};

/// How many pixels a batch has at most, unless one picture has more.
const BATCH_PIXELS: usize = 64 << 20;

/// Does what the command line asks for. A picture that can't be read is named, and the others are still looked at.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let report = Report { json: arguments.json };
    let files = pictures::find(&arguments.image)?;
    let device = arguments.backend.device()?;
    let weights = fs::read(WEIGHTS).map_err(|source| Error::ReadWeights {
        path: WEIGHTS.into(),
        source,
    })?;
    let detector = Detector::new(weights, &device)?;
    report.line(&format!("{}: MTCNN", arguments.backend));

    let mut unread = 0;
    let mut batch = Opened::default();
    for (number, file) in (1..).zip(&files) {
        match pictures::read(file) {
            Ok(picture) => {
                if !batch.takes(&picture, arguments) {
                    find(&detector, &batch, arguments, &report)?;
                    batch = Opened::default();
                }
                let output = pictures::numbered(&arguments.output, number, files.len());
                batch.files.push((file.clone(), output));
                batch.pictures.push(picture);
            }
            Err(error) if files.len() == 1 => return Err(error.into()),
            Err(error) => {
                eprintln!("error: {error}");
                unread += 1;
            }
        }
    }
    find(&detector, &batch, arguments, &report)?;
    match unread {
        0 => Ok(()),
        _ => Err(Error::Unread {
            unread,
            of: files.len(),
        }),
    }
}

/// Pictures that are looked at together, with their files and the files to write.
#[derive(Default)]
struct Opened {
    files: Vec<(PathBuf, PathBuf)>,
    pictures: Vec<RgbImage>,
}

impl Opened {
    /// Whether the batch has room for another picture, which can make all of them larger.
    fn takes(&self, picture: &RgbImage, arguments: &Arguments) -> bool {
        let largest = |side: fn(&RgbImage) -> u32| self.pictures.iter().chain([picture]).map(side).max();
        let [width, height] = [RgbImage::width, RgbImage::height].map(|side| largest(side).unwrap_or(0) as usize);
        let count = self.pictures.len();
        let fits = width.saturating_mul(height).saturating_mul(count + 1) <= BATCH_PIXELS;
        count == 0 || (count < usize::from(arguments.batch) && fits)
    }
}

/// Finds the faces in a batch, prints them and draws them.
fn find(detector: &Detector, batch: &Opened, arguments: &Arguments, report: &Report) -> Result<(), Error> {
    if batch.pictures.is_empty() {
        return Ok(());
    }
    let found = detector.find(&batch.pictures, arguments.least_face)?;
    for ((picture, (file, output)), faces) in batch.pictures.iter().zip(&batch.files).zip(&found.faces) {
        report::faces(report, file, picture, faces);
        write(picture, faces, output)?;
        report.line(&format!("  wrote {}", short(output).display()));
    }
    let mut runs = vec![found.stages];
    for _ in 0..arguments.repeat {
        runs.push(detector.find(&batch.pictures, arguments.least_face)?.stages);
    }
    if runs.len() > 1 {
        // The first one warmed up.
        runs.remove(0);
    }
    report::times(report, &runs);
    Ok(())
}

fn write(picture: &RgbImage, faces: &[Face], output: &Path) -> Result<(), Error> {
    Ok(pictures::write(&drawing::draw(picture, faces), output)?)
}
