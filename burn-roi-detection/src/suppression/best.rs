//! The best rows of groups, such as the anchors of each level of each image.

use std::ops::Range;

use burn::tensor::{Int, Tensor};

#[cfg(feature = "cube")]
use super::on_device::best_on_device;
use crate::error::DetectionError;
use crate::host;

/// The rows of the `count` largest values of each group, group after group, by decreasing value, and how many rows of
/// each group these are. The rows are on the inner device of an autodiff device. Of equal values the lower row comes
/// first. The host leaves NaN out. Where a device's kernels choose, nothing is read back, and NaN comes last.
pub(crate) async fn best_of_groups(
    values: &Tensor<1>,
    groups: &[Range<usize>],
    count: usize,
) -> Result<(Tensor<1, Int>, Vec<usize>), DetectionError> {
    #[cfg(feature = "cube")]
    if let Some(rows) = best_on_device(values, groups, count) {
        return Ok((rows, groups.iter().map(|group| group.len().min(count)).collect()));
    }
    let on_host = host::read_floats(values).await?;
    let best = groups
        .iter()
        .map(|group| host::top_n(&on_host, group.clone().collect(), count));
    let best: Vec<_> = best.collect();
    let rows = host::indices(&best.concat(), &values.device().inner());
    Ok((rows, best.iter().map(Vec::len).collect()))
}
