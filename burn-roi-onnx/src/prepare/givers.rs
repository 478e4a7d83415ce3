//! The producer of each value of a graph: a node or an initializer.

use std::collections::HashMap;

use onnx_ir::{GraphProto, NodeProto, TensorProto};

use super::tensor::{Data, Tensor};

pub(super) struct Givers<'a> {
    nodes: HashMap<&'a str, &'a NodeProto>,
    constants: HashMap<&'a str, &'a TensorProto>,
}

impl<'a> Givers<'a> {
    pub fn of(graph: &'a GraphProto) -> Self {
        let outputs = graph
            .node
            .iter()
            .flat_map(|node| node.output.iter().map(move |name| (name.as_str(), node)));
        let constants = graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor));
        Self {
            nodes: outputs.collect(),
            constants: constants.collect(),
        }
    }

    /// The node that gives a value.
    pub fn node(&self, name: &str) -> Option<&'a NodeProto> {
        self.nodes.get(name).copied()
    }

    /// A constant.
    pub fn constant(&self, name: &str) -> Option<Tensor> {
        Tensor::of(self.constants.get(name)?)
    }

    /// A constant of one element, as a float.
    pub fn number(&self, name: &str) -> Option<f32> {
        match &self.constant(name)?.data {
            Data::Float(values) => (values.len() == 1).then(|| values[0]),
            Data::Int64(values) => (values.len() == 1).then(|| values[0] as f32),
            _ => None,
        }
    }

    /// The value that some operators on one tensor were applied to, in any order.
    pub fn through<'b>(&self, name: &'b str, operators: &[&str]) -> Option<&'b str>
    where
        'a: 'b,
    {
        let mut name = name;
        while let Some(node) = self.node(name).filter(|node| operators.contains(&&*node.op_type)) {
            name = node.input.first()?;
        }
        Some(name)
    }

    /// The value that an operator computes with, and the number that it computes with it.
    pub fn with_number(&self, name: &str, operator: &str) -> Option<(&'a str, f32)> {
        let node = self.node(name).filter(|node| node.op_type == operator)?;
        Some((node.input.first()?, self.number(node.input.get(1)?)?))
    }
}
