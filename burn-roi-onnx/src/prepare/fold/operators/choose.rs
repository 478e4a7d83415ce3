//! `Where`.

use crate::prepare::fold::dims::broadcast_sizes;
use crate::prepare::fold::elements::{Elements, expanded};
use crate::prepare::fold::expression::{Expression, Form};
use crate::prepare::fold::inputs::Inputs;
use crate::prepare::fold::symbols::Symbols;
use crate::read::tensor::{Data, Tensor, element};

pub(super) fn constant(inputs: &Inputs) -> Option<Tensor> {
    let (condition, first, second) = (inputs.value(0)?, inputs.value(1)?, inputs.value(2)?);
    let dims = broadcast_sizes(&condition.dims, &broadcast_sizes(&first.dims, &second.dims)?)?;
    let (first, second) = (expanded(first, &dims)?, expanded(second, &dims)?);
    let Data::Bool(condition) = expanded(condition, &dims)?.data else {
        return None;
    };
    let offset = first.data.len();
    let chosen = condition.iter().enumerate();
    let chosen = chosen.map(|(at, &first)| if first { at } else { at + offset });
    first.joined(&second)?.take(dims, &chosen.collect::<Vec<_>>())
}

pub(super) fn symbols(inputs: &Inputs) -> Option<Symbols> {
    let all = inputs.all_symbols()?;
    let [condition, first, second] = all[..] else {
        return None;
    };
    (condition.element == element::BOOL && first.element == second.element).then_some(())?;
    Symbols::map(&all, first.element, |numbers| match &numbers[..] {
        [Expression::Bool(true), first, _] => Some(first.clone()),
        [Expression::Bool(false), _, second] => Some(second.clone()),
        _ => Expression::call(Form::Choice, numbers),
    })
}
