//! What the functions that a checkpoint may name return, and what states do to their results.

use super::array::{Array, Data};
use super::element_type::ElementType;
use super::error::PickleReason;
use super::global::Global;
use super::heap::{Heap, Object, View};
use super::value::Value;

/// The opcode REDUCE: what a function returns for a tuple of arguments.
pub(super) fn call<'a>(
    callable: Value<'a>,
    arguments: Value<'a>,
    heap: &mut Heap<'a>,
) -> Result<Value<'a>, PickleReason> {
    let Value::Global(global) = callable else {
        return Err(callable.not("callable", "a class or a function"));
    };
    match (global, heap.tuple(arguments, "arguments")?) {
        (Global::RebuildTensor, &[storage, offset, shape, strides, ..]) => {
            let view = View {
                storage,
                offset,
                shape,
                strides,
            };
            Ok(heap.add(Object::Tensor(Box::new(view))))
        }
        (Global::RebuildParameter, &[tensor, ..]) => Ok(tensor),
        (Global::Storage(_) | Global::Other, _) => Ok(heap.add(Object::Other)),
        (Global::OrderedDict, []) => Ok(heap.add(Object::Dict(Vec::new()))),
        (Global::Bytes, []) => Ok(Value::Bytes(&[])),
        (Global::Encode, &[text, Value::Text("latin1")]) => Ok(Value::Latin1(text.text("text")?)),
        (Global::DType, &[name, _, _]) => {
            let element_type = match name {
                Value::Global(Global::Bfloat16) => Some(ElementType::Bfloat16),
                Value::Text(name) => ElementType::named(name),
                _ => None,
            };
            let expected = "f2, f4, f8, i4, i8 or ml_dtypes.bfloat16";
            let element_type = element_type.ok_or_else(|| name.not("dtype", expected))?;
            Ok(heap.add(Object::DType(element_type)))
        }
        (Global::Reconstruct, &[Value::Global(Global::NdArray), _, _]) => Ok(heap.add(Object::EmptyArray)),
        (Global::Scalar, &[dtype, bytes]) => {
            let array = array(heap.element_type(dtype)?, Vec::new(), false, bytes, heap)?;
            Ok(heap.add_array(array))
        }
        (Global::FromBuffer, &[bytes, dtype, shape, order]) => {
            let is_fortran = match order.text("order")? {
                "C" => false,
                "F" => true,
                _ => return Err(order.not("order", "\"C\" or \"F\"")),
            };
            let element_type = heap.element_type(dtype)?;
            let array = array(element_type, heap.sizes(shape, "shape")?, is_fortran, bytes, heap)?;
            Ok(heap.add_array(array))
        }
        // Since NumPy 2.3, for axes in any other order.
        (Global::FromBuffer, &[bytes, dtype, shape, Value::Text("K"), axes]) => {
            let axes = heap.sizes(axes, "axes")?;
            let element_type = heap.element_type(dtype)?;
            let array = array(element_type, heap.sizes(shape, "shape")?, false, bytes, heap)?;
            Ok(heap.add_array(array.with_axes(axes)?))
        }
        _ => {
            let found = format!("none that {global:?} is called with");
            Err(PickleReason::operand("arguments", found, "those of an array"))
        }
    }
}

/// The opcode BUILD: the state of an object that a call returned.
pub(super) fn build<'a>(object: Value<'a>, state: Value<'a>, heap: &mut Heap<'a>) -> Result<(), PickleReason> {
    let built = match heap.object(object) {
        // Attributes, such as `_metadata` of PyTorch's state dicts.
        Some(Object::Dict(_) | Object::Other) => return Ok(()),
        Some(Object::DType(_)) => return check_byte_order(state, heap),
        Some(Object::EmptyArray) => array_of_state(state, heap)?,
        _ => return Err(object.not("object", "a dictionary, a dtype or an array without a state")),
    };
    if let Some(object) = heap.object_mut(object) {
        *object = Object::Array(Box::new(built));
    }
    Ok(())
}

/// The state of an array: version, shape, dtype, whether it is in Fortran's order, bytes.
fn array_of_state<'a>(state: Value<'a>, heap: &mut Heap<'a>) -> Result<Array<'a>, PickleReason> {
    let &[Value::Int(1), shape, dtype, is_fortran, bytes] = heap.tuple(state, "state")? else {
        return Err(state.not("state", "a state of version 1 of an array"));
    };
    let element_type = heap.element_type(dtype)?;
    let shape = heap.sizes(shape, "shape")?;
    array(element_type, shape, is_fortran.flag("is_fortran")?, bytes, heap)
}

/// An array, once the bytes that it takes of the file are counted.
fn array<'a>(
    element_type: ElementType,
    shape: Vec<usize>,
    is_fortran: bool,
    bytes: Value<'a>,
    heap: &mut Heap<'a>,
) -> Result<Array<'a>, PickleReason> {
    let data = Data::of(bytes)?;
    heap.spend(data.length_in_file())?;
    match is_fortran {
        false => Array::in_c_order(element_type, shape, data),
        true => Array::in_fortran_order(element_type, shape, data),
    }
}

/// The state of a dtype says its byte order second.
fn check_byte_order<'a>(state: Value<'a>, heap: &Heap<'a>) -> Result<(), PickleReason> {
    match heap.tuple(state, "state")? {
        [_, Value::Text("<"), ..] => Ok(()),
        [_, order, ..] => Err(order.not("byte order", "\"<\", little-endian")),
        _ => Err(state.not("state", "the state of a dtype")),
    }
}
