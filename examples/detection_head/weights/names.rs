//! Translates between the names in torchvision's state dicts, old and new, and the fields of the model.

use burn_store::KeyRemapper;

use crate::config::Config;

/// Renames the tensors of a file to the fields of the model.
///
/// torchvision's checkpoint of `maskrcnn_resnet50_fpn` has old names, such as `inner_blocks.0.weight`. Today's are like
/// `inner_blocks.0.0.weight`. Both are accepted.
pub fn to_module(config: &Config) -> KeyRemapper {
    let mut patterns: Vec<(String, String)> = [
        (r"^(backbone\.body\..*\.downsample)\.0\.", "$1.conv."),
        (r"^(backbone\.body\..*\.downsample)\.1\.", "$1.norm."),
        // Old.
        (
            r"^(backbone\.fpn\.(?:inner|layer)_blocks\.\d+)\.(weight|bias)$",
            "$1.conv.$2",
        ),
        (r"^rpn\.head\.conv\.(weight|bias)$", "rpn.head.conv.0.conv.$1"),
        // New.
        (r"^(backbone\.fpn\.(?:inner|layer)_blocks\.\d+)\.0\.", "$1.conv."),
        (r"^(backbone\.fpn\.(?:inner|layer)_blocks\.\d+)\.1\.", "$1.norm."),
        (r"^(rpn\.head\.conv\.\d+)\.0\.", "$1.conv."),
        (
            r"^roi_heads\.mask_head\.(\d+)\.0\.",
            "roi_heads.mask_head.layers.$1.conv.",
        ),
        (
            r"^roi_heads\.mask_head\.(\d+)\.1\.",
            "roi_heads.mask_head.layers.$1.norm.",
        ),
        (r"^roi_heads\.box_head\.(\d+)\.0\.", "roi_heads.box_head.convs.$1.conv."),
        (r"^roi_heads\.box_head\.(\d+)\.1\.", "roi_heads.box_head.convs.$1.norm."),
    ]
    .map(|(from, to)| (from.to_string(), to.to_string()))
    .to_vec();
    for index in 0..config.mask_head.convolutions.len() {
        patterns.push((
            format!(r"^roi_heads\.mask_head\.mask_fcn{}\.", index + 1),
            format!("roi_heads.mask_head.layers.{index}.conv."),
        ));
    }
    for index in 0..config.box_head.fully_connected.len() {
        patterns.push((
            format!(
                r"^roi_heads\.box_head\.{}\.(weight|bias)$",
                fully_connected(index, config)
            ),
            format!("roi_heads.box_head.fcs.{index}.$1"),
        ));
    }
    KeyRemapper::from_patterns(patterns).expect("the patterns above are regular expressions")
}

/// The name that torchvision gives a fully connected layer of the box head.
fn fully_connected(index: usize, config: &Config) -> String {
    match config.box_head.convolutions.len() {
        0 => format!("fc{}", 6 + index),
        // They follow the convolutions and the flatten layer, and an activation follows each.
        convolutions => (convolutions + 1 + 2 * index).to_string(),
    }
}

/// From a field of the model to the name in a state dict that torchvision saves today.
pub fn of_checkpoint(field: &str, config: &Config) -> String {
    let mut names: Vec<String> = Vec::new();
    for segment in field.split('.') {
        let in_block = names
            .last()
            .is_some_and(|last| last == "downsample" || last.bytes().all(|byte| byte.is_ascii_digit()));
        match segment {
            "conv" if in_block => names.push("0".to_string()),
            "norm" if in_block => names.push("1".to_string()),
            "gamma" => names.push("weight".to_string()),
            "beta" => names.push("bias".to_string()),
            // torchvision's names have no such level.
            "layers" | "convs" => {}
            index if names.last().is_some_and(|last| last == "fcs") => {
                names.pop();
                let index = index.parse().unwrap_or_default();
                names.push(fully_connected(index, config));
            }
            _ => names.push(segment.to_string()),
        }
    }
    names.join(".")
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;
    use burn_store::bridge;

    use super::*;
    use crate::presets;

    /// Each case is a name in a file, its field, and the name that torchvision saves today.
    fn check(preset: &str, cases: &[(&str, &str, &str)]) {
        let config = presets::named(preset).unwrap();
        for &(name, field, today) in cases {
            let tensor = bridge::from_data(TensorData::from([0.0_f32]), name.to_string(), None);
            let (tensors, _) = to_module(&config).remap(vec![tensor]);
            assert_eq!(tensors[0].name, field, "of {name}");
            assert_eq!(of_checkpoint(field, &config), today, "of {field}");
        }
    }

    #[test]
    fn names_of_the_first_version() {
        let body = "backbone.body.layer1.0.downsample";
        let cases = [
            (
                "backbone.body.conv1.weight",
                "backbone.body.conv1.weight",
                "backbone.body.conv1.weight",
            ),
            (
                &format!("{body}.0.weight"),
                &format!("{body}.conv.weight"),
                &format!("{body}.0.weight"),
            ),
            (
                &format!("{body}.1.bias"),
                &format!("{body}.norm.bias"),
                &format!("{body}.1.bias"),
            ),
            (
                "backbone.fpn.inner_blocks.3.weight",
                "backbone.fpn.inner_blocks.3.conv.weight",
                "backbone.fpn.inner_blocks.3.0.weight",
            ),
            (
                "rpn.head.conv.bias",
                "rpn.head.conv.0.conv.bias",
                "rpn.head.conv.0.0.bias",
            ),
            (
                "rpn.head.conv.0.0.bias",
                "rpn.head.conv.0.conv.bias",
                "rpn.head.conv.0.0.bias",
            ),
            (
                "roi_heads.mask_head.mask_fcn4.weight",
                "roi_heads.mask_head.layers.3.conv.weight",
                "roi_heads.mask_head.3.0.weight",
            ),
            (
                "roi_heads.box_head.fc7.weight",
                "roi_heads.box_head.fcs.1.weight",
                "roi_heads.box_head.fc7.weight",
            ),
        ];
        check("maskrcnn_resnet50_fpn", &cases);
    }

    #[test]
    fn names_of_the_second_version() {
        let cases = [
            (
                "backbone.fpn.layer_blocks.0.1.running_var",
                "backbone.fpn.layer_blocks.0.norm.running_var",
                "backbone.fpn.layer_blocks.0.1.running_var",
            ),
            (
                "rpn.head.conv.1.0.weight",
                "rpn.head.conv.1.conv.weight",
                "rpn.head.conv.1.0.weight",
            ),
            (
                "roi_heads.box_head.3.1.weight",
                "roi_heads.box_head.convs.3.norm.weight",
                "roi_heads.box_head.3.1.weight",
            ),
            (
                "roi_heads.box_head.5.bias",
                "roi_heads.box_head.fcs.0.bias",
                "roi_heads.box_head.5.bias",
            ),
        ];
        check("maskrcnn_resnet50_fpn_v2", &cases);
    }
}
