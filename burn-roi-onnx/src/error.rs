//! What can be wrong with a model.

use std::fmt;
use std::io;
use std::path::PathBuf;

use burn_onnx::ext::ProcessError;
use onnx_ir::NodeProto;

/// Why a model cannot be imported. The text names the node, the attribute or the tensor, what it was and what it must
/// be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// The path of a model is not one that a build script can use.
    #[error("the path {} of the model {reason}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
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
        /// Its size.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// The model imports a version of an operator set that is not known.
    #[error("the model imports version {version} of the operator set {domain:?}; it must be {expected}")]
    Opset {
        /// The operator set; the default one is "".
        domain: String,
        /// The version.
        version: i64,
        /// What it must be.
        expected: String,
    },
    /// An operator does not exist in the version that the model imports.
    #[error("{node} is from version {version} of its operator set; it must be {expected}")]
    OperatorVersion {
        /// The node.
        node: Box<NodeId>,
        /// The version.
        version: usize,
        /// What it must be.
        expected: String,
    },
    /// The attribute of a node has a value that it must not have.
    #[error("{node}: the attribute `{attribute}` is {value}; it must be {expected}")]
    Attribute {
        /// The node.
        node: Box<NodeId>,
        /// The attribute.
        attribute: String,
        /// What it is.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// The input of a node is not what it must be.
    #[error("{node}: the input `{input}` is {value}; it must be {expected}")]
    Input {
        /// The node.
        node: Box<NodeId>,
        /// The input, by the operator's name for it.
        input: String,
        /// What it is.
        value: String,
        /// What it must be.
        expected: String,
    },
    /// A node cannot be imported.
    #[error("{node}: {reason}")]
    Node {
        /// The node.
        node: Box<NodeId>,
        /// Why.
        reason: String,
    },
    /// A tensor of the model is malformed.
    #[error("the tensor `{tensor}`: {reason}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The data of a tensor lies where it must not, or is not there.
    #[error("the external data of the tensor `{tensor}`, {location:?}: {reason}")]
    ExternalData {
        /// The tensor.
        tensor: String,
        /// The location that the model names.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The graph is malformed, or lacks an input whose sizes are to be fixed, or that input's sizes differ.
    #[error("the graph {0}")]
    Graph(String),
    /// burn-onnx cannot generate the code of a prepared model.
    #[error("burn-onnx cannot generate the code of the models: {reason}{}", candidates(nodes))]
    Generate {
        /// The text of its panic.
        reason: String,
        /// The nodes that it may tell of.
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

/// The end of an error that may be about any of some nodes.
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

/// A detector has a hundred nodes of an operator.
const MOST_CANDIDATES: usize = 8;
