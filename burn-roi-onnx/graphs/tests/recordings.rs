//! Runs every graph on its recorded inputs, and compares the outputs with the recorded ones.

use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{BoolStore, DType, Device, TensorData};
use onnx_graphs::{GRAPHS, Graph, Inputs};
use safetensors::{Dtype, SafeTensors};

/// Flex, or the devices that the environment variable `ONNX_BACKENDS` names.
fn devices() -> Vec<(&'static str, Device)> {
    let compiled = vec![
        #[cfg(feature = "flex")]
        ("flex", Device::flex as fn() -> Device),
        #[cfg(feature = "ndarray")]
        ("ndarray", {
            #[allow(deprecated)]
            Device::ndarray
        }),
        #[cfg(feature = "wgpu")]
        ("wgpu", || Device::wgpu(Default::default())),
    ];
    let named = std::env::var("ONNX_BACKENDS").unwrap_or("flex".to_string());
    let chosen = |name: &str| named.split(',').any(|named| named == name);
    let devices: Vec<_> = compiled
        .into_iter()
        .filter(|(name, _)| chosen(name))
        .map(|(name, open)| (name, open()))
        .collect();
    assert!(
        !devices.is_empty(),
        "no backend is compiled in, of those that ONNX_BACKENDS names"
    );
    devices
}

fn read(file: &str) -> HashMap<String, TensorData> {
    let bytes = fs::read(file).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let data = tensors.tensors().into_iter().map(|(name, view)| {
        let dtype = match view.dtype() {
            Dtype::F64 => DType::F64,
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::BF16,
            Dtype::I64 => DType::I64,
            Dtype::I32 => DType::I32,
            Dtype::BOOL => DType::Bool(BoolStore::Native),
            other => panic!("{file}: {name} is of {other:?}"),
        };
        let data = TensorData::from_bytes_vec(view.data().to_vec(), view.shape().to_vec(), dtype);
        (name, data)
    });
    data.collect()
}

/// What is left out on wgpu. burn-cubecl 0.22.1 samples a grid bilinearly only, and panics otherwise. With layers of
/// f16, one picture has a box next to a threshold: Mesa's software driver keeps six where ONNX Runtime keeps five. WGSL
/// has no bf16.
const NOT_ON_WGPU: [&str; 4] = [
    "/grid_sample_nearest_16.",
    "/grid_sample_nearest_20.",
    "/tiny_f16.other_size.",
    "/tiny_bf16.",
];

/// Whether a device has all dtypes of a recording.
fn supports(name: &str, device: &Device, tensors: &HashMap<String, TensorData>) -> bool {
    tensors.values().all(|data| match (name, data.dtype()) {
        ("flex", _) => true,
        ("ndarray", dtype) => !matches!(dtype, DType::F16 | DType::BF16),
        (_, DType::F64) => false,
        (_, dtype) => device.supports_dtype(dtype),
    })
}

fn differences(found: &TensorData, expected: &TensorData, tolerance: f64) -> Result<(), String> {
    if found.shape() != expected.shape() {
        return Err(format!(
            "its shape is {:?}, and not {:?}",
            found.shape(),
            expected.shape()
        ));
    }
    let tolerance = if expected.dtype().is_float() { tolerance } else { 0.0 };
    let mut pairs = found.iter::<f64>().zip(expected.iter::<f64>()).enumerate();
    // A NaN is never close.
    let near = |found: f64, expected: f64| (found - expected).abs() <= tolerance * expected.abs().max(1.0);
    match pairs.find(|&(_, (found, expected))| !near(found, expected)) {
        None => Ok(()),
        Some((at, (found, expected))) => Err(format!("element {at} is {found}, and not {expected}")),
    }
}

fn check(graph: &Graph, file: &str, device: &Device, tensors: &HashMap<String, TensorData>) -> Result<(), String> {
    let inputs = Inputs { tensors, device };
    let outputs = catch_unwind(AssertUnwindSafe(|| (graph.run)(&inputs))).map_err(|_| format!("{file} panicked"))?;
    let recorded = tensors.keys().filter(|name| name.starts_with("output.")).count();
    if outputs.len() != recorded {
        return Err(format!("{file}: {} outputs, and not {recorded}", outputs.len()));
    }
    for (name, found) in outputs {
        let expected = tensors.get(name).ok_or_else(|| format!("{file}: no {name}"))?;
        differences(&found, expected, graph.tolerance).map_err(|reason| format!("{file}, {name}: {reason}"))?;
    }
    Ok(())
}

/// burn-roi-onnx does not depend on burn-roi, and refuses attributes by these numbers of its own.
#[test]
fn the_import_has_the_limits_of_burn_roi() {
    assert_eq!(
        (burn_roi::MAXIMUM_OUTPUT_SIZE, burn_roi::MAXIMUM_FIXED_SAMPLES),
        (32_767, 1024)
    );
}

#[test]
fn every_graph_gives_what_is_recorded() {
    for (name, device) in devices() {
        let (mut run, mut left_out, mut wrong) = (0, Vec::new(), Vec::new());
        for graph in GRAPHS {
            for file in graph.recordings {
                let tensors = read(file);
                let not_there = name == "wgpu" && NOT_ON_WGPU.iter().any(|part| file.contains(part));
                if not_there || !supports(name, &device, &tensors) {
                    left_out.push(graph.name);
                    continue;
                }
                run += 1;
                wrong.extend(check(graph, file, &device, &tensors).err());
            }
        }
        println!("{name}: {run} runs; left out: {left_out:?}");
        assert!(
            wrong.is_empty(),
            "{name}: {} of {run} runs differ:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        assert!(run > 100, "{name}: only {run} runs");
    }
}
