//! [`Engine`]: a device, and what runs on it.

use std::cell::RefCell;
use std::rc::Rc;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi::{RoiAlignConfig, Rois, try_roi_align};
use burn_roi_detection::models::Detector;
use burn_roi_detection::{nms_async, try_nms};
use js_sys::Float32Array;
use wasm_bindgen::prelude::*;

use crate::case::Call;
use crate::operators;

/// A device with what runs on it.
#[wasm_bindgen]
pub struct Engine {
    #[wasm_bindgen(skip)]
    pub device: Device,
    #[wasm_bindgen(skip)]
    pub detector: Rc<RefCell<Option<Rc<Detector>>>>,
    #[wasm_bindgen(skip)]
    pub faces: Rc<RefCell<Option<Rc<find_faces::Detector>>>>,
}

/// A tensor of f32 as a plain array.
#[wasm_bindgen]
pub struct Array(TensorData);

#[wasm_bindgen]
impl Array {
    /// The values, row by row, as an array of their own: this is the only copy that is made of them.
    #[wasm_bindgen(getter)]
    pub fn values(&self) -> Result<Float32Array, JsError> {
        Ok(Float32Array::from(self.0.as_slice::<f32>().map_err(words)?))
    }

    /// The size of each dimension.
    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> Vec<usize> {
        self.0.shape().to_vec()
    }
}

#[wasm_bindgen]
impl Engine {
    /// Opens the device of a backend that this module has: `"flex"`, `"ndarray"` or `"webgpu"`.
    pub async fn open(backend: String) -> Result<Engine, JsError> {
        Ok(Self {
            device: device(&backend).await?,
            detector: Rc::default(),
            faces: Rc::default(),
        })
    }

    /// The output of a call.
    pub async fn run(&self, call: &Call) -> Result<Array, JsError> {
        array(operators::run(call, &self.device).map_err(words)?).await
    }

    /// The indices of the boxes `[K, 4]` that non-maximum suppression keeps.
    pub async fn nms(&self, boxes: Vec<f32>, scores: Vec<f32>, threshold: f64) -> Result<Vec<i32>, JsError> {
        let (boxes, scores) = self.boxes(boxes, scores);
        let kept = nms_async(boxes, scores, threshold).await.map_err(words)?;
        let data = kept.into_data_async().await.map_err(words)?;
        Ok(data.iter::<i32>().collect())
    }

    /// The error of the forms that block, for a device that they can't read. Without one, an empty text.
    #[wasm_bindgen(js_name = blockingErrors)]
    pub fn blocking_errors(&self) -> Vec<String> {
        let (boxes, scores) = self.boxes(vec![0.0, 0.0, 4.0, 4.0], vec![0.5]);
        let indices = Tensor::<1, Int>::from_ints([0], &self.device);
        let rois = Rois::new(boxes.clone(), indices);
        let regions = rois.validate(1).err().map(|error| error.to_string());
        let kept = try_nms(boxes, scores, 0.5).err().map(|error| error.to_string());
        [regions, kept].map(Option::unwrap_or_default).into()
    }

    /// The error of an operator on features of f16, which few devices of WebGPU have. Without one, an empty text.
    #[wasm_bindgen(js_name = halfPrecisionError)]
    pub fn half_precision_error(&self) -> String {
        let options = (&self.device, DType::F16);
        let features = Tensor::<4>::from_data(TensorData::new(vec![1.0f32; 16], [1, 1, 4, 4]), options);
        let boxes = Tensor::<2>::from_data(TensorData::from([[0.0f32, 0.0, 4.0, 4.0]]), options);
        let rois = Rois::from_images(vec![boxes]);
        let pooled = try_roi_align(features, &rois, RoiAlignConfig::new([2, 2]));
        pooled.err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn boxes(&self, boxes: Vec<f32>, scores: Vec<f32>) -> (Tensor<2>, Tensor<1>) {
        let boxes = Tensor::<1>::from_floats(boxes.as_slice(), &self.device).reshape([scores.len(), 4]);
        (boxes, Tensor::from_floats(scores.as_slice(), &self.device))
    }
}

#[cfg(feature = "autodiff")]
#[wasm_bindgen]
impl Engine {
    /// The gradients of the features and of the boxes, and of the offsets if the call has some.
    pub async fn gradients(&self, call: &Call) -> Result<Vec<Array>, JsError> {
        let gradients = operators::run_backward(call, &self.device).map_err(words)?;
        let mut arrays = vec![array(gradients.features).await?, array(gradients.boxes).await?];
        if let Some(offsets) = gradients.offsets {
            arrays.push(array(offsets).await?);
        }
        Ok(arrays)
    }
}

/// Any error as one of JavaScript.
pub fn words(error: impl ToString) -> JsError {
    JsError::new(&error.to_string())
}

async fn array<const D: usize>(tensor: Tensor<D>) -> Result<Array, JsError> {
    Ok(Array(tensor.into_data_async().await.map_err(words)?))
}

// Burn deprecates NdArray, which the tests run.
#[cfg_attr(feature = "ndarray", allow(deprecated))]
async fn device(backend: &str) -> Result<Device, JsError> {
    match backend {
        #[cfg(feature = "flex")]
        "flex" => Ok(Device::flex()),
        #[cfg(feature = "ndarray")]
        "ndarray" => Ok(Device::ndarray()),
        #[cfg(feature = "webgpu")]
        "webgpu" => Device::wgpu_options().init_async().await.map_err(words),
        _ => Err(words(format!("this module has no backend {backend:?}"))),
    }
}
