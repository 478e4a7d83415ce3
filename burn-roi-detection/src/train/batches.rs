//! [`BatchConfig`]: which samples are in a batch.

use burn_roi::internal::or_panic;

use crate::arguments;
use crate::configs::configs;
use crate::error::DetectionError;
use crate::random::SplitMix64;
use crate::random_permutations;

configs! {
/// How the samples of an epoch are shuffled and put into batches.
///
/// The pictures of a batch are padded to a common size. Pictures of similar shape therefore go together, as with
/// torchvision's `GroupedBatchSampler` and `create_aspect_ratio_groups`.
pub struct BatchConfig {
    /// The number of samples of a batch. Above 0.
    pub batch_size: usize,
    /// The number of groups between the aspect ratios 1 and 2. There are as many between 1/2 and 1, one below and one
    /// above. With 0, there are two groups: portraits and landscapes. At most 1000.
    pub aspect_ratio_group_factor: usize = 3,
    /// The seed of the order of the samples.
    pub seed: u64 = 0,
}
}

impl BatchConfig {
    /// The batches of an epoch. Each sample is in one of them. The last batch of a group may be smaller.
    ///
    /// - `sizes`: `[height, width]` of the picture of each sample.
    /// - `epoch`: the index of the epoch. Each epoch has another order.
    /// - Returns the indices of the samples of each batch.
    ///
    /// ```
    /// use burn_roi_detection::train::BatchConfig;
    ///
    /// let sizes = [[480, 640], [640, 480], [480, 640], [640, 480]];
    /// let mut batches = BatchConfig::new(2).epoch(&sizes, 0);
    /// batches.iter_mut().for_each(|batch| batch.sort());
    /// batches.sort();
    /// assert_eq!(batches, [[0, 2], [1, 3]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If [`try_epoch`](Self::try_epoch) returns an error, with its text.
    pub fn epoch(&self, sizes: &[[usize; 2]], epoch: usize) -> Vec<Vec<usize>> {
        or_panic(self.try_epoch(sizes, epoch))
    }

    /// Fallible form of [`epoch`](Self::epoch).
    ///
    /// # Errors
    ///
    /// `RoiError::Option`: `batch_size` is 0, or `aspect_ratio_group_factor` is above 1000.
    pub fn try_epoch(&self, sizes: &[[usize; 2]], epoch: usize) -> Result<Vec<Vec<usize>>, DetectionError> {
        arguments::check("batch_size", self.batch_size > 0, self.batch_size, "above 0")?;
        let limits = self.limits()?;
        let seed = SplitMix64::of(&[self.seed, epoch as u64]).next();
        let mut filling: Vec<Vec<usize>> = vec![Vec::new(); limits.len() + 1];
        let mut batches = Vec::new();
        for sample in random_permutations(seed)(sizes.len()) {
            let [height, width] = sizes[sample];
            let ratio = width as f64 / height as f64;
            let group = &mut filling[limits.partition_point(|&limit| limit <= ratio)];
            group.push(sample);
            if group.len() == self.batch_size {
                batches.push(std::mem::take(group));
            }
        }
        batches.extend(filling.into_iter().filter(|batch| !batch.is_empty()));
        Ok(batches)
    }

    /// The aspect ratios between the groups, ascending.
    fn limits(&self) -> Result<Vec<f64>, DetectionError> {
        let factor = self.aspect_ratio_group_factor;
        arguments::check("aspect_ratio_group_factor", factor <= 1000, factor, "at most 1000")?;
        let exponents = (0..=2 * factor).map(|step| step as f64 / factor.max(1) as f64 - 1.0);
        Ok(match factor {
            0 => vec![1.0],
            _ => exponents.map(f64::exp2).collect(),
        })
    }
}
