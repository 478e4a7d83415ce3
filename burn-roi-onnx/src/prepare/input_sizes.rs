//! Fixes the sizes of a model's inputs.

use onnx_ir::{GraphProto, ValueInfoProto};

use crate::error::Error;

/// Sets the sizes of inputs, which are given by name.
pub(super) fn fix(graph: &mut GraphProto, sizes: &[(String, Vec<usize>)]) -> Result<(), Error> {
    for (name, sizes) in sizes {
        let names: Vec<_> = graph.input.iter().map(|input| input.name.clone()).collect();
        let input = graph.input.iter_mut().find(|input| input.name == *name);
        let input = input.ok_or_else(|| Error::Graph(format!("has no input {name:?}; its inputs are {names:?}")))?;
        fix_input(input, sizes)?;
    }
    Ok(())
}

fn fix_input(input: &mut ValueInfoProto, sizes: &[usize]) -> Result<(), Error> {
    let name = input.name.clone();
    let wrong = |is: String| {
        Error::Graph(format!(
            "has the input {name:?}, which {is}; the sizes to fix are {sizes:?}"
        ))
    };
    let kind = input.type_.as_mut().filter(|kind| kind.has_tensor_type());
    let shape = kind.and_then(|kind| kind.mut_tensor_type().shape.as_mut());
    let shape = shape.ok_or_else(|| wrong("has no rank".to_string()))?;
    if shape.dim.len() != sizes.len() {
        return Err(wrong(format!("has the rank {}", shape.dim.len())));
    }
    for (dim, &size) in shape.dim.iter_mut().zip(sizes) {
        let size = size as i64;
        if dim.has_dim_value() && dim.dim_value() != size {
            return Err(wrong(format!("has a size of {}", dim.dim_value())));
        }
        dim.set_dim_value(size);
    }
    Ok(())
}
