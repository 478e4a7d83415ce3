//! The sizes of the outputs of convolutions and pooling.

use onnx_ir::NodeProto;

use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::known::Dims;
use crate::read::node::NodeAttributes;

/// An attribute with as many values for each spatial axis as `default` has.
fn window<'a>(node: &'a NodeProto, name: &str, axes: usize, default: &'a [i64]) -> Option<Vec<i64>> {
    match node.ints(name) {
        None => Some(default.repeat(axes)),
        Some(values) => (values.len() == axes * default.len()).then(|| values.to_vec()),
    }
}

/// The output's sizes along the spatial axes for a window of size `kernel`. Unknown with `auto_pad` or `ceil_mode`.
fn spatial_sizes(inputs: &Inputs, kernel: &[i64]) -> Option<Dims> {
    let (node, axes) = (inputs.node, kernel.len());
    let spatial = inputs.dims(0)?.get(2..)?;
    let explicit = matches!(node.text("auto_pad"), None | Some(b"" | b"NOTSET"));
    (explicit && spatial.len() == axes).then_some(())?;
    let (strides, dilations) = (
        window(node, "strides", axes, &[1])?,
        window(node, "dilations", axes, &[1])?,
    );
    let pads = window(node, "pads", axes, &[0, 0])?;
    let up = node.int("ceil_mode", 0) != 0;
    let size = |at: usize| {
        let size = i64::try_from(spatial[at]?).ok()?;
        let covered = dilations[at].checked_mul(kernel[at].checked_sub(1)?)?.checked_add(1)?;
        let free = size
            .checked_add(pads[at])?
            .checked_add(pads[at + axes])?
            .checked_sub(covered)?;
        (free >= 0 && strides[at] > 0 && !up).then(|| (free / strides[at] + 1) as usize)
    };
    Some((0..axes).map(size).collect())
}

pub(super) fn convolution(inputs: &Inputs) -> Option<Dims> {
    let weight = inputs.sizes(1)?;
    let kernel: Vec<i64> = weight.get(2..)?.iter().map(|&size| size as i64).collect();
    let mut dims = vec![inputs.dims(0)?.first().copied()?, Some(*weight.first()?)];
    dims.extend(spatial_sizes(inputs, &kernel)?);
    Some(dims)
}

pub(super) fn transposed_convolution(inputs: &Inputs) -> Option<Dims> {
    let node = inputs.node;
    let weight = inputs.sizes(1)?;
    let input = inputs.dims(0)?;
    let axes = weight.len().checked_sub(2)?;
    let explicit = matches!(node.text("auto_pad"), None | Some(b"" | b"NOTSET"));
    let plain = explicit && node.ints("output_shape").is_none() && input.len() == axes + 2;
    plain.then_some(())?;
    let (strides, dilations) = (
        window(node, "strides", axes, &[1])?,
        window(node, "dilations", axes, &[1])?,
    );
    let (pads, more) = (
        window(node, "pads", axes, &[0, 0])?,
        window(node, "output_padding", axes, &[0])?,
    );
    let size = |at: usize| {
        let size = i64::try_from(input[at + 2]?).ok()?.checked_sub(1)?;
        let covered = dilations[at].checked_mul(weight[at + 2] as i64 - 1)?.checked_add(1)?;
        let size = strides[at]
            .checked_mul(size)?
            .checked_add(covered)?
            .checked_add(more[at])?;
        usize::try_from(size.checked_sub(pads[at])?.checked_sub(pads[at + axes])?).ok()
    };
    let group = usize::try_from(node.int("group", 1)).ok()?;
    let mut dims = vec![input[0], weight[1].checked_mul(group)];
    dims.extend((0..axes).map(size));
    Some(dims)
}

pub(super) fn pool(inputs: &Inputs) -> Option<Dims> {
    let kernel = inputs.node.ints("kernel_shape")?;
    let mut dims = inputs.dims(0)?.get(..2)?.to_vec();
    dims.extend(spatial_sizes(inputs, kernel)?);
    Some(dims)
}

pub(super) fn global_pool(inputs: &Inputs) -> Option<Dims> {
    let dims = inputs.dims(0)?.iter().enumerate();
    Some(dims.map(|(at, &size)| if at < 2 { size } else { Some(1) }).collect())
}
