//! Gradients on an autodiff device: what a call leaves for the backward pass, and the gradients that it gives then.

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, TensorMetadata};
use burn::tensor::{DType, Shape};

use super::support::{DeviceSupport, of_inner_backend};
use super::{DeviceKind, MaximumOfSamples, RegionCall, RegionKernels, RoiBackend, fallback};
use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::options::Reduction;

impl<B: RoiBackend, C: CheckpointStrategy> RegionKernels for Autodiff<B, C> {
    fn pool(features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let nodes = [features.node(), call.boxes.node()];
        let of_inner = inner(&call);
        let pixels = features.primitive().clone();
        if features.is_tracked() && has_positions(&call.operator) && B::keeps_positions(&features.device()) {
            let (output, positions) = B::pool_with_positions(pixels, of_inner.clone());
            return match MaximaNode.prepare::<C>(nodes).compute_bound().stateful() {
                OpsKind::Tracked(prep) => prep.finish((of_inner, positions), output),
                OpsKind::UnTracked(prep) => prep.finish(output),
            };
        }
        let output = B::pool(pixels, of_inner.clone());
        recorded::<B, C, _, 2>(PoolNode, nodes, &features, &call.boxes, of_inner, output)
    }

    fn pool_level(pooled: FloatTensor<Self>, features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let (finer, finer_node) = pooled.into_parts();
        let nodes = [finer_node, features.node(), call.boxes.node()];
        let of_inner = inner(&call);
        let output = B::pool_level(finer, features.primitive().clone(), of_inner.clone());
        recorded::<B, C, _, 3>(PoolLevelNode, nodes, &features, &call.boxes, of_inner, output)
    }

    fn without_pixels(features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let output = B::without_pixels(features.primitive().clone(), inner(&call));
        let nodes = [features.node(), call.boxes.node()];
        match WithoutPixelsNode.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish([&features, &call.boxes].map(Like::of), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn pool_volumes(
        features: FloatTensor<Self>,
        slices: RegionCall<Self>,
        depths: RegionCall<Self>,
        maximum: Option<MaximumOfSamples>,
    ) -> FloatTensor<Self> {
        // `volumes_gradient` is of averages alone.
        let averages = maximum.is_none() && slices.operator.reduction == Reduction::Average;
        let has_gradient = averages || !features.is_tracked();
        if !has_gradient || slices.boxes.is_tracked() || depths.boxes.is_tracked() {
            return fallback::pool_volumes::<Self>(features, &slices, &depths, maximum);
        }
        let calls = [inner(&slices), inner(&depths)];
        let [slices, depths] = calls.clone();
        let output = B::pool_volumes(features.primitive().clone(), slices, depths, maximum);
        match VolumesNode.prepare::<C>([features.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(calls, output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }

    fn volumes_gradient(
        _gradient: FloatTensor<Self>,
        _slices: RegionCall<Self>,
        _depths: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        unreachable!("{NO_SECOND_DERIVATIVE}")
    }

    fn average_gradient(_gradient: FloatTensor<Self>, _call: RegionCall<Self>) -> FloatTensor<Self> {
        unreachable!("{NO_SECOND_DERIVATIVE}")
    }

    fn maximum_gradient(
        _gradient: FloatTensor<Self>,
        _features: FloatTensor<Self>,
        _call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        unreachable!("{NO_SECOND_DERIVATIVE}")
    }

    fn boxes_gradient(
        _gradient: FloatTensor<Self>,
        _features: FloatTensor<Self>,
        _call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        unreachable!("{NO_SECOND_DERIVATIVE}")
    }
}

const NO_SECOND_DERIVATIVE: &str =
    "a backward pass runs on the inner backend, and a call on an autodiff device is refused before";

impl<B: DeviceSupport, C: CheckpointStrategy> DeviceSupport for Autodiff<B, C> {
    of_inner_backend!();

    fn is_autodiff(_tensor: &FloatTensor<Self>) -> bool {
        true
    }
}

/// A call, and the features where the backward pass reads them.
type State<B> = (RegionCall<B>, Option<NodeId>);

/// The call on the inner backend.
fn inner<B: Backend, C: CheckpointStrategy>(call: &RegionCall<Autodiff<B, C>>) -> RegionCall<B> {
    RegionCall {
        boxes: call.boxes.primitive().clone(),
        batch_indices: call.batch_indices.clone(),
        regions: call.regions.clone(),
        operator: call.operator,
        features_shape: call.features_shape,
    }
}

/// Whether an operator takes maxima of whole pixels.
fn has_positions(operator: &RegionOperator) -> bool {
    matches!(operator.elements, Elements::Bins(_)) && operator.reduction != Reduction::Average
}

/// Whether the backward pass reads the features.
fn reads_features<B: Backend>(
    features: &FloatTensor<Autodiff<B>>,
    boxes: &FloatTensor<Autodiff<B>>,
    operator: &RegionOperator,
) -> bool {
    let for_features = features.is_tracked() && operator.reduction != Reduction::Average;
    for_features || boxes.is_tracked() && operator.moves_with_boxes()
}

/// The output of a call, recorded if an input is.
fn recorded<B: Backend, C: CheckpointStrategy, N: Backward<B, PARENTS, State = State<B>>, const PARENTS: usize>(
    node: N,
    parents: [NodeGuard; PARENTS],
    features: &FloatTensor<Autodiff<B>>,
    boxes: &FloatTensor<Autodiff<B>>,
    call: RegionCall<B>,
    output: FloatTensor<B>,
) -> FloatTensor<Autodiff<B>> {
    match node.prepare::<C>(parents).compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let read = reads_features(features, boxes, &call.operator).then(|| prep.checkpoint(features));
            prep.finish((call, read), output)
        }
        OpsKind::UnTracked(prep) => prep.finish(output),
    }
}

/// Registers the gradients of those inputs that want one.
fn register<B: RegionKernels>(
    (call, read): State<B>,
    gradient: FloatTensor<B>,
    [features, boxes]: [Option<NodeId>; 2],
    gradients: &mut Gradients,
    checkpointer: &mut Checkpointer,
) {
    let read: Option<FloatTensor<B>> = read.map(|node| checkpointer.retrieve_node_output(node));
    if let Some(node) = features {
        gradients.register::<B>(node, call.clone().features_gradient(gradient.clone(), read.clone()));
    }
    if let Some(node) = boxes {
        gradients.register::<B>(node, call.boxes_gradient(gradient, read));
    }
}

/// The node of a call, whose parents are the features and the boxes.
#[derive(Debug)]
struct PoolNode;

impl<B: RegionKernels> Backward<B, 2> for PoolNode {
    type State = State<B>;

    fn backward(self, ops: Ops<State<B>, 2>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let inputs = ops.parents.map(|node| node.map(|node| node.id));
        register(ops.state, gradient, inputs, gradients, checkpointer);
    }
}

/// The node of a call of which it is known where each maximum was read. Its parents are the features, and the boxes,
/// whose gradient is 0.
#[derive(Debug)]
struct MaximaNode;

impl<B: RegionKernels> Backward<B, 2> for MaximaNode {
    type State = (RegionCall<B>, IntTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (call, positions) = ops.state;
        let [features, boxes] = ops.parents;
        if let Some(node) = boxes {
            gradients.register::<B>(node.id, call.clone().boxes_gradient(gradient.clone(), None));
        }
        if let Some(node) = features {
            gradients.register::<B>(node.id, B::gradient_at(gradient, positions, call));
        }
    }
}

/// The node of a level of a pyramid, whose parents are what finer levels have pooled, the features and the boxes.
#[derive(Debug)]
struct PoolLevelNode;

impl<B: RegionKernels> Backward<B, 3> for PoolLevelNode {
    type State = State<B>;

    fn backward(self, ops: Ops<State<B>, 3>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [finer, features, boxes] = ops.parents.map(|node| node.map(|node| node.id));
        register(ops.state, gradient.clone(), [features, boxes], gradients, checkpointer);
        if let Some(node) = finer {
            // Whole: a row belongs to one level, and every level leaves the rows of others alone.
            gradients.register::<B>(node, gradient);
        }
    }
}

/// The node of a call on volumes, whose parent is the features. The operators average, and no box is tracked.
#[derive(Debug)]
struct VolumesNode;

impl<B: RegionKernels> Backward<B, 1> for VolumesNode {
    type State = [RegionCall<B>; 2];

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [slices, depths] = ops.state;
        if let [Some(node)] = ops.parents {
            gradients.register::<B>(node.id, B::volumes_gradient(gradient, slices, depths));
        }
    }
}

/// The node of a call that reads no pixel, whose parents are the features and the boxes.
#[derive(Debug)]
struct WithoutPixelsNode;

impl<B: RegionKernels> Backward<B, 2> for WithoutPixelsNode {
    type State = [Like<B>; 2];

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _checkpointer: &mut Checkpointer) {
        gradients.consume::<B>(&ops.node);
        for (node, like) in ops.parents.into_iter().zip(ops.state) {
            if let Some(node) = node {
                gradients.register::<B>(node.id, like.zeros());
            }
        }
    }
}

/// What a gradient of zeros takes of its tensor.
#[derive(Debug, Clone)]
struct Like<B: Backend> {
    shape: Shape,
    device: B::Device,
    dtype: DType,
}

impl<B: Backend> Like<B> {
    fn of(tensor: &FloatTensor<Autodiff<B>>) -> Self {
        Self {
            shape: tensor.shape(),
            device: tensor.device(),
            dtype: tensor.dtype(),
        }
    }

    fn zeros(self) -> FloatTensor<B> {
        B::float_zeros(self.shape, &self.device, self.dtype.into())
    }
}
