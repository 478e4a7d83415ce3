//! Tensors of torch, whose bytes are in storages beside the pickle.

use super::array::Array;
use super::element_type::ElementType;
use super::error::PickleReason;
use super::global::Global;
use super::heap::{Heap, Object, Storage};
use super::value::Value;

/// The opcode BINPERSID: the storage that an identifier names. The last item of six is a part of it in old files.
pub(super) fn storage<'a>(identifier: Value<'a>, heap: &mut Heap<'a>) -> Result<Value<'a>, PickleReason> {
    let object = match heap.tuple(identifier, "identifier")? {
        &[
            Value::Text("storage"),
            Value::Global(Global::Storage(element_type)),
            Value::Text(key),
            Value::Text(_),
            elements @ Value::Int(_),
            ref last @ ..,
        ] if matches!(last, [] | [Value::None]) => Object::Storage(Box::new(Storage {
            key,
            element_type,
            elements: elements.size("elements of a storage")?,
        })),
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
        let element_type = storage.element_type;
        if matches!(element_type, ElementType::UInt8 | ElementType::Int16) {
            return Ok(None);
        }
        let [shape, strides] =
            [(view.shape, "shape"), (view.strides, "strides")].map(|(value, name)| self.sizes(value, name));
        let offset = view.offset.size("offset")?.saturating_mul(element_type.bytes());
        let bytes = bytes_of(storage.key).unwrap_or_default();
        let bytes = bytes.get(offset..).unwrap_or_default();
        Array::strided(element_type, shape?, strides?, bytes).map(Some)
    }
}
