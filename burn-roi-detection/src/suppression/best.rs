//! The best rows of groups, such as the anchors of each level of each image.

use std::ops::Range;

use burn::tensor::{Int, Tensor};

#[cfg(feature = "cube")]
use super::on_device::best_on_device;
use crate::error::DetectionError;
use crate::host;

/// The rows of the `count` largest values of each group, group after group, by decreasing value, and how many rows of
/// each group these are. Of equal values the lower row comes first. NaN is left out, but if `may_have_nan`, it comes
/// last on a device of CubeCL. Such a device is not read then.
pub(crate) async fn best_of_groups(
    values: &Tensor<1>,
    groups: &[Range<usize>],
    count: usize,
    may_have_nan: bool,
) -> Result<(Tensor<1, Int>, Vec<usize>), DetectionError> {
    #[cfg(feature = "cube")]
    if may_have_nan && let Some(rows) = best_on_device(values, groups, count) {
        return Ok((rows, groups.iter().map(|group| group.len().min(count)).collect()));
    }
    #[cfg(not(feature = "cube"))]
    let _ = may_have_nan;
    let on_host = host::read_floats(values).await?;
    let best = groups
        .iter()
        .map(|group| host::top_n(&on_host, group.clone().collect(), count));
    let best: Vec<_> = best.collect();
    let rows = host::indices(&best.concat(), &values.device());
    Ok((rows, best.iter().map(Vec::len).collect()))
}
