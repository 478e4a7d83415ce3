//! Rotated boxes of a tensor, checked and read.

use burn::tensor::Tensor;

use super::geometry::RotatedBox;
use crate::error::DetectionError;
use crate::host;
use burn_roi::AngleConvention;

/// Reads boxes `[K, 5]` back to the host.
///
/// # Errors
///
/// [`DetectionError::RotatedBoxNotFinite`], for the first row that has a NaN or an infinity.
pub async fn read(
    argument: &'static str,
    boxes: &Tensor<2>,
    convention: AngleConvention,
) -> Result<Vec<RotatedBox>, DetectionError> {
    let rows = host::read_rows(boxes).await?.into_iter().enumerate();
    let read = rows.map(|(row, values)| match values.iter().all(|value| value.is_finite()) {
        true => Ok(RotatedBox::new(values, convention)),
        false => Err(DetectionError::RotatedBoxNotFinite { argument, row, values }),
    });
    read.collect()
}
