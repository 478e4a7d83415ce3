//! Zeros that belong to a graph: the tensors that they come from have gradients of 0.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Bool, DType, Int, Tensor};

use super::boxes::cast;

/// 0, which has a gradient of 0 for `tensor`.
pub fn zero<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    if tensor.shape().num_elements() == 0 {
        return tensor.sum();
    }
    // A product with 0 would be NaN where an element is infinite or NaN.
    let everywhere = Tensor::<D, Bool>::full(tensor.dims(), true, &tensor.device());
    tensor.mask_fill(everywhere, 0.0).sum()
}

/// The output of `layer` for an `input` without rows: a tensor of `shape`, which begins with 0. Not every backend runs
/// a layer without rows.
///
/// The output belongs to the graph of the input and of the layer's parameters, as that of any other input does. Burn's
/// `backward` panics for a loss that belongs to none.
pub fn no_rows<M: Module, const I: usize, const O: usize>(layer: &M, input: Tensor<I>, shape: [usize; O]) -> Tensor<O> {
    let (device, dtype) = (input.device(), input.dtype());
    let mut zeros = Zeros { dtype, sum: None };
    layer.visit(&mut zeros);
    zeros.add(input);
    match zeros.sum {
        // To `reshape`, a further 0 is a size of its input.
        Some(sum) if !shape[1..].contains(&0) => {
            let none = Tensor::<1, Int>::zeros([0], &device);
            sum.select(0, none).reshape(shape)
        }
        _ => Tensor::zeros(shape, (&device, dtype)),
    }
}

/// The sum of a [`zero`] of each tensor that belongs to a graph.
struct Zeros {
    dtype: DType,
    sum: Option<Tensor<1>>,
}

impl Zeros {
    fn add<const D: usize>(&mut self, tensor: Tensor<D>) {
        if !tensor.is_autodiff() {
            return;
        }
        let zero = cast(zero(tensor), self.dtype);
        self.sum = Some(match self.sum.take() {
            Some(sum) => sum + zero,
            None => zero,
        });
    }
}

impl ModuleVisitor for Zeros {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.add(parameter.val());
    }
}
