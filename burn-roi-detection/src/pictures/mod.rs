//! Picture files, and drawings of what was detected in them.
//!
//! ```no_run
//! use burn_roi_detection::models::{Detector, Picture};
//! use burn_roi_detection::pictures::{self, DecodeConfig};
//!
//! fn detect(detector: &Detector) -> Result<(), Box<dyn std::error::Error>> {
//!     let picture = pictures::read("street.jpg", &DecodeConfig::new())?;
//!     let instances = detector.try_detect(&[Picture::try_from_image(&picture)?])?;
//!     pictures::draw(&picture, &instances[0], detector.config(), 0.5).save("found.png")?;
//!     Ok(())
//! }
//! ```

mod canvas;
mod decode;
#[cfg(feature = "models")]
mod drawing;
mod jpeg_end;

pub use canvas::Canvas;
pub use decode::{DecodeConfig, decode, decoded_bytes, read};
#[cfg(feature = "models")]
pub use drawing::{colour, draw};
