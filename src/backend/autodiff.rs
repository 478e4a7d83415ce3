//! Gradients on an autodiff device: what a call leaves for the backward pass, and the gradients that it gives then.

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, TensorMetadata};
use burn::tensor::{DType, Shape};

use super::support::{DeviceSupport, answered_by, of_inner_backend};
use super::{DeviceKind, MaximumOfSamples, RegionCall, RegionKernels, RoiBackend, fallback};
use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::options::Reduction;

/// Functions that no autodiff device is asked for: there is no second derivative.
macro_rules! never_called {
    ($($function:ident ($($argument:ty),+);)+) => {
        $(fn $function($(_: $argument),+) -> FloatTensor<Self> {
            unreachable!(
                "a backward pass runs on the inner backend, and a call on an autodiff device is refused before"
            )
        })+
    };
}

impl<B: RoiBackend, C: CheckpointStrategy> RegionKernels for Autodiff<B, C> {
    fn pool(features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let nodes = [features.node(), call.boxes.node()];
        let of_inner = inner(&call);
        let pixels = features.primitive().clone();
        let keeps_positions = features.is_tracked() && B::keeps_positions(&features.device());
        let (output, positions) = if keeps_positions && has_positions(&call.operator) {
            let (output, positions) = B::pool_with_positions(pixels, of_inner.clone());
            (output, Some(positions))
        } else {
            (B::pool(pixels, of_inner.clone()), None)
        };
        recorded::<B, C, 2>(nodes, &features, &call.boxes, (of_inner, positions), output)
    }

    fn pool_level(pooled: FloatTensor<Self>, features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let (finer, finer_node) = pooled.into_parts();
        let nodes = [features.node(), call.boxes.node(), finer_node];
        let of_inner = inner(&call);
        let output = B::pool_level(finer, features.primitive().clone(), of_inner.clone());
        recorded::<B, C, 3>(nodes, &features, &call.boxes, (of_inner, None), output)
    }

    fn without_pixels(features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        let output = B::without_pixels(features.primitive().clone(), inner(&call));
        let nodes = [features.node(), call.boxes.node()];
        match WithoutPixelsNode.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let inputs = [&features, &call.boxes].map(|input| (input.shape(), input.device(), input.dtype()));
                prep.finish(inputs, output)
            }
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

    never_called! {
        average_gradient(FloatTensor<Self>, RegionCall<Self>);
        maximum_gradient(FloatTensor<Self>, FloatTensor<Self>, RegionCall<Self>);
        boxes_gradient(FloatTensor<Self>, FloatTensor<Self>, RegionCall<Self>);
        volumes_gradient(FloatTensor<Self>, RegionCall<Self>, RegionCall<Self>);
    }
}

impl<B: DeviceSupport, C: CheckpointStrategy> DeviceSupport for Autodiff<B, C> {
    answered_by!(of_inner_backend);

    fn is_autodiff(_tensor: &FloatTensor<Self>) -> bool {
        true
    }
}

/// A call, and where each maximum was read, if that is known.
type CallAndPositions<B> = (RegionCall<B>, Option<IntTensor<B>>);

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

/// The output of a call, recorded if an input is. The parents are those of [`PoolNode`].
fn recorded<B: RegionKernels, C: CheckpointStrategy, const PARENTS: usize>(
    parents: [NodeGuard; PARENTS],
    features: &FloatTensor<Autodiff<B>>,
    boxes: &FloatTensor<Autodiff<B>>,
    (call, positions): CallAndPositions<B>,
    output: FloatTensor<B>,
) -> FloatTensor<Autodiff<B>> {
    let node = Backward::<B, PARENTS>::prepare::<C>(PoolNode, parents);
    match node.compute_bound().stateful() {
        OpsKind::Tracked(mut prep) => {
            let reads = positions.is_none() && reads_features(features, boxes, &call.operator);
            let read = reads.then(|| prep.checkpoint(features));
            prep.finish(((call, positions), read), output)
        }
        OpsKind::UnTracked(prep) => prep.finish(output),
    }
}

/// The node of a call. Its parents are the features and the boxes, and for a level of a pyramid what finer levels have
/// pooled.
#[derive(Debug)]
struct PoolNode;

impl<B: RegionKernels, const PARENTS: usize> Backward<B, PARENTS> for PoolNode {
    /// The features are there where the backward pass reads them.
    type State = (CallAndPositions<B>, Option<NodeId>);

    fn backward(self, ops: Ops<Self::State, PARENTS>, gradients: &mut Gradients, checkpointer: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let ((call, positions), read) = ops.state;
        let read: Option<FloatTensor<B>> = read.map(|node| checkpointer.retrieve_node_output(node));
        let mut parents = ops.parents.into_iter().map(|node| node.map(|node| node.id));
        let [features, boxes, finer] = [(); 3].map(|_| parents.next().flatten());
        if let Some(node) = features {
            let (call, gradient) = (call.clone(), gradient.clone());
            let of_features = match positions {
                Some(positions) => B::gradient_at(gradient, positions, call),
                None => call.features_gradient(gradient, read.clone()),
            };
            gradients.register::<B>(node, of_features);
        }
        if let Some(node) = boxes {
            gradients.register::<B>(node, call.boxes_gradient(gradient.clone(), read));
        }
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
    /// What gradients of zeros take of these.
    type State = [(Shape, B::Device, DType); 2];

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _checkpointer: &mut Checkpointer) {
        gradients.consume::<B>(&ops.node);
        for (node, (shape, device, dtype)) in ops.parents.into_iter().zip(ops.state) {
            if let Some(node) = node {
                gradients.register::<B>(node.id, B::float_zeros(shape, &device, dtype.into()));
            }
        }
    }
}
