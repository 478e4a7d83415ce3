//! The sizes of the outputs of convolutions and pooling.

use onnx_ir::NodeProto;

use crate::prepare::fold::dims::Dims;
use crate::prepare::fold::inputs::Inputs;
use crate::read::node::NodeAttributes;

/// The settings of a convolution or of pooling, for each spatial axis.
struct Window {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// The pads before each axis, and then those behind each axis.
    pads: Vec<i64>,
}

impl Window {
    /// Reads a node with as many spatial axes. `None` with `auto_pad`.
    fn of(node: &NodeProto, axes: usize) -> Option<Self> {
        matches!(node.text("auto_pad"), None | Some(b"" | b"NOTSET")).then_some(())?;
        Some(Self {
            strides: per_axis(node, "strides", axes, &[1])?,
            dilations: per_axis(node, "dilations", axes, &[1])?,
            pads: per_axis(node, "pads", axes, &[0, 0])?,
        })
    }

    /// How many elements a kernel of a size covers along an axis.
    fn covered(&self, at: usize, kernel: i64) -> Option<i64> {
        self.dilations[at].checked_mul(kernel.checked_sub(1)?)?.checked_add(1)
    }
}

/// An attribute with as many values for each spatial axis as `default` has.
fn per_axis(node: &NodeProto, name: &str, axes: usize, default: &[i64]) -> Option<Vec<i64>> {
    match node.ints(name) {
        None => Some(default.repeat(axes)),
        Some(values) => (values.len() == axes * default.len()).then(|| values.to_vec()),
    }
}

/// The output's sizes along the spatial axes for a window of size `kernel`. Unknown with `ceil_mode`.
fn spatial_sizes(inputs: &Inputs, kernel: &[i64]) -> Option<Dims> {
    let axes = kernel.len();
    let spatial = inputs.dims(0)?.get(2..).filter(|spatial| spatial.len() == axes)?;
    let window = Window::of(inputs.node, axes)?;
    let up = inputs.node.int("ceil_mode", 0) != 0;
    let size = |at: usize| {
        let padded = i64::try_from(spatial[at]?).ok()?.checked_add(window.pads[at])?;
        let padded = padded.checked_add(window.pads[at + axes])?;
        let free = padded.checked_sub(window.covered(at, kernel[at])?)?;
        let stride = window.strides[at];
        (free >= 0 && stride > 0 && !up).then(|| (free / stride + 1) as usize)
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
    let (node, input, weight) = (inputs.node, inputs.dims(0)?, inputs.sizes(1)?);
    let axes = weight.len().checked_sub(2)?;
    (node.ints("output_shape").is_none() && input.len() == axes + 2).then_some(())?;
    let window = Window::of(node, axes)?;
    let more = per_axis(node, "output_padding", axes, &[0])?;
    let size = |at: usize| {
        let steps = i64::try_from(input[at + 2]?).ok()?.checked_sub(1)?;
        let size = window.strides[at].checked_mul(steps)?;
        let size = size.checked_add(window.covered(at, weight[at + 2] as i64)?)?;
        let size = size.checked_add(more[at])?.checked_sub(window.pads[at])?;
        usize::try_from(size.checked_sub(window.pads[at + axes])?).ok()
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
