//! [`Matcher`]: which ground truth a box is trained on.

use burn::tensor::{Int, Tensor};

use crate::arguments;
use crate::error::DetectionError;
use burn_roi::internal::or_panic;

/// Matches each of N predictions, which are proposals or anchors, with one of M ground-truth boxes or with none. Same
/// semantics as torchvision's `Matcher` (`torchvision.models.detection._utils`).
///
/// Each prediction is compared with the ground truth for which its quality, usually the IoU, is the highest. Of equal
/// qualities the first ground truth is taken.
///
/// - A quality of at least `high_threshold` is a match.
/// - If the quality is below `low_threshold`, the prediction is background.
/// - If the quality is between the thresholds, the prediction is ignored in training.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi_detection::Matcher;
///
/// // Two ground-truth boxes and four predictions.
/// let quality = [[0.9, 0.1, 0.5, 0.0], [0.0, 0.8, 0.4, 0.2]];
/// let quality = Tensor::<2>::from_floats(quality, &Device::default());
/// let matches = Matcher::new(0.7, 0.3).forward(quality);
/// assert_eq!(matches.try_into_vec_as::<i32>().unwrap(), [0, 1, -2, -1]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matcher {
    /// The lowest quality of a match. Finite.
    pub high_threshold: f64,
    /// A prediction whose best quality is below this is background. Finite and at most `high_threshold`.
    pub low_threshold: f64,
    /// Whether the best predictions for each ground-truth box are matched even below the thresholds, so that no ground
    /// truth is left out. The best predictions are all with the highest quality for that box. Each is matched with the
    /// ground truth for which its own quality is the highest. Off in [`Matcher::new`], and on in torchvision's region
    /// proposal network.
    pub allow_low_quality_matches: bool,
}

impl Matcher {
    /// What [`forward`](Matcher::forward) returns for background: -1.
    pub const BELOW_LOW_THRESHOLD: i64 = -1;
    /// What [`forward`](Matcher::forward) returns for a prediction between the thresholds: -2.
    pub const BETWEEN_THRESHOLDS: i64 = -2;

    /// A matcher with these thresholds that allows no low-quality matches.
    ///
    /// torchvision's values are 0.5 and 0.5 for proposals, and 0.7 and 0.3 with low-quality matches for anchors.
    pub fn new(high_threshold: f64, low_threshold: f64) -> Self {
        Self {
            high_threshold,
            low_threshold,
            allow_low_quality_matches: false,
        }
    }

    /// Sets `allow_low_quality_matches`.
    pub fn with_allow_low_quality_matches(self, allow_low_quality_matches: bool) -> Self {
        Self {
            allow_low_quality_matches,
            ..self
        }
    }

    /// The match of each prediction.
    ///
    /// - `match_quality_matrix`: `[M, N]`: the quality of each ground truth with each prediction, such as
    ///   [`box_iou`](crate::box_iou) returns, of any float dtype.
    /// - Returns `[N]`: the row of the matched ground truth, or -1 or -2, in the device's integer dtype.
    ///
    /// Nothing is read back to the host. Without ground truth every prediction is background; torchvision raises an
    /// error. A quality that is NaN is no match here, and a match in torchvision. The result is on the inner device if
    /// the matrix is on an autodiff device.
    ///
    /// # Panics
    ///
    /// If [`try_forward`](Matcher::try_forward) returns an error, with its text.
    pub fn forward(&self, match_quality_matrix: Tensor<2>) -> Tensor<1, Int> {
        or_panic(self.try_forward(match_quality_matrix))
    }

    /// Fallible form of [`forward`](Matcher::forward).
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: a threshold is not finite, or `low_threshold` is above `high_threshold`.
    pub fn try_forward(&self, match_quality_matrix: Tensor<2>) -> Result<Tensor<1, Int>, DetectionError> {
        self.check("high_threshold", "low_threshold")?;
        let [ground_truths, predictions] = match_quality_matrix.dims();
        let device = match_quality_matrix.device().inner();
        if predictions == 0 {
            return Ok(Tensor::zeros([0], &device));
        }
        if ground_truths == 0 {
            return Ok(Tensor::full([predictions], Self::BELOW_LOW_THRESHOLD, &device));
        }
        Ok(self.match_columns(match_quality_matrix.inner()))
    }

    /// The match of each column of a matrix that is not empty.
    fn match_columns(&self, quality: Tensor<2>) -> Tensor<1, Int> {
        let [_, predictions] = quality.dims();
        // Backends return different maxima of a number and NaN.
        let not_a_number = quality.clone().is_nan();
        let quality = quality.mask_fill(not_a_number.clone(), f64::NEG_INFINITY);

        let best = quality.clone().max_dim(0);
        let candidates = first_row_with(&quality, best.clone());
        let best = best.reshape([predictions]);
        let below = best.clone().lower_elem(self.low_threshold);
        let between = best
            .clone()
            .greater_equal_elem(self.low_threshold)
            .bool_and(best.lower_elem(self.high_threshold));
        let matches = candidates
            .clone()
            .mask_fill(below, Self::BELOW_LOW_THRESHOLD)
            .mask_fill(between, Self::BETWEEN_THRESHOLDS);
        if !self.allow_low_quality_matches {
            return matches;
        }

        let best_of_row = quality.clone().max_dim(1).expand(quality.dims());
        let is_best = quality.equal(best_of_row).bool_and(not_a_number.bool_not());
        matches.mask_where(is_best.any_dim(0).reshape([predictions]), candidates)
    }

    /// Checks the thresholds, which the caller has under these names.
    pub(super) fn check(&self, high: &'static str, low: &'static str) -> Result<(), DetectionError> {
        for (argument, value) in [(high, self.high_threshold), (low, self.low_threshold)] {
            arguments::check(argument, value.is_finite(), value, "finite")?;
        }
        let fits = self.low_threshold <= self.high_threshold;
        arguments::check(low, fits, self.low_threshold, "at most the threshold of a match")
    }
}

/// For each column the first row that has the value of `best`, `[1, N]`.
///
/// Of equal maxima, backends return the index of different ones.
fn first_row_with(matrix: &Tensor<2>, best: Tensor<2>) -> Tensor<1, Int> {
    let shape @ [rows, columns] = matrix.dims();
    let row_numbers = Tensor::<1, Int>::arange(0..rows as i64, &matrix.device())
        .reshape([rows, 1])
        .expand(shape);
    let other = matrix.clone().not_equal(best.expand(shape));
    row_numbers.mask_fill(other, rows as i64).min_dim(0).reshape([columns])
}
