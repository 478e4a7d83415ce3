//! Constants of a graph, and how ONNX stores them.

use onnx_ir::TensorProto;

/// The most elements of a constant that is folded. The anchors of a detector have one or two million.
pub(crate) const MAXIMUM_ELEMENTS: usize = 1 << 22;

/// The highest rank of a tensor that is folded.
pub(crate) const MAXIMUM_RANK: usize = 64;

/// The ONNX codes of the element types that are folded.
pub(crate) mod element {
    pub const FLOAT: i32 = 1;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const BOOL: i32 = 9;
    pub const DOUBLE: i32 = 11;
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tensor {
    pub dims: Vec<usize>,
    pub data: Data,
}

/// The elements of a constant, in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Float(Vec<f32>),
    Double(Vec<f64>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Bool(Vec<bool>),
}

impl Tensor {
    /// A constant, if `data` has as many elements as `dims` need.
    pub fn new(dims: Vec<usize>, data: Data) -> Option<Self> {
        (count(&dims)? == data.len()).then_some(Self { dims, data })
    }

    /// Integers of rank 1.
    pub fn of_integers(values: Vec<i64>) -> Self {
        Self {
            dims: vec![values.len()],
            data: Data::Int64(values),
        }
    }

    /// An integer of rank 0.
    pub fn of_integer(value: i64) -> Self {
        Self {
            dims: Vec::new(),
            data: Data::Int64(vec![value]),
        }
    }

    /// The elements, if they are integers.
    pub fn integers(&self) -> Option<Vec<i64>> {
        match &self.data {
            Data::Int64(values) => Some(values.clone()),
            Data::Int32(values) => Some(values.iter().map(|&value| value.into()).collect()),
            _ => None,
        }
    }

    /// The only element, if it is an integer.
    pub fn integer(&self) -> Option<i64> {
        match self.integers()?[..] {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Reads a protobuf, if the element type is one of [`Data`] and the tensor is not too large.
    pub fn of(proto: &TensorProto) -> Option<Self> {
        let dims = sizes_of(&proto.dims)?;
        count(&dims)?;
        if !proto.external_data.is_empty() {
            return None;
        }
        let raw = &proto.raw_data;
        let data = match (proto.data_type, raw.is_empty()) {
            (element::FLOAT, true) => Data::Float(proto.float_data.clone()),
            (element::FLOAT, false) => Data::Float(whole(raw, f32::from_le_bytes)?),
            (element::DOUBLE, true) => Data::Double(proto.double_data.clone()),
            (element::DOUBLE, false) => Data::Double(whole(raw, f64::from_le_bytes)?),
            (element::INT32, true) => Data::Int32(proto.int32_data.clone()),
            (element::INT32, false) => Data::Int32(whole(raw, i32::from_le_bytes)?),
            (element::INT64, true) => Data::Int64(proto.int64_data.clone()),
            (element::INT64, false) => Data::Int64(whole(raw, i64::from_le_bytes)?),
            (element::BOOL, true) => Data::Bool(proto.int32_data.iter().map(|&value| value != 0).collect()),
            (element::BOOL, false) => Data::Bool(raw.iter().map(|&value| value != 0).collect()),
            _ => return None,
        };
        Self::new(dims, data)
    }

    /// The protobuf of a tensor of this name.
    pub fn to_proto(&self, name: &str) -> TensorProto {
        let bytes: Vec<u8> = match &self.data {
            Data::Float(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::Double(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::Int32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::Int64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Data::Bool(values) => values.iter().map(|&value| value.into()).collect(),
        };
        TensorProto {
            name: name.to_string(),
            dims: self.dims.iter().map(|&size| size as i64).collect(),
            data_type: self.data.element(),
            raw_data: bytes.into(),
            ..TensorProto::default()
        }
    }
}

impl Data {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    /// The ONNX code of the element type.
    pub fn element(&self) -> i32 {
        match self {
            Self::Float(_) => element::FLOAT,
            Self::Double(_) => element::DOUBLE,
            Self::Int32(_) => element::INT32,
            Self::Int64(_) => element::INT64,
            Self::Bool(_) => element::BOOL,
        }
    }
}

/// Sizes, if none is negative.
pub(crate) fn sizes_of(integers: &[i64]) -> Option<Vec<usize>> {
    integers.iter().map(|&size| usize::try_from(size).ok()).collect()
}

/// How many elements a tensor of these sizes has, if it is not too large.
pub(crate) fn count(dims: &[usize]) -> Option<usize> {
    (dims.len() <= MAXIMUM_RANK).then_some(())?;
    let count = dims.iter().try_fold(1, |count: usize, &size| count.checked_mul(size))?;
    (count <= MAXIMUM_ELEMENTS).then_some(count)
}

/// Elements from bytes, if no byte is left over.
fn whole<T, const SIZE: usize>(bytes: &[u8], of_bytes: fn([u8; SIZE]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<SIZE>();
    rest.is_empty()
        .then(|| chunks.iter().map(|&chunk| of_bytes(chunk)).collect())
}
