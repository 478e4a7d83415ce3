//! The norm of all gradients together, and gradients that are scaled.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

/// The norm of all gradients of a module together, as torch's `clip_grad_norm_` returns it. Burn's clipping is by the
/// norm of each tensor.
pub fn gradient_norm<M: Module>(module: &M, gradients: &GradientsParams) -> f64 {
    let mut squares = Squares { gradients, sum: 0.0 };
    module.visit(&mut squares);
    squares.sum.sqrt()
}

/// Gradients of the norm `norm`, scaled so that it is at most `max_norm`, as by torch's `clip_grad_norm_`.
pub fn clipped<M: Module>(module: &M, gradients: GradientsParams, norm: f64, max_norm: f64) -> GradientsParams {
    // As in torch, against a division by 0.
    scaled(module, gradients, (max_norm / (norm + 1e-6)).min(1.0))
}

/// All gradients of a module times a factor.
pub fn scaled<M: Module>(module: &M, gradients: GradientsParams, factor: f64) -> GradientsParams {
    if factor == 1.0 {
        return gradients;
    }
    let mut scaled = Scaled { gradients, factor };
    module.visit(&mut scaled);
    scaled.gradients
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    sum: f64,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(parameter.id) {
            self.sum += f64::from(gradient.square().sum().into_scalar::<f32>());
        }
    }
}

struct Scaled {
    gradients: GradientsParams,
    factor: f64,
}

impl ModuleVisitor for Scaled {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(parameter.id) {
            self.gradients.register(parameter.id, gradient * self.factor);
        }
    }
}
