//! The tensors of a client's message, checked as the `try_` functions check their arguments.

use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Shape;

use super::refused::Refused;
use crate::backend::remote::kernel::Kernel;
use crate::backend::remote::message::Operation;
use crate::backend::{RegionCall, RoiBackend};
use crate::geometry::operator::RegionOperator;
use crate::geometry::options::Reduction;
use crate::memory;
use crate::ops::arguments::{check_dtypes, check_features, check_like_output, pooled_shape, reads_nothing};
use crate::regions::{Regions, same_device, shape};

/// Checks the tensors of a message, and that they have something to compute. Returns the call of the kernel, whose
/// output has the shape `output` in the message.
///
/// # Errors
///
/// [`Refused`].
pub fn call<B: RoiBackend>(
    kernel: &Kernel<B>,
    boxes: FloatTensor<B>,
    batch_indices: IntTensor<B>,
    operator: RegionOperator,
    output: &Shape,
) -> Result<RegionCall<B>, Refused> {
    check_gradient(kernel, &operator)?;
    let (found, kind) = (boxes.shape(), operator.region_kind());
    let fits = found.num_dims() == 2 && found[1] == kind.columns();
    shape("boxes", &found, "[K, columns], with the columns of the operator", fits)?;
    let regions = Regions::<B>::try_new(boxes, batch_indices, kind)?;
    let device = regions.boxes.device();
    let features = match &kernel.features {
        Some(features) => {
            check_features::<B>(features, &regions)?;
            features.shape()
        }
        None => {
            same_device("output_gradient", &kernel.first().device(), "boxes", &device)?;
            check_dtypes::<B>(kernel.first(), &regions)?;
            let fits = output.num_dims() == 4;
            shape("the gradient of `features`", output, "[N, C, H, W]", fits)?;
            output.clone()
        }
    };
    let pooled = pooled_shape::<B>(&features, &regions, &operator)?;
    if reads_nothing(&features, &pooled) {
        return Err(Refused::Nothing);
    }
    if let Some(tensor) = &kernel.like_output {
        let argument = match kernel.operation {
            Operation::PoolLevel => "pooled",
            _ => "output_gradient",
        };
        check_like_output::<B>(argument, tensor, &pooled, ("boxes", &device), kernel.first().dtype())?;
    }
    let call = regions.call(None, operator, &features);
    let (shape, dtype) = kernel.output(&call);
    memory::check::<B>("output", &shape, dtype, &device)?;
    Ok(call)
}

/// Checks that the operator has the gradient that is asked for.
fn check_gradient<B: RoiBackend>(kernel: &Kernel<B>, operator: &RegionOperator) -> Result<(), Refused> {
    let averages = operator.reduction == Reduction::Average;
    let (fits, expected) = match kernel.operation {
        Operation::Pool | Operation::PoolLevel => (true, ""),
        Operation::AverageGradient => (averages, "averages"),
        Operation::MaximumGradient => (!averages, "takes a maximum"),
        Operation::BoxesGradient => (operator.moves_with_boxes(), "reads between pixels"),
    };
    if fits {
        return Ok(());
    }
    Err(Refused::Gradient {
        operation: kernel.operation.id(),
        expected,
        operator: format!("{operator:?}"),
    })
}
