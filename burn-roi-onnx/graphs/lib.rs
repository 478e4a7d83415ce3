//! Small ONNX graphs of every region operator, as burn-onnx imports them with burn-roi-onnx.

use std::collections::HashMap;

use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Device, Element, Int, Tensor, TensorData};

/// An imported graph.
pub struct Graph {
    /// Its name in `tests/graphs`.
    pub name: &'static str,
    /// The files of its recorded runs.
    pub recordings: &'static [&'static str],
    /// How far an output may be from the recorded one: absolute below 1, relative above.
    pub tolerance: f64,
    /// Runs it: its outputs, by their names in the recordings.
    pub run: fn(&Inputs) -> Vec<(&'static str, TensorData)>,
}

/// The tensors of a recording, on a device.
pub struct Inputs<'a> {
    pub tensors: &'a HashMap<String, TensorData>,
    pub device: &'a Device,
}

/// An output of a graph. burn-onnx makes sizes an array.
trait Output {
    fn into_data(self) -> TensorData;
}

impl<const D: usize, K: Basic> Output for Tensor<D, K> {
    fn into_data(self) -> TensorData {
        self.into_data()
    }
}

impl<const N: usize> Output for [i64; N] {
    fn into_data(self) -> TensorData {
        TensorData::from(self)
    }
}

impl Inputs<'_> {
    fn data(&self, name: &str) -> TensorData {
        self.tensors[name].clone()
    }

    fn number<E: Element>(&self, name: &str) -> E {
        let numbers = self.data(name);
        numbers.iter::<E>().next().unwrap_or_else(|| panic!("{name} is empty"))
    }

    fn float<const D: usize>(&self, name: &str) -> Tensor<D> {
        let data = self.data(name);
        let dtype = data.dtype();
        Tensor::from_data(data, (self.device, dtype))
    }

    fn bool<const D: usize>(&self, name: &str) -> Tensor<D, Bool> {
        Tensor::from_data(self.data(name), self.device)
    }

    fn int<const D: usize>(&self, name: &str) -> Tensor<D, Int> {
        let data = self.data(name);
        let dtype = data.dtype();
        Tensor::from_data(data, (self.device, dtype))
    }
}

include!(concat!(env!("OUT_DIR"), "/graphs.rs"));
