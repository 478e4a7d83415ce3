//! [`Picture`]: what a detector looks at.

use burn::tensor::Tensor;

use crate::arguments;
use crate::error::DetectionError;
use burn_roi::internal::or_panic;

/// A picture in red, green and blue, of any size.
///
/// ```
/// use burn_roi_detection::models::Picture;
///
/// // Two rows of three pixels.
/// let pixels = [0; 2 * 3 * 3];
/// assert_eq!(Picture::from_rgb([2, 3], &pixels).size(), [2, 3]);
/// let error = Picture::try_from_rgb([2, 2], &pixels).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`pixels` has length 18, but must have length 12: one for each channel of each pixel of `size`",
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Picture<'a> {
    size: [usize; 2],
    pixels: Pixels<'a>,
}

#[derive(Debug, Clone)]
pub(super) enum Pixels<'a> {
    /// Row by row, each pixel three bytes.
    Bytes(&'a [u8]),
    /// `[3, H, W]`, from 0 to 1.
    Tensor(Box<Tensor<3>>),
}

impl<'a> Picture<'a> {
    /// A picture of bytes.
    ///
    /// - `size`: `[height, width]` in pixels.
    /// - `pixels`: row by row, the red, green and blue of each pixel.
    ///
    /// # Panics
    ///
    /// If [`try_from_rgb`](Self::try_from_rgb) returns an error, with its text.
    pub fn from_rgb(size: [usize; 2], pixels: &'a [u8]) -> Self {
        or_panic(Self::try_from_rgb(size, pixels))
    }

    /// Fallible form of [`from_rgb`](Self::from_rgb).
    ///
    /// # Errors
    ///
    /// - `RoiError::Option`: a side of `size` is 0.
    /// - [`DetectionError::Length`]: `pixels` does not have three bytes for each pixel.
    pub fn try_from_rgb(size: [usize; 2], pixels: &'a [u8]) -> Result<Self, DetectionError> {
        let [height, width] = checked("size", size)?;
        let expected = height.saturating_mul(width).saturating_mul(3);
        arguments::length("pixels", pixels.len(), expected, "channel of each pixel of `size`")?;
        Ok(Self {
            size,
            pixels: Pixels::Bytes(pixels),
        })
    }

    /// A picture of the crate `image`.
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: the picture has a side of 0 pixels.
    #[cfg(feature = "pictures")]
    pub fn try_from_image(picture: &'a image::RgbImage) -> Result<Self, DetectionError> {
        let size = [picture.height(), picture.width()].map(|side| side as usize);
        Self::try_from_rgb(size, picture.as_raw())
    }

    /// A picture of floats.
    ///
    /// - `pixels`: `[3, H, W]`: red, green and blue, each from 0 to 1, of any float dtype and on any device. Detection
    ///   reads it back to the host.
    ///
    /// # Panics
    ///
    /// If [`try_from_tensor`](Self::try_from_tensor) returns an error, with its text.
    pub fn from_tensor(pixels: Tensor<3>) -> Self {
        or_panic(Self::try_from_tensor(pixels))
    }

    /// Fallible form of [`from_tensor`](Self::from_tensor).
    ///
    /// # Errors
    ///
    /// - `RoiError::Shape`: `pixels` is not `[3, H, W]`.
    /// - `RoiError::Option`: H or W is 0.
    pub fn try_from_tensor(pixels: Tensor<3>) -> Result<Self, DetectionError> {
        let [channels, height, width] = pixels.dims();
        if channels != 3 {
            return Err(arguments::shape("pixels", &pixels.dims(), "[3, H, W]"));
        }
        Ok(Self {
            size: checked("pixels", [height, width])?,
            pixels: Pixels::Tensor(Box::new(pixels)),
        })
    }

    /// `[height, width]` in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    pub(super) fn pixels(&self) -> &Pixels<'a> {
        &self.pixels
    }
}

fn checked(argument: &'static str, size: [usize; 2]) -> Result<[usize; 2], DetectionError> {
    if size.contains(&0) {
        let value = format!("of {} rows and {} columns", size[0], size[1]);
        return Err(arguments::option(argument, value, "above 0 in height and in width"));
    }
    Ok(size)
}
