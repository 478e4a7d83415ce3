//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::backend_name::BackendName;

const PHOTOGRAPH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/photograph.jpg");

/// Cuts regions out of a photograph with four operators and draws the results side by side.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The backend that runs the operators
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    pub backend: BackendName,

    /// A JPEG or PNG file; the regions are scaled to its size
    #[arg(long, value_name = "FILE", default_value = PHOTOGRAPH)]
    pub image: PathBuf,

    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "target/crop_regions.png")]
    pub output: PathBuf,

    /// Height and width of each region's output, 1 to 512
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=512))]
    pub size: u16,
}
