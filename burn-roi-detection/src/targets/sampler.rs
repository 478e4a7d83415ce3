//! [`BalancedPositiveNegativeSampler`]: the random samples that a loss is computed from.

use burn::tensor::{Int, Tensor};

use super::IntsOfImages;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use crate::{arguments, host};

/// Draws a fixed number of proposals or anchors of each image, with at most a fixed fraction of positive ones. Same
/// semantics as torchvision's `BalancedPositiveNegativeSampler` (`torchvision.models.detection._utils`).
///
/// If there are too few positive ones, negative ones take their place. If there are too few of both, fewer are drawn.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_roi_detection::{BalancedPositiveNegativeSampler, random_permutations};
///
/// let labels = vec![Tensor::<1, Int>::from_ints([0, 2, -1, 0, 0, 1], &Device::default())];
/// let sampler = BalancedPositiveNegativeSampler::new(3, 0.5);
/// let (positive, negative) = sampler.forward(&labels, &mut random_permutations(0));
/// // Half of 3, rounded down, is 1.
/// assert_eq!(positive[0].dims(), [1]);
/// assert_eq!(negative[0].dims(), [2]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalancedPositiveNegativeSampler {
    /// The number of samples of an image, at most. Above 0.
    pub batch_size_per_image: usize,
    /// The largest fraction of positive samples: from 0 to 1.
    pub positive_fraction: f64,
}

impl BalancedPositiveNegativeSampler {
    /// A sampler with this number of samples and this fraction of positive ones.
    ///
    /// torchvision's values are 512 and 0.25 for proposals, and 256 and 0.5 for anchors.
    pub fn new(batch_size_per_image: usize, positive_fraction: f64) -> Self {
        Self {
            batch_size_per_image,
            positive_fraction,
        }
    }

    blocking_forms!(
        /// The positive and the negative samples of each image.
        ///
        /// - `labels`: for each image `[K]`, of any integer dtype: 1 and above are positive, 0 is negative, and what is
        ///   below 0 is never drawn.
        /// - `permutation`: for a number n, the indices 0 to n - 1 in a random order, such as
        ///   [`random_permutations`](crate::random_permutations()) returns. For each image in turn it is called with
        ///   the number of positive labels and then with the number of negative labels. The first indices are drawn.
        /// - Returns for each image the indices of the positive samples, and for each image the indices of the negative
        ///   samples. Both ascend and have the device's integer dtype. torchvision returns masks with 1 at these
        ///   indices.
        ///
        /// The labels are read back to the host.
        pub async fn forward(
            &self,
            labels: &[Tensor<1, Int>],
            permutation: &mut impl FnMut(usize) -> Vec<usize>,
        ) -> Result<(IntsOfImages, IntsOfImages), DetectionError> {
            //! Async form of [`forward`](BalancedPositiveNegativeSampler::forward). Use it on WebGPU in a browser,
            //! which cannot block.
            //!
            //! # Errors
            //!
            //! `RoiError::Option`: `batch_size_per_image` is 0, `positive_fraction` is not from 0 to 1, or
            //! `permutation` returns anything but a permutation.

            self.check()?;
            let (mut positive, mut negative) = (Vec::new(), Vec::new());
            for labels in labels {
                let samples = self.draw(&host::read_ints(labels).await?, permutation)?;
                positive.push(host::indices(&samples.positive, &labels.device()));
                negative.push(host::indices(&samples.negative, &labels.device()));
            }
            Ok((positive, negative))
        }
    );

    /// Draws the samples of one image.
    pub(crate) fn draw(
        &self,
        labels: &[i128],
        permutation: &mut impl FnMut(usize) -> Vec<usize>,
    ) -> Result<Samples, DetectionError> {
        let positive = rows_where(labels, |label| label >= 1);
        let negative = rows_where(labels, |label| label == 0);
        let most_positive = (self.batch_size_per_image as f64 * self.positive_fraction) as usize;
        let positive_count = most_positive.min(positive.len());
        let negative_count = (self.batch_size_per_image - positive_count).min(negative.len());
        Ok(Samples {
            positive: choose(&positive, positive_count, permutation)?,
            negative: choose(&negative, negative_count, permutation)?,
        })
    }

    pub(crate) fn check(&self) -> Result<(), DetectionError> {
        let (size, fraction) = (self.batch_size_per_image, self.positive_fraction);
        arguments::check("batch_size_per_image", size > 0, size, "above 0")?;
        let fits = (0.0..=1.0).contains(&fraction);
        arguments::check("positive_fraction", fits, fraction, "from 0 to 1")
    }
}

/// The rows of one image that were drawn, each list in ascending order.
pub struct Samples {
    pub positive: Vec<usize>,
    pub negative: Vec<usize>,
}

impl Samples {
    /// All rows in ascending order.
    pub fn into_rows(self) -> Vec<usize> {
        let mut rows = self.positive;
        rows.extend(self.negative);
        rows.sort_unstable();
        rows
    }
}

/// The rows whose label fits.
pub fn rows_where(labels: &[i128], fits: impl Fn(i128) -> bool) -> Vec<usize> {
    (0..labels.len()).filter(|&row| fits(labels[row])).collect()
}

/// The first `count` candidates in the order of a permutation, ascending.
fn choose(
    candidates: &[usize],
    count: usize,
    permutation: &mut impl FnMut(usize) -> Vec<usize>,
) -> Result<Vec<usize>, DetectionError> {
    let order = permutation(candidates.len());
    check_permutation(&order, candidates.len())?;
    let mut chosen: Vec<usize> = order[..count].iter().map(|&index| candidates[index]).collect();
    chosen.sort_unstable();
    Ok(chosen)
}

fn check_permutation(order: &[usize], count: usize) -> Result<(), DetectionError> {
    let expected = "a function of n that returns each index from 0 to n - 1 once";
    let wrong = |value| Err(arguments::option("permutation", value, expected));
    if order.len() != count {
        return wrong(format!(
            "a function that returns {} indices for n = {count}",
            order.len()
        ));
    }
    let mut seen = vec![false; count];
    for &index in order {
        match seen.get_mut(index) {
            None => return wrong(format!("a function that returns {index} for n = {count}")),
            Some(true) => return wrong(format!("a function that returns {index} twice for n = {count}")),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}
