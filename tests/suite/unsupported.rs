//! What a device or a build lacks is a named error, never zeros or a panic.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_roi::*;

use crate::backends::backends;

fn rois(device: &Device, dtype: DType) -> Rois {
    let boxes = TensorData::new(vec![0.0f32, 0.0, 2.0, 2.0], [1, 4]).convert_dtype(dtype);
    Rois::from_images(vec![Tensor::<2>::from_data(boxes, (device, dtype))])
}

fn features(device: &Device, dtype: DType) -> Tensor<4> {
    let data = TensorData::new(vec![1.0f32; 32], [1, 2, 4, 4]).convert_dtype(dtype);
    Tensor::from_data(data, (device, dtype))
}

/// Without the check, f16 on a WebGPU device without `shader-f16` gives zeros.
#[test]
fn a_dtype_that_a_gpu_lacks_is_refused() {
    for backend in backends().iter().filter(|backend| !backend.is_host()) {
        for dtype in [DType::F16, DType::BF16] {
            let (device, supported) = (&backend.device, backend.supports(dtype));
            let outcome = try_roi_align(
                features(device, dtype),
                &rois(device, dtype),
                RoiAlignConfig::new([1, 1]),
            );
            match outcome {
                Ok(output) => {
                    assert!(supported, "{}: {dtype:?}", backend.name);
                    assert!(output.into_data().iter::<f32>().all(|number| number == 1.0));
                }
                Err(RoiError::DType {
                    argument, dtype: found, ..
                }) => {
                    assert!(
                        !supported && found == dtype && argument == "features",
                        "{}",
                        backend.name
                    );
                }
                Err(error) => panic!("{}: {error}", backend.name),
            }
        }
    }
}

/// The burn of these tests has Flex; this crate has it where its feature is on.
#[test]
#[cfg(not(feature = "flex"))]
fn a_backend_that_is_left_out_is_refused() {
    let device = Device::flex();
    let outcome = try_roi_align(
        features(&device, DType::F32),
        &rois(&device, DType::F32),
        RoiAlignConfig::new([1, 1]),
    );
    let error = outcome.expect_err("the operators are not there");
    assert!(
        matches!(
            error,
            RoiError::Backend {
                argument: "features",
                ..
            }
        ),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.starts_with("`features` is on device Flex"), "{text}");
}
