//! The command line.

use std::path::PathBuf;

use clap::Parser;
use find_objects::BackendName;

use crate::pyramid::LEAST_FACE;

/// The shipped weights.
pub const WEIGHTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/mtcnn.safetensors");
/// NASA's portrait of the astronaut Eileen Collins, which is in the public domain.
pub const PHOTOGRAPH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crop_regions/photograph.jpg");

/// Finds faces and their landmarks in photographs with MTCNN, and draws them.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs the networks
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// A picture (JPEG, PNG, WebP, BMP, GIF or TIFF), or a folder of them; may be repeated [default: the shipped
    /// photograph]
    #[arg(long, value_name = "FILE", default_value = PHOTOGRAPH, hide_default_value = true)]
    pub image: Vec<PathBuf>,

    /// The PNG file to write; with several pictures, a number is added to each file's name
    #[arg(long, value_name = "FILE", default_value = "target/find_faces.png")]
    pub output: PathBuf,

    /// Print the faces of each picture as a line of JSON, and everything else to stderr
    #[arg(long)]
    pub json: bool,

    /// The side of the smallest faces that are looked for, in pixels; at least 12
    #[arg(long, value_name = "PIXELS", default_value_t = LEAST_FACE)]
    pub least_face: f64,

    /// How many pictures the networks take at once; smaller ones are padded with black to the size of the largest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub batch: u16,

    /// Run each batch that many times more, and print the median times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub repeat: u32,
}
