//! NumPy's arrays and torch's tensors, as they are in the file.

use std::borrow::Cow;

use burn::tensor::{TensorData, bf16, f16};

use super::element_type::ElementType;
use super::error::PickleReason;
use super::value::Value;

/// An array, whose bytes are still in the file.
#[derive(Debug, Clone)]
pub(in crate::weights) struct Array<'a> {
    pub(in crate::weights) element_type: ElementType,
    pub(in crate::weights) shape: Vec<usize>,
    /// By how many elements an index of each axis moves in the file.
    strides: Vec<usize>,
    /// The bytes of all elements.
    pub(in crate::weights) length: usize,
    data: Data<'a>,
}

/// The bytes of an array in the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Data<'a> {
    Bytes(&'a [u8]),
    /// As in [`Value::Latin1`].
    Latin1(&'a str),
}

impl<'a> Array<'a> {
    /// The last index moves fastest.
    pub(super) fn in_c_order(
        element_type: ElementType,
        shape: Vec<usize>,
        data: Data<'a>,
    ) -> Result<Self, PickleReason> {
        let length = data.length()?;
        // A size of 0 makes an empty array, but no room for others whose product overflows.
        let room = shape
            .iter()
            .try_fold(element_type.bytes(), |room, &size| room.checked_mul(size.max(1)));
        let expected = if shape.contains(&0) { room.and(Some(0)) } else { room };
        if expected != Some(length) {
            return Err(PickleReason::ArrayLength {
                shape,
                dtype: element_type.name(),
                bytes: length,
            });
        }
        Ok(Self {
            strides: strides_of(&shape),
            element_type,
            shape,
            length,
            data,
        })
    }

    /// The first index moves fastest.
    pub(super) fn in_fortran_order(
        element_type: ElementType,
        mut shape: Vec<usize>,
        data: Data<'a>,
    ) -> Result<Self, PickleReason> {
        shape.reverse();
        let axes = (0..shape.len()).rev().collect();
        Self::in_c_order(element_type, shape, data)?.with_axes(axes)
    }

    /// The array whose elements are `strides` apart in `bytes`, which may have more.
    pub(super) fn strided(
        element_type: ElementType,
        shape: Vec<usize>,
        mut strides: Vec<usize>,
        bytes: &'a [u8],
    ) -> Result<Self, PickleReason> {
        let room = (shape.iter()).try_fold(element_type.bytes(), |room, &size| room.checked_mul(size.max(1)));
        let last = shape.iter().zip(&strides).try_fold(0_usize, |last, (&size, stride)| {
            last.checked_add(size.saturating_sub(1).checked_mul(*stride)?)
        });
        let end = last.and_then(|last| last.checked_add(1)?.checked_mul(element_type.bytes()));
        let is_empty = shape.contains(&0);
        let is_inside = is_empty || end.is_some_and(|end| end <= bytes.len());
        let (Some(room), true, true) = (room, is_inside, shape.len() == strides.len()) else {
            return Err(PickleReason::ArrayLength {
                shape,
                dtype: element_type.name(),
                bytes: bytes.len(),
            });
        };
        // A stride along one element says nothing.
        for (axis, stride) in strides_of(&shape).into_iter().enumerate() {
            if is_empty || shape[axis] == 1 {
                strides[axis] = stride;
            }
        }
        Ok(Self {
            element_type,
            shape,
            strides,
            length: if is_empty { 0 } else { room },
            data: Data::Bytes(bytes),
        })
    }

    /// The array whose axis `i` is the axis `axes[i]` of this one.
    pub(super) fn with_axes(self, axes: Vec<usize>) -> Result<Self, PickleReason> {
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.shape.len()) {
            let found = format!("{axes:?}");
            return Err(PickleReason::operand("axes", found, "each axis of the array once"));
        }
        Ok(Self {
            shape: axes.iter().map(|&axis| self.shape[axis]).collect(),
            strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
            ..self
        })
    }

    pub(in crate::weights) fn to_data(&self) -> TensorData {
        let bytes = self.to_bytes();
        let shape = self.shape.clone();
        // Not as bytes: a tensor's memory is aligned to its dtype.
        match self.element_type {
            ElementType::Float16 => TensorData::new(elements(&bytes, f16::from_le_bytes), shape),
            ElementType::Bfloat16 => TensorData::new(elements(&bytes, bf16::from_le_bytes), shape),
            ElementType::Float32 => TensorData::new(elements(&bytes, f32::from_le_bytes), shape),
            ElementType::Float64 => TensorData::new(elements(&bytes, f64::from_le_bytes), shape),
            ElementType::Int32 => TensorData::new(elements(&bytes, i32::from_le_bytes), shape),
            ElementType::Int64 => TensorData::new(elements(&bytes, i64::from_le_bytes), shape),
            ElementType::UInt8 => TensorData::new(bytes.into_owned(), shape),
            ElementType::Int16 => TensorData::new(elements(&bytes, i16::from_le_bytes), shape),
        }
    }

    /// The bytes of the elements, little-endian, the last index moving fastest.
    fn to_bytes(&self) -> Cow<'a, [u8]> {
        let bytes = match self.data {
            Data::Bytes(bytes) => Cow::Borrowed(bytes),
            // `Data::length` saw that each character is a byte.
            Data::Latin1(text) => text.chars().map(|character| character as u8).collect::<Vec<_>>().into(),
        };
        match (self.strides == strides_of(&self.shape), bytes) {
            (true, Cow::Borrowed(bytes)) => Cow::Borrowed(&bytes[..self.length]),
            (true, bytes) => bytes,
            (false, bytes) => self.gather(&bytes).into(),
        }
    }

    fn gather(&self, bytes: &[u8]) -> Vec<u8> {
        let width = self.element_type.bytes();
        let mut gathered = Vec::with_capacity(self.length);
        let mut index = vec![0; self.shape.len()];
        let mut element = 0;
        while gathered.len() < self.length {
            gathered.extend_from_slice(&bytes[element * width..][..width]);
            for (axis, index) in index.iter_mut().enumerate().rev() {
                *index += 1;
                element += self.strides[axis];
                if *index < self.shape[axis] {
                    break;
                }
                element -= self.strides[axis] * *index;
                *index = 0;
            }
        }
        gathered
    }
}

impl<'a> Data<'a> {
    pub(super) fn of(value: Value<'a>) -> Result<Self, PickleReason> {
        match value {
            Value::Bytes(bytes) => Ok(Self::Bytes(bytes)),
            // A string of Python 2.
            Value::Text(text) => Ok(Self::Bytes(text.as_bytes())),
            Value::Latin1(text) => Ok(Self::Latin1(text)),
            _ => Err(value.not("bytes", "bytes")),
        }
    }

    /// How many bytes of the file it takes.
    pub(super) fn length_in_file(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Latin1(text) => text.len(),
        }
    }

    /// How many bytes it is. Those of text are counted, which takes time.
    fn length(self) -> Result<usize, PickleReason> {
        let Self::Latin1(text) = self else {
            return Ok(self.length_in_file());
        };
        if !text.chars().all(|character| u8::try_from(character).is_ok()) {
            let found = "text with a character above U+00FF";
            return Err(PickleReason::operand("bytes", found, "text whose characters are bytes"));
        }
        Ok(text.chars().count())
    }
}

fn elements<Element, const N: usize>(bytes: &[u8], of_bytes: fn([u8; N]) -> Element) -> Vec<Element> {
    let (elements, _) = bytes.as_chunks();
    elements.iter().map(|&element| of_bytes(element)).collect()
}

/// The strides of elements that are stored with the last index moving fastest.
fn strides_of(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}
