//! The producer of each value of a graph: a node or an initializer.

use std::collections::HashMap;

use onnx_ir::{GraphProto, NodeProto, TensorProto};

use crate::read::node::NodeAttributes;
use crate::read::tensor::{Data, Tensor};

pub(super) struct Producers<'a> {
    nodes: HashMap<&'a str, &'a NodeProto>,
    constants: HashMap<&'a str, &'a TensorProto>,
}

impl<'a> Producers<'a> {
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

    /// The node whose output is the value.
    pub fn node(&self, name: &str) -> Option<&'a NodeProto> {
        self.nodes.get(name).copied()
    }

    /// The node whose output is the value, if it is of this operator.
    pub fn operator(&self, name: &str, operator: &str) -> Option<&'a NodeProto> {
        self.node(name).filter(|node| node.op_type == operator)
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

    /// Follows a value back through nodes of some operators.
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

    /// The inputs of an operator on a value and a constant scalar.
    pub fn with_number(&self, name: &str, operator: &str) -> Option<(&'a str, f32)> {
        let node = self.operator(name, operator)?;
        Some((node.input.first()?, self.number(node.input.get(1)?)?))
    }

    /// The tensor and the index of the column that a `Gather` takes.
    pub fn column(&self, gather: &'a NodeProto) -> Option<(&'a str, i64)> {
        (gather.int("axis", 0) == 1).then_some(())?;
        let index = self.constant(gather.input.get(1)?)?.integer()?;
        Some((gather.input.first()?, index))
    }

    /// The boxes and the two columns that a value is the result of an operator on.
    pub fn columns(&self, name: &str, operator: &str) -> Option<(&'a str, [i64; 2])> {
        let node = self.operator(name, operator)?;
        let column = |at: usize| self.column(self.operator(node.input.get(at)?, "Gather")?);
        let ((boxes, first), (others, second)) = (column(0)?, column(1)?);
        (boxes == others).then_some((boxes, [first, second]))
    }

    /// The boxes and the two columns whose difference is a value: the width or the height of a box.
    pub fn side(&self, name: &str) -> Option<(&'a str, [i64; 2])> {
        self.columns(name, "Sub")
    }
}
