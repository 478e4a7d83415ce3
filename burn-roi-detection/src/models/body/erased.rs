//! Visitors and mappers behind a pointer. Burn's are generic in the ranks of tensors, so that there is no `dyn`.

use std::any::Any;

use burn::module::{Flag, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Bool, Float, Int, Tensor};

/// A `ModuleVisitor` of any type.
pub trait VisitParameters {
    /// - `parameter`: a `Param` of a tensor or of a flag.
    fn parameter(&mut self, parameter: &dyn Any);
    fn enter(&mut self, name: &str, container_type: &str);
    fn exit(&mut self, name: &str, container_type: &str);
}

/// A `ModuleMapper` of any type.
pub trait MapParameters {
    /// - `parameter`: a `Param` of a tensor or of a flag.
    /// - Returns one of the same type.
    fn parameter(&mut self, parameter: Box<dyn Any>) -> Box<dyn Any>;
    fn enter(&mut self, name: &str, container_type: &str);
    fn exit(&mut self, name: &str, container_type: &str);
}

/// An adapter in both directions: it makes a `ModuleVisitor` a [`VisitParameters`], and a `dyn VisitParameters` a
/// `ModuleVisitor`. The same for mappers.
pub struct Erased<'a, T: ?Sized>(pub &'a mut T);

const OTHER_PARAMETERS: &str = "the weights of a body must be tensors of at most 8 dimensions";

macro_rules! of_any_tensor {
    ($of_tensor:ident, $float:ident, $int:ident, $bool:ident) => {
        of_any_tensor!($of_tensor, $float, $int, $bool, 1 2 3 4 5 6 7 8)
    };
    ($of_tensor:ident, $float:ident, $int:ident, $bool:ident, $($rank:literal)*) => {$(
        $of_tensor!($rank, Float, $float);
        $of_tensor!($rank, Int, $int);
        $of_tensor!($rank, Bool, $bool);
    )*};
}

/// The names of modules are passed on as they are.
macro_rules! pass_on {
    ($($function:ident as $other:ident),*) => {$(
        fn $function(&mut self, name: &str, container_type: &str) {
            self.0.$other(name, container_type);
        }
    )*};
}

impl<V: ModuleVisitor> VisitParameters for Erased<'_, V> {
    fn parameter(&mut self, parameter: &dyn Any) {
        macro_rules! visit {
            ($rank:literal, $kind:ty, $visit:ident) => {
                if let Some(parameter) = parameter.downcast_ref::<Param<Tensor<$rank, $kind>>>() {
                    return self.0.$visit(parameter);
                }
            };
        }
        of_any_tensor!(visit, visit_float, visit_int, visit_bool);
        self.0.visit_flag(parameter.downcast_ref().expect(OTHER_PARAMETERS));
    }

    pass_on!(enter as enter_module, exit as exit_module);
}

impl ModuleVisitor for Erased<'_, dyn VisitParameters + '_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.parameter(parameter);
    }

    fn visit_int<const D: usize>(&mut self, parameter: &Param<Tensor<D, Int>>) {
        self.0.parameter(parameter);
    }

    fn visit_bool<const D: usize>(&mut self, parameter: &Param<Tensor<D, Bool>>) {
        self.0.parameter(parameter);
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        self.0.parameter(flag);
    }

    pass_on!(enter_module as enter, exit_module as exit);
}

impl<M: ModuleMapper> MapParameters for Erased<'_, M> {
    fn parameter(&mut self, parameter: Box<dyn Any>) -> Box<dyn Any> {
        macro_rules! map {
            ($rank:literal, $kind:ty, $map:ident) => {
                if parameter.is::<Param<Tensor<$rank, $kind>>>() {
                    return Box::new(self.0.$map::<$rank>(typed(parameter)));
                }
            };
        }
        of_any_tensor!(map, map_float, map_int, map_bool);
        Box::new(self.0.map_flag(typed(parameter)))
    }

    pass_on!(enter as enter_module, exit as exit_module);
}

impl ModuleMapper for Erased<'_, dyn MapParameters + '_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        typed(self.0.parameter(Box::new(parameter)))
    }

    fn map_int<const D: usize>(&mut self, parameter: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        typed(self.0.parameter(Box::new(parameter)))
    }

    fn map_bool<const D: usize>(&mut self, parameter: Param<Tensor<D, Bool>>) -> Param<Tensor<D, Bool>> {
        typed(self.0.parameter(Box::new(parameter)))
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        typed(self.0.parameter(Box::new(flag)))
    }

    pass_on!(enter_module as enter, exit_module as exit);
}

fn typed<P: 'static>(parameter: Box<dyn Any>) -> P {
    *parameter.downcast().expect(OTHER_PARAMETERS)
}
