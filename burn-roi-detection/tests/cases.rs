//! The cases of `cases.safetensors` and `training.safetensors`, which `generate.py` and `generate_training.py` write.

use std::collections::HashMap;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use safetensors::{Dtype, SafeTensors};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::backends::{Backend, backends};

/// The arguments and results of one call of a torchvision function.
pub struct Case {
    pub name: String,
    options: Value,
    tensors: HashMap<String, TensorData>,
}

/// Calls `check` with every case of a function, on every backend that supports the dtypes of the case.
pub fn check_all(function: &str, check: impl Fn(&Case, &Backend)) {
    let files: [&[u8]; 2] = [
        include_bytes!("cases.safetensors"),
        include_bytes!("training.safetensors"),
    ];
    let cases: Vec<Case> = files.iter().flat_map(|bytes| read(bytes, function)).collect();
    assert!(!cases.is_empty(), "there is no case of {function}");
    for backend in backends() {
        for case in &cases {
            if case.dtypes().all(|dtype| backend.supports(dtype)) {
                check(case, &backend);
            }
        }
    }
}

fn read(bytes: &[u8], function: &str) -> Vec<Case> {
    let (_, header) = SafeTensors::read_metadata(bytes).expect("the file should have a header");
    let metadata = header.metadata().as_ref().expect("there should be metadata");
    let metadata: Value = serde_json::from_str(&metadata["metadata"]).expect("the metadata should be JSON");
    let cases = metadata["cases"].as_object().expect("there should be cases");

    let file = SafeTensors::deserialize(bytes).expect("the file should be whole");
    let mut tensors = HashMap::<String, HashMap<String, TensorData>>::new();
    for (key, view) in file.tensors() {
        let (case, tensor) = key.split_once('/').expect("keys should be case/tensor");
        let dtype = match view.dtype() {
            Dtype::F64 => DType::F64,
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::I64 => DType::I64,
            dtype => panic!("{key} is of dtype {dtype:?}"),
        };
        let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
        let of_case = tensors.entry(case.to_string()).or_default();
        of_case.insert(tensor.to_string(), data);
    }
    cases
        .iter()
        .filter(|(_, case)| case["function"] == function)
        .map(|(name, case)| Case {
            name: name.clone(),
            options: case["options"].clone(),
            tensors: tensors.remove(name).unwrap_or_default(),
        })
        .collect()
}

impl Case {
    /// An option.
    pub fn option<T: DeserializeOwned>(&self, name: &str) -> T {
        self.optional(name)
            .unwrap_or_else(|| panic!("{}: there is no option {name}", self.name))
    }

    /// An option that not every case has.
    pub fn optional<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.options.get(name)?;
        let value = serde_json::from_value(value.clone());
        Some(value.unwrap_or_else(|error| panic!("{}: {name}: {error}", self.name)))
    }

    /// A float tensor, in the dtype of the case.
    pub fn floats<const D: usize>(&self, name: &str, device: &Device) -> Tensor<D> {
        let data = self.data(name);
        Tensor::from_data(data.clone(), (device, data.dtype()))
    }

    /// The float tensors whose name is `name` and a number, from 0.
    pub fn list<const D: usize>(&self, name: &str, device: &Device) -> Vec<Tensor<D>> {
        self.keys(name).map(|key| self.floats(&key, device)).collect()
    }

    /// The integer tensors whose name is `name` and a number, from 0, in the device's dtype.
    pub fn int_list(&self, name: &str, device: &Device) -> Vec<Tensor<1, Int>> {
        self.keys(name).map(|key| self.ints(&key, device)).collect()
    }

    /// What torch.randperm returned, call by call.
    pub fn permutations(&self) -> impl FnMut(usize) -> Vec<usize> {
        let mut keys = self.keys("permutation");
        move |count| {
            let key = keys.next().expect("torch.randperm should have been called as often");
            let order: Vec<_> = self.data(&key).iter::<i64>().map(|index| index as usize).collect();
            assert_eq!(order.len(), count, "{} {key}", self.name);
            order
        }
    }

    /// An integer tensor, in the device's dtype.
    pub fn ints(&self, name: &str, device: &Device) -> Tensor<1, Int> {
        let data = self.data(name);
        Tensor::from_data(data.clone(), device)
    }

    /// Checks the shape, the dtype and the values of a float tensor. `tolerance` is absolute for expected values up to
    /// 1 and relative above. NaN must be NaN.
    #[track_caller]
    pub fn assert_floats<const D: usize>(&self, out: usize, actual: Tensor<D>, tolerance: f64, backend: &Backend) {
        self.assert_equal(&format!("out{out}"), actual, tolerance, backend);
    }

    /// Checks a float tensor as [`assert_floats`](Case::assert_floats) does, with the tensor of this name.
    #[track_caller]
    pub fn assert_equal<const D: usize>(&self, name: &str, actual: Tensor<D>, tolerance: f64, backend: &Backend) {
        let expected = self.data(name);
        let place = format!("{} {name} on {}", self.name, backend.name);
        assert_eq!(actual.dims().to_vec(), expected.shape().to_vec(), "{place}");
        assert_eq!(actual.dtype(), expected.dtype(), "{place}");
        let actual = actual.into_data();
        let values = actual.iter::<f64>().zip(expected.iter::<f64>());
        for (index, (actual, expected)) in values.enumerate() {
            let equal = actual == expected || actual.is_nan() && expected.is_nan();
            let near = (actual - expected).abs() <= tolerance * expected.abs().max(1.0);
            assert!(
                equal || near,
                "{place}: element {index} is {actual}, but should be {expected}"
            );
        }
    }

    /// Checks an integer tensor: its dtype, which is the device's, and its values, which must be equal.
    #[track_caller]
    pub fn assert_ints(&self, out: usize, actual: Tensor<1, Int>, backend: &Backend) {
        let place = format!("{} out{out} on {}", self.name, backend.name);
        let dtype: DType = backend.device.settings().int_dtype.into();
        assert_eq!(actual.dtype(), dtype, "{place}");
        let expected: Vec<i64> = self.data(&format!("out{out}")).iter::<i64>().collect();
        let actual: Vec<i64> = actual.into_data().iter::<i64>().collect();
        assert_eq!(actual, expected, "{place}");
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        self.tensors.keys().filter(|key| key.starts_with("out")).count()
    }

    /// The names that are `name` and a number, from 0.
    fn keys(&self, name: &str) -> impl Iterator<Item = String> {
        (0..)
            .map(move |index| format!("{name}{index}"))
            .take_while(|key| self.tensors.contains_key(key))
    }

    fn data(&self, name: &str) -> &TensorData {
        self.tensors
            .get(name)
            .unwrap_or_else(|| panic!("{}: there is no tensor {name}", self.name))
    }

    fn dtypes(&self) -> impl Iterator<Item = DType> {
        let dtypes = self.tensors.values().map(TensorData::dtype);
        dtypes.filter(DType::is_float)
    }
}
