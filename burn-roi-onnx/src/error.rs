//! The errors of an import.

use std::fmt;
use std::io;
use std::path::PathBuf;

use burn_onnx::ext::ProcessError;
use onnx_ir::NodeProto;

/// Why a model cannot be imported. The text names the node, the attribute or the tensor, its value and what is
/// expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: io::Error,
    },
    /// A build script cannot use the path of a model.
    #[error("the path {} of the model {reason}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// `input` was called outside of a build script.
    #[error("the environment variable OUT_DIR is not set: call `input` from a build script")]
    NoBuildScript,
    /// The file is not an ONNX model.
    #[error("not an ONNX model: {0}")]
    Protobuf(String),
    /// The model is larger than a protobuf file may be.
    #[error("the model has {bytes} bytes with its external data; it may have {limit} at most")]
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The largest size in bytes.
        limit: u64,
    },
    /// The model imports an unknown version of an operator set.
    #[error("the model imports version {version} of the operator set {domain:?}; it must be {expected}")]
    Opset {
        /// The operator set; the default one is "".
        domain: String,
        /// The version.
        version: i64,
        /// The expected value.
        expected: String,
    },
    /// An operator does not exist in the version that the model imports.
    #[error("{node} is from version {version} of its operator set; it must be {expected}")]
    OperatorVersion {
        /// The node.
        node: Box<NodeId>,
        /// The version.
        version: usize,
        /// The expected value.
        expected: String,
    },
    /// An attribute of a node has a wrong value.
    #[error("{node}: the attribute `{attribute}` is {value}; it must be {expected}")]
    Attribute {
        /// The node.
        node: Box<NodeId>,
        /// The attribute.
        attribute: String,
        /// Its value.
        value: String,
        /// The expected value.
        expected: String,
    },
    /// An input of a node has a wrong type or is missing.
    #[error("{node}: the input `{input}` is {value}; it must be {expected}")]
    Input {
        /// The node.
        node: Box<NodeId>,
        /// Its name in the operator's specification.
        input: String,
        /// Its value.
        value: String,
        /// The expected value.
        expected: String,
    },
    /// A node cannot be imported.
    #[error("{node}: {reason}")]
    Node {
        /// The node.
        node: Box<NodeId>,
        /// The reason.
        reason: String,
    },
    /// A tensor of the model is malformed.
    #[error("the tensor `{tensor}`: {reason}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// The reason.
        reason: String,
    },
    /// The external data of a tensor is missing, too short, or outside of the model's folder.
    #[error("the external data of the tensor `{tensor}`, {location:?}: {reason}")]
    ExternalData {
        /// The tensor.
        tensor: String,
        /// The location in the model.
        location: String,
        /// The reason.
        reason: String,
    },
    /// The graph is malformed, or sizes were fixed that it does not allow.
    #[error("the graph {0}")]
    Graph(String),
    /// burn-onnx cannot generate the code of a prepared model.
    #[error("burn-onnx cannot generate the code of the models: {reason}{}", candidates(nodes))]
    Generate {
        /// The text of its panic.
        reason: String,
        /// The nodes that it may be about.
        nodes: Vec<NodeId>,
    },
    /// burn-onnx refuses the prepared model.
    #[error("burn-onnx cannot import the model: {0}")]
    Import(String),
}

impl Error {
    pub(crate) fn into_process_error(self) -> ProcessError {
        ProcessError::Custom(self.to_string())
    }
}

/// A node of a model: its name, its operator and its first output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeId {
    /// The name; it may be empty.
    pub name: String,
    /// The operator.
    pub operator: String,
    /// The operator set; the default one is "".
    pub domain: String,
    /// The name of the first output.
    pub output: String,
}

impl NodeId {
    pub(crate) fn of(node: &NodeProto) -> Self {
        Self {
            name: node.name.clone(),
            operator: node.op_type.clone(),
            domain: node.domain.clone(),
            output: node.output.first().cloned().unwrap_or_default(),
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.domain.is_empty() { "" } else { "::" };
        let operator = format_args!("{}{separator}{}", self.domain, self.operator);
        if self.name.is_empty() {
            write!(f, "the node {operator} with the output {:?}", self.output)
        } else {
            write!(f, "the node {:?} ({operator})", self.name)
        }
    }
}

/// The end of an error that is about one of several nodes.
fn candidates(nodes: &[NodeId]) -> String {
    match nodes {
        [] => String::new(),
        [only] => format!("; it is {only}"),
        _ => {
            let shown: Vec<_> = nodes.iter().take(MOST_CANDIDATES).map(NodeId::to_string).collect();
            let rest = nodes.len() - shown.len();
            let rest = if rest > 0 {
                format!(", or one of {rest} more")
            } else {
                String::new()
            };
            format!("; it is one of these: {}{rest}", shown.join(", "))
        }
    }
}

/// The most nodes that an error lists. A detector can have a hundred nodes of one operator.
const MOST_CANDIDATES: usize = 8;
