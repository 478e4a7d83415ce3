//! Imports the ONNX files that the environment variable `ONNX_DETECTORS` lists, separated by colons; none without it.
//! With `ONNX_DETECTORS_JOINED` set, the levels of their feature pyramids are pooled in one call.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use onnx_ir::{Message, ModelProto};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=ONNX_DETECTORS");
    println!("cargo:rerun-if-env-changed=ONNX_DETECTORS_JOINED");
    let joined = std::env::var_os("ONNX_DETECTORS_JOINED").is_some();
    let files: Vec<PathBuf> = match std::env::var_os("ONNX_DETECTORS") {
        Some(files) => std::env::split_paths(&files).collect(),
        None => Vec::new(),
    };
    let (mut code, mut table) = (String::new(), String::new());
    let mut model = burn_onnx::ModelGen::new();
    for file in &files {
        burn_roi_onnx::Input::new(file)
            .with_joined_levels(joined)
            .add_to(&mut model)?;
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .ok_or("the file has no name")?;
        let graph = ModelProto::parse_from_bytes(&fs::read(file)?)?.graph;
        write!(code, "{}", functions(name, graph.output.len()))?;
        let outputs: Vec<_> = graph.output.iter().map(|output| output.name.as_str()).collect();
        let recording = file.with_extension("safetensors");
        writeln!(
            table,
            "    Detector {{ name: {name:?}, recording: {:?}, outputs: &{outputs:?}, run: run_{name} }},",
            recording.display().to_string()
        )?;
    }
    burn_roi_onnx::register(&mut model);
    burn_roi_onnx::generate(model.out_dir("detectors/"))?;
    writeln!(code, "const DETECTORS: &[Detector] = &[\n{table}];")?;
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("detectors.rs"), code)?;
    Ok(())
}

/// The module of a detector, and the function that runs it.
fn functions(name: &str, outputs: usize) -> String {
    let variables: Vec<_> = (0..outputs).map(|at| format!("output{at}")).collect();
    let data: Vec<_> = variables
        .iter()
        .map(|variable| format!("{variable}.into_data()"))
        .collect();
    format!(
        "#[allow(clippy::all, unused)]\nmod {name} {{\n    \
             include!(concat!(env!(\"OUT_DIR\"), \"/detectors/{name}.rs\"));\n}}\n\
         fn run_{name}(image: Tensor<3>, device: &Device) -> (Vec<TensorData>, Duration) {{\n    \
             let file = concat!(env!(\"OUT_DIR\"), \"/detectors/{name}.bpk\");\n    \
             let model = {name}::Model::from_file(file, device);\n    \
             let start = std::time::Instant::now();\n    \
             let ({}) = model.forward(image);\n    \
             let data = vec![{}];\n    \
             (data, start.elapsed())\n}}\n",
        variables.join(", "),
        data.join(", "),
    )
}
