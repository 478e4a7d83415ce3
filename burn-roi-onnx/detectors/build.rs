//! Imports the ONNX files that the environment variable `ONNX_DETECTORS` lists, separated by colons; none without it.
//! Their paths are absolute, or begin at the repository's folder.
//! With `ONNX_DETECTORS_JOINED` set, the levels of their feature pyramids are pooled in one call.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use onnx_ir::{Message, ModelProto};

mod mark_stages;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=mark_stages.rs");
    println!("cargo:rerun-if-env-changed=ONNX_DETECTORS");
    println!("cargo:rerun-if-env-changed=ONNX_DETECTORS_JOINED");
    let joined = std::env::var_os("ONNX_DETECTORS_JOINED").is_some();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let files: Vec<PathBuf> = match std::env::var_os("ONNX_DETECTORS") {
        Some(files) => std::env::split_paths(&files)
            .map(|file| repository.join(file))
            .collect(),
        None => Vec::new(),
    };
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::create_dir_all(out.join("marked"))?;
    let (mut code, mut table) = (String::new(), String::new());
    // What `burn_roi_onnx` rewrites is marked, and then imported.
    let (mut rewritten, mut model) = (burn_onnx::ModelGen::new(), burn_onnx::ModelGen::new());
    for file in &files {
        burn_roi_onnx::Input::new(file)
            .with_joined_levels(joined)
            .add_to(&mut rewritten)?;
        let name = file
            .file_stem()
            .and_then(|name| name.to_str())
            .ok_or("the file has no name")?;
        let graph = ModelProto::parse_from_bytes(&fs::read(file)?)?.graph;
        write!(code, "{}", functions(name, graph.output.len()))?;
        let outputs: Vec<_> = graph.output.iter().map(|output| output.name.as_str()).collect();
        let marked = out.join(format!("marked/{name}.onnx"));
        mark(&out.join(format!("burn_roi_onnx/{name}.onnx")), &marked)?;
        model.input(marked.to_str().ok_or("the build folder's name is not UTF-8")?);
        writeln!(
            table,
            "    Detector {{ name: {name:?}, recordings: &{:?}, outputs: &{outputs:?}, run: run_{name} }},",
            recordings(file)
        )?;
    }
    burn_roi_onnx::register(&mut model).register_custom_op(mark_stages::EndOfStage);
    burn_roi_onnx::generate(model.out_dir("detectors/"))?;
    writeln!(code, "const DETECTORS: &[Detector] = &[\n{table}];")?;
    fs::write(out.join("detectors.rs"), code)?;
    Ok(())
}

/// The recordings beside an ONNX file. Those of files whose sizes are free have a picture of another size too.
fn recordings(file: &Path) -> Vec<PathBuf> {
    let other_size = file.with_extension("other_size.safetensors");
    let mut recordings = vec![file.with_extension("safetensors")];
    recordings.extend(other_size.exists().then_some(other_size));
    recordings
}

/// Marks the stages of a rewritten model.
fn mark(rewritten: &Path, marked: &Path) -> Result<(), Box<dyn Error>> {
    let mut model = ModelProto::parse_from_bytes(&fs::read(rewritten)?)?;
    mark_stages::mark(&mut model);
    fs::write(marked, model.write_to_bytes()?)?;
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
         fn run_{name}(image: Tensor<3>, device: &Device, runs: usize) -> Vec<Run> {{\n    \
             let file = concat!(env!(\"OUT_DIR\"), \"/detectors/{name}.bpk\");\n    \
             let model = {name}::Model::from_file(file, device);\n    \
             let run = |_| {{\n        \
                 stages::begin();\n        \
                 let ({}) = model.forward(image.clone());\n        \
                 Run {{ outputs: vec![{}], stages: stages::take() }}\n    \
             }};\n    \
             (0..runs).map(run).collect()\n}}\n",
        variables.join(", "),
        data.join(", "),
    )
}
