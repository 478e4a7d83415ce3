//! Pickles of weights as NumPy writes them.

use std::collections::BTreeMap;

use burn::tensor::TensorData;

/// Weights in f32 by name.
pub type Tensors = BTreeMap<String, TensorData>;

/// The opcode and the value of an unsigned integer below 65536.
fn int(value: usize) -> Vec<u8> {
    [b"M", (value as u16).to_le_bytes().as_slice()].concat()
}

/// A pickle of protocol 2 of a dictionary, whose strings are those of Python 2 or of Python 3.
pub struct Pickle {
    pub is_python_2: bool,
}

impl Pickle {
    pub fn text(&self, text: &str) -> Vec<u8> {
        let length = text.len() as u8;
        match self.is_python_2 {
            true => [b"U", [length].as_slice(), text.as_bytes()].concat(),
            false => [b"X", [length, 0, 0, 0].as_slice(), text.as_bytes()].concat(),
        }
    }

    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let opcode = if self.is_python_2 { b"T" } else { b"B" };
        [opcode, (bytes.len() as u32).to_le_bytes().as_slice(), bytes].concat()
    }

    /// An array as NumPy writes it.
    fn array(&self, data: &TensorData) -> Vec<u8> {
        let shape: Vec<u8> = data.shape().iter().flat_map(|&size| int(size)).collect();
        let kind = if self.is_python_2 {
            self.text("b")
        } else {
            self.bytes(b"b")
        };
        [
            b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85".as_slice(),
            &kind,
            b"\x87R(K\x01(",
            &shape,
            b"tcnumpy\ndtype\n",
            &self.text("f4"),
            b"K\0K\x01\x87R(K\x03",
            &self.text("<"),
            b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89",
            &self.bytes(data.as_bytes()),
            b"tb",
        ]
        .concat()
    }

    pub fn dictionary(&self, tensors: &Tensors) -> Vec<u8> {
        let entries = tensors.iter();
        let entries = entries.flat_map(|(name, data)| [self.text(name), self.array(data)].concat());
        [b"}(".to_vec(), entries.collect(), b"u".to_vec()].concat()
    }

    pub fn file(&self, value: &[u8]) -> Vec<u8> {
        [b"\x80\x02", value, b"."].concat()
    }
}
