//! [`Call`]: a call of an operator, put together in JavaScript.

use std::cell::RefCell;
use std::collections::HashMap;

use burn::tensor::{Device, Int, Tensor, TensorData};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

/// A call of an operator: a framework's name for it, that framework's attributes, and tensors.
#[wasm_bindgen]
pub struct Call {
    #[wasm_bindgen(skip)]
    pub operator: String,
    #[wasm_bindgen(skip)]
    pub attributes: Map<String, Value>,
    tensors: HashMap<String, TensorData>,
    on_device: RefCell<HashMap<String, (Device, Tensor<1>)>>,
}

/// The name by which the table of operators knows a call.
pub type Case = Call;

#[wasm_bindgen]
impl Call {
    /// A call without tensors. `operator` is such as `"torchvision.roi_align"`, and `attributes` is a JSON object.
    #[wasm_bindgen(constructor)]
    pub fn new(operator: String, attributes: &str) -> Result<Call, JsError> {
        Ok(Self {
            operator,
            attributes: serde_json::from_str(attributes).map_err(|error| wrong("attributes", &error))?,
            tensors: HashMap::new(),
            on_device: RefCell::default(),
        })
    }

    /// Adds a tensor of floats, such as `input`, `boxes`, `offsets`, or `grad_output` for gradients.
    pub fn floats(&mut self, name: String, values: Vec<f32>, shape: Vec<usize>) -> Result<(), JsError> {
        check_count(&name, values.len(), &shape)?;
        self.add(name, TensorData::new(values, shape));
        Ok(())
    }

    /// Adds a tensor of integers, such as `batch_indices`.
    pub fn integers(&mut self, name: String, values: Vec<i32>, shape: Vec<usize>) -> Result<(), JsError> {
        check_count(&name, values.len(), &shape)?;
        self.add(name, TensorData::new(values, shape));
        Ok(())
    }
}

impl Call {
    fn add(&mut self, name: String, data: TensorData) {
        self.on_device.get_mut().remove(&name);
        self.tensors.insert(name, data);
    }
}

// What the table of operators asks for, as the tests' own type of this name has it.
impl Call {
    /// A float tensor.
    pub fn tensor<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D>, String> {
        let data = self.data(name)?;
        if data.shape().len() != D {
            return Err(format!("{name} has shape {:?}, but must be of rank {D}", data.shape()));
        }
        let sizes: [usize; D] = std::array::from_fn(|dimension| data.shape()[dimension]);
        Ok(self.on_device(name, data, device).reshape(sizes))
    }

    /// The numbers of a tensor, which are copied to a device once: a call that runs again finds them there.
    fn on_device(&self, name: &str, data: &TensorData, device: &Device) -> Tensor<1> {
        let mut kept = self.on_device.borrow_mut();
        if let Some((_, numbers)) = kept.get(name).filter(|(on, _)| on == device) {
            return numbers.clone();
        }
        let (bytes, shape, dtype) = data.clone().into_parts();
        let numbers = TensorData::from_bytes(bytes, [shape.num_elements()], dtype);
        let numbers = Tensor::from_data(numbers, (device, dtype));
        kept.insert(name.to_string(), (device.clone(), numbers.clone()));
        numbers
    }

    /// The maps of a pyramid, from the finest to the coarsest: `input`, `input.1`, …
    pub fn pyramid(&self, device: &Device) -> Result<Vec<Tensor<4>>, String> {
        let names = (1..).map(|level| format!("input.{level}"));
        let further = names.take_while(|name| self.tensors.contains_key(name));
        std::iter::once("input".to_string())
            .chain(further)
            .map(|name| self.tensor(&name, device))
            .collect()
    }

    /// The batch indices.
    pub fn batch_indices(&self, device: &Device) -> Result<Tensor<1, Int>, String> {
        Ok(Tensor::from_data(self.data("batch_indices")?.clone(), device))
    }

    /// A tensor as it was added.
    pub fn data(&self, name: &str) -> Result<&TensorData, String> {
        self.tensors.get(name).ok_or(format!("there is no tensor {name:?}"))
    }
}

fn check_count(name: &str, count: usize, shape: &[usize]) -> Result<(), JsError> {
    let expected = shape.iter().try_fold(1usize, |total, &size| total.checked_mul(size));
    match expected == Some(count) {
        true => Ok(()),
        false => Err(JsError::new(&format!(
            "{name} has {count} values, but its shape is {shape:?}"
        ))),
    }
}

fn wrong(argument: &str, error: &serde_json::Error) -> JsError {
    JsError::new(&format!("{argument}: {error}"))
}
