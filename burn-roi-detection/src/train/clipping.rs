//! The norm of all gradients together.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

/// Scales all gradients of a module so that their norm is at most `max_norm`, as torch's `clip_grad_norm_`, and returns
/// the norm before. Burn's clipping is by the norm of each tensor.
pub fn clip_gradient_norm<M: Module>(module: &M, gradients: GradientsParams, max_norm: f64) -> (GradientsParams, f64) {
    let mut squares = Squares {
        gradients: &gradients,
        sum: 0.0,
    };
    module.visit(&mut squares);
    let norm = squares.sum.sqrt();
    // As in torch, against a division by 0.
    let factor = max_norm / (norm + 1e-6);
    if factor >= 1.0 {
        return (gradients, norm);
    }
    let mut scaled = Scaled { gradients, factor };
    module.visit(&mut scaled);
    (scaled.gradients, norm)
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
