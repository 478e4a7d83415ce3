//! Tensors of torch, whose bytes are in storages beside the pickle.

use super::array::{Array, ElementType};
use super::call::sizes;
use super::error::PickleReason;
use super::global::Global;
use super::heap::{Heap, Object};
use super::value::Value;

/// The type of a storage's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::weights) struct StorageKind {
    /// The bytes of an element.
    pub(in crate::weights) bytes: usize,
    /// `None` if no weight has this type.
    element_type: Option<ElementType>,
}

impl StorageKind {
    /// By the name of torch's class.
    pub(super) fn named(class: &str) -> Option<Self> {
        let (bytes, element_type) = match class {
            "HalfStorage" => (2, Some(ElementType::Float16)),
            "BFloat16Storage" => (2, Some(ElementType::Bfloat16)),
            "FloatStorage" => (4, Some(ElementType::Float32)),
            "DoubleStorage" => (8, Some(ElementType::Float64)),
            "IntStorage" => (4, Some(ElementType::Int32)),
            "LongStorage" => (8, Some(ElementType::Int64)),
            "ByteStorage" | "CharStorage" | "BoolStorage" => (1, None),
            "ShortStorage" => (2, None),
            _ => return None,
        };
        Some(Self { bytes, element_type })
    }
}

/// Bytes that tensors share.
#[derive(Debug)]
pub(in crate::weights) struct Storage<'a> {
    pub(in crate::weights) key: &'a str,
    pub(in crate::weights) kind: StorageKind,
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

/// The opcode BINPERSID: the storage that an identifier names. The last item of six is a part of it in old files.
pub(super) fn storage<'a>(identifier: Value<'a>, heap: &mut Heap<'a>) -> Result<Value<'a>, PickleReason> {
    let object = match heap.tuple(identifier, "identifier")? {
        &[
            Value::Text("storage"),
            Value::Global(Global::Storage(kind)),
            Value::Text(key),
            Value::Text(_),
            elements @ Value::Int(_),
            ref last @ ..,
        ] if matches!(last, [] | [Value::None]) => {
            let elements = elements.size("elements of a storage")?;
            Object::Storage(Box::new(Storage { key, kind, elements }))
        }
        _ => Object::Other,
    };
    Ok(heap.add(object))
}

impl<'a> Heap<'a> {
    /// The storages that the pickle names, in its order.
    pub(in crate::weights) fn storages(&self) -> impl Iterator<Item = &Storage<'a>> {
        self.objects().filter_map(|object| match object {
            Object::Storage(storage) => Some(&**storage),
            _ => None,
        })
    }

    /// A tensor as an array of the bytes of its storage. `None` if the value is no tensor of a type that weights have.
    pub(in crate::weights) fn tensor(
        &self,
        value: Value<'a>,
        bytes_of: impl Fn(&str) -> Option<&'a [u8]>,
    ) -> Result<Option<Array<'a>>, PickleReason> {
        let Some(Object::Tensor(view)) = self.object(value) else {
            return Ok(None);
        };
        let Some(Object::Storage(storage)) = self.object(view.storage) else {
            return Ok(None);
        };
        let Some(element_type) = storage.kind.element_type else {
            return Ok(None);
        };
        let [shape, strides] =
            [(view.shape, "shape"), (view.strides, "strides")].map(|(value, name)| sizes(value, name, self));
        let offset = view.offset.size("offset")?.saturating_mul(element_type.bytes());
        let bytes = bytes_of(storage.key).unwrap_or_default();
        let bytes = bytes.get(offset..).unwrap_or_default();
        Array::strided(element_type, shape?, strides?, bytes).map(Some)
    }
}
