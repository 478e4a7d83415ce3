//! Caffe2's names of a ResNet, turned into detectron2's.

use std::collections::BTreeMap;

use burn::tensor::TensorData;

use super::error::CheckpointError;

/// What ends a name: of the weights of a convolution, and of its norm.
const ENDS: [(&str, &str); 9] = [
    ("_bn_gamma", "norm.weight"),
    ("_bn_beta", "norm.bias"),
    ("_bn_running_mean", "norm.running_mean"),
    ("_bn_rm", "norm.running_mean"),
    ("_bn_running_var", "norm.running_var"),
    ("_bn_riv", "norm.running_var"),
    ("_gn_s", "norm.weight"),
    ("_gn_b", "norm.bias"),
    ("_w", "weight"),
];

const BRANCHES: [(&str, &str); 4] = [
    ("branch1", "shortcut"),
    ("branch2a", "conv1"),
    ("branch2b", "conv2"),
    ("branch2c", "conv3"),
];

/// The weights under detectron2's names. What a ResNet does not have keeps its name.
pub(super) fn renamed(tensors: BTreeMap<String, TensorData>) -> Result<BTreeMap<String, TensorData>, CheckpointError> {
    let mut renamed = BTreeMap::new();
    for (caffe2, data) in tensors {
        let name = detectron2(&caffe2).unwrap_or(caffe2);
        if renamed.insert(name.clone(), data).is_some() {
            return Err(CheckpointError::Twice { name });
        }
    }
    Ok(renamed)
}

/// Such as `stem.conv1.weight` of `conv1_w`, and `res2.0.conv1.norm.bias` of `res2_0_branch2a_bn_beta`.
fn detectron2(name: &str) -> Option<String> {
    let mut ends = ENDS.iter();
    let (convolution, end) = ends.find_map(|(caffe2, end)| Some((name.strip_suffix(caffe2)?, end)))?;
    if matches!(convolution, "conv1" | "res_conv1") {
        return Some(format!("stem.conv1.{end}"));
    }
    let (block, branch) = convolution.rsplit_once('_')?;
    let (layer, block) = block.split_once('_')?;
    let (_, branch) = BRANCHES.iter().find(|(caffe2, _)| *caffe2 == branch)?;
    layer
        .starts_with("res")
        .then(|| format!("{layer}.{block}.{branch}.{end}"))
}
