//! Builds small models, and reads the rewritten ones.

use burn_roi_onnx::{Error, prepare};
use onnx_ir::{AttributeProto, AttributeType, GraphProto, Message, ModelProto, NodeProto, TensorProto, ValueInfoProto};

/// A node.
pub fn node(operator: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        name: format!("the {operator}"),
        op_type: operator.to_string(),
        input: inputs.iter().map(|name| name.to_string()).collect(),
        output: outputs.iter().map(|name| name.to_string()).collect(),
        ..NodeProto::default()
    }
}

/// A value of f32. A size of 0 stands for an unknown size.
pub fn value(name: &str, sizes: &[i64]) -> ValueInfoProto {
    let mut value = ValueInfoProto {
        name: name.to_string(),
        ..ValueInfoProto::default()
    };
    let kind = value.type_.mut_or_insert_default().mut_tensor_type();
    kind.elem_type = 1;
    let shape = kind.shape.mut_or_insert_default();
    for &size in sizes {
        shape.dim.push(Default::default());
        if size > 0
            && let Some(last) = shape.dim.last_mut()
        {
            last.set_dim_value(size);
        }
    }
    value
}

/// A value of i64.
pub fn integers(name: &str, sizes: &[i64]) -> ValueInfoProto {
    let mut value = value(name, sizes);
    value.type_.mut_or_insert_default().mut_tensor_type().elem_type = 7;
    value
}

/// A model of some nodes.
pub fn model(
    version: i64,
    nodes: Vec<NodeProto>,
    inputs: Vec<ValueInfoProto>,
    outputs: Vec<ValueInfoProto>,
) -> ModelProto {
    let mut model = ModelProto::default();
    import(&mut model, "", version);
    model.graph = Some(GraphProto {
        node: nodes,
        input: inputs,
        output: outputs,
        ..GraphProto::default()
    })
    .into();
    model
}

/// Imports a version of an operator set.
pub fn import(model: &mut ModelProto, domain: &str, version: i64) {
    model.opset_import.push(Default::default());
    if let Some(import) = model.opset_import.last_mut() {
        import.domain = domain.to_string();
        import.version = version;
    }
}

/// A model of one `RoiAlign`.
pub fn roi_align(version: i64, attributes: Vec<AttributeProto>) -> ModelProto {
    let mut align = node("RoiAlign", &["features", "rois", "batch_indices"], &["pooled"]);
    align.attribute = attributes;
    let inputs = vec![
        value("features", &[1, 3, 8, 8]),
        value("rois", &[0, 4]),
        integers("batch_indices", &[0]),
    ];
    model(version, vec![align], inputs, vec![value("pooled", &[0, 3, 1, 1])])
}

pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::INT.into(),
        i: value,
        ..AttributeProto::default()
    }
}

pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::INTS.into(),
        ints: values.to_vec(),
        ..AttributeProto::default()
    }
}

pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::FLOAT.into(),
        f: value,
        ..AttributeProto::default()
    }
}

pub fn floats(name: &str, values: &[f32]) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::FLOATS.into(),
        floats: values.to_vec(),
        ..AttributeProto::default()
    }
}

pub fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::STRING.into(),
        s: value.as_bytes().to_vec().into(),
        ..AttributeProto::default()
    }
}

pub fn graph(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: name.to_string(),
        type_: AttributeType::GRAPH.into(),
        g: Some(graph).into(),
        ..AttributeProto::default()
    }
}

/// A tensor of i64.
pub fn tensor(name: &str, sizes: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_string(),
        dims: sizes.to_vec(),
        data_type: 7,
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

/// A list of booleans.
pub fn booleans(name: &str, values: &[bool]) -> TensorProto {
    TensorProto {
        name: name.to_string(),
        dims: vec![values.len() as i64],
        data_type: 9,
        int32_data: values.iter().map(|&value| value.into()).collect(),
        ..TensorProto::default()
    }
}

/// The rewritten model.
pub fn prepared(model: &ModelProto) -> Result<ModelProto, Error> {
    let bytes = prepare(&model.write_to_bytes().unwrap(), None)?;
    Ok(ModelProto::parse_from_bytes(&bytes).unwrap())
}

/// The text of a model's error.
pub fn refusal(model: &ModelProto) -> String {
    match prepared(model) {
        Ok(_) => panic!("the model is accepted"),
        Err(error) => error.to_string(),
    }
}

/// The operators of a graph's nodes, in their order.
pub fn operators(model: &ModelProto) -> Vec<String> {
    let name = |node: &NodeProto| match node.domain.as_str() {
        "" => node.op_type.clone(),
        domain => format!("{domain}::{}", node.op_type),
    };
    model.graph.node.iter().map(name).collect()
}
