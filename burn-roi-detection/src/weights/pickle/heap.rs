//! The objects of a pickle, which values share by their index.

use super::array::Array;
use super::element_type::ElementType;
use super::error::PickleReason;
use super::value::{ObjectId, Value};

#[derive(Debug)]
pub(super) enum Object<'a> {
    Tuple(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    DType(ElementType),
    /// What [`super::global::Global::Reconstruct`] returns, until its state follows.
    EmptyArray,
    /// In a box, so that a hostile file's many small objects are 32 bytes each.
    Array(Box<Array<'a>>),
    Storage(Box<Storage<'a>>),
    Tensor(Box<View<'a>>),
    /// An object of torch's files that is none of these. What is put into it is dropped.
    Other,
}

/// Bytes that tensors share.
#[derive(Debug)]
pub(in crate::weights) struct Storage<'a> {
    pub(in crate::weights) key: &'a str,
    pub(in crate::weights) element_type: ElementType,
    /// How many elements it has.
    pub(in crate::weights) elements: usize,
}

/// What a tensor reads of a storage, as the pickle has it.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) storage: Value<'a>,
    pub(super) offset: Value<'a>,
    pub(super) shape: Value<'a>,
    pub(super) strides: Value<'a>,
}

/// The most dimensions of an array of NumPy.
const MAX_DIMENSIONS: usize = 64;

pub(in crate::weights) struct Heap<'a> {
    objects: Vec<Object<'a>>,
    /// The bytes that all arrays may have together.
    limit: usize,
    /// The bytes that they have.
    spent: usize,
}

impl<'a> Heap<'a> {
    /// For a file of so many bytes.
    pub(super) fn new(file: usize) -> Self {
        Self {
            objects: Vec::new(),
            limit: file.saturating_mul(2),
            spent: 0,
        }
    }

    pub(super) fn add(&mut self, object: Object<'a>) -> Value<'a> {
        self.objects.push(object);
        Value::Object(ObjectId(self.objects.len() - 1))
    }

    pub(super) fn add_array(&mut self, array: Array<'a>) -> Value<'a> {
        self.add(Object::Array(Box::new(array)))
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = &Object<'a>> {
        self.objects.iter()
    }

    pub(super) fn object(&self, value: Value<'a>) -> Option<&Object<'a>> {
        match value {
            Value::Object(ObjectId(index)) => self.objects.get(index),
            _ => None,
        }
    }

    pub(super) fn object_mut(&mut self, value: Value<'a>) -> Option<&mut Object<'a>> {
        match value {
            Value::Object(ObjectId(index)) => self.objects.get_mut(index),
            _ => None,
        }
    }

    pub(super) fn tuple(&self, value: Value<'a>, operand: &'static str) -> Result<&[Value<'a>], PickleReason> {
        match self.object(value) {
            Some(Object::Tuple(items)) => Ok(items),
            _ => Err(value.not(operand, "a tuple")),
        }
    }

    pub(super) fn sizes(&self, tuple: Value<'a>, operand: &'static str) -> Result<Vec<usize>, PickleReason> {
        let sizes = self.tuple(tuple, operand)?;
        if sizes.len() > MAX_DIMENSIONS {
            let found = format!("of length {}", sizes.len());
            return Err(PickleReason::operand(operand, found, "of length 64 at most"));
        }
        sizes.iter().map(|size| size.size(operand)).collect()
    }

    pub(super) fn element_type(&self, value: Value<'a>) -> Result<ElementType, PickleReason> {
        match self.object(value) {
            Some(Object::DType(element_type)) => Ok(*element_type),
            _ => Err(value.not("dtype", "a numpy.dtype")),
        }
    }

    /// The entries of a dictionary in the file's order, or none if it is no dictionary.
    pub(in crate::weights) fn entries(&self, value: Value<'a>) -> Option<&[(Value<'a>, Value<'a>)]> {
        match self.object(value) {
            Some(Object::Dict(entries)) => Some(entries),
            _ => None,
        }
    }

    /// The entry of a dictionary. As in Python, the last of several entries of one name counts.
    pub(in crate::weights) fn entry(&self, dictionary: Value<'a>, key: &str) -> Option<Value<'a>> {
        let is_named = |(name, _): &&(Value<'a>, Value<'a>)| matches!(name, Value::Text(name) if *name == key);
        self.entries(dictionary)?
            .iter()
            .rfind(is_named)
            .map(|&(_, value)| value)
    }

    /// The items of a list of text, or none if it is none.
    pub(in crate::weights) fn texts(&self, value: Value<'a>) -> Option<Vec<&'a str>> {
        let Some(Object::List(items)) = self.object(value) else {
            return None;
        };
        items.iter().map(|item| item.text("item").ok()).collect()
    }

    pub(in crate::weights) fn array(&self, value: Value<'a>) -> Option<&Array<'a>> {
        match self.object(value) {
            Some(Object::Array(array)) => Some(array),
            _ => None,
        }
    }

    /// Counts the bytes of an array. Without a limit, each of many short opcodes could ask for all bytes of the file.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), PickleReason> {
        self.spent = self.spent.saturating_add(bytes);
        match self.spent > self.limit {
            true => Err(PickleReason::Shared { limit: self.limit }),
            false => Ok(()),
        }
    }
}
