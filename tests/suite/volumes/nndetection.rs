//! nnDetection's rule, as `record.py` computes it in torch.

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_roi::*;
use safetensors::SafeTensors;

use crate::backends::{Backend, backends};

/// The cases of `record.py`.
const CASES: usize = 5;

/// A tensor of a case.
fn recorded<const D: usize>(case: usize, name: &str, backend: &Backend, is_tracked: bool) -> Tensor<D> {
    let file = SafeTensors::deserialize(include_bytes!("nndetection.safetensors")).expect("a recording");
    let tensor = file.tensor(&format!("{case}/{name}")).expect("a recorded tensor");
    let numbers = tensor
        .data()
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes));
    let data = TensorData::new(numbers.collect::<Vec<_>>(), tensor.shape().to_vec());
    let device = match is_tracked {
        true => backend.device.clone().autodiff(),
        false => backend.device.clone(),
    };
    Tensor::from_data(data, (&device, DType::F32))
}

/// nnDetection's axes Y, X and Z are D, H and W here, in this order.
#[test]
fn every_backend_computes_nndetections_rule() {
    for backend in backends() {
        for case in 0..CASES {
            let features = recorded::<5>(case, "features", &backend, true).require_grad();
            let rows = recorded::<2>(case, "rois", &backend, true);
            let output = recorded::<5>(case, "output", &backend, false).into_data();
            let options: Vec<f32> = recorded::<1>(case, "options", &backend, false)
                .into_data()
                .iter::<f32>()
                .collect();
            let indices: Tensor<1, Int> = rows.clone().narrow(1, 0, 1).squeeze_dim::<1>(1).int();
            let rois = Rois3d::new(rows.narrow(1, 1, 6), indices, BoxFormat3d::Zyzyxx);
            let size = [2, 3, 4].map(|axis| output.shape()[axis]);
            let config = RoiAlign3dConfig::new(size)
                .with_spatial_scale([options[0].into(); 3])
                .with_sampling_ratio(options[1] as usize);
            let pooled = roi_align_3d(features.clone(), &rois, config);
            close(&pooled.clone().into_data(), &output, &backend, case);

            let weights = recorded::<5>(case, "weights", &backend, true);
            let gradients = (pooled * weights).sum().backward();
            let gradient = features.grad(&gradients).expect("features are tracked").into_data();
            close(
                &gradient,
                &recorded::<5>(case, "gradient", &backend, false).into_data(),
                &backend,
                case,
            );
        }
    }
}

fn close(found: &TensorData, expected: &TensorData, backend: &Backend, case: usize) {
    assert_eq!(found.shape(), expected.shape());
    for (index, (found, expected)) in found.iter::<f32>().zip(expected.iter::<f32>()).enumerate() {
        let most = 2e-5 * expected.abs().max(1.0);
        assert!(
            (found - expected).abs() <= most,
            "{} in case {case}: {index} is {found}, not {expected}",
            backend.name
        );
    }
}
