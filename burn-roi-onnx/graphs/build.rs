//! Imports every graph of `tests/graphs`, and writes a function that runs it on the tensors of a recording.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use burn_onnx::ModelGen;
use onnx_ir::{GraphProto, Message, ModelProto, ValueInfoProto};
use serde::Deserialize;

mod small_models;

/// An entry of `graphs.json`.
#[derive(Deserialize)]
struct Entry {
    name: String,
    recordings: Vec<String>,
    tolerance: f64,
}

/// A graph to import.
struct Graph {
    /// The name of its module.
    name: String,
    file: PathBuf,
    recordings: Vec<PathBuf>,
    tolerance: f64,
    /// Whether the levels of its feature pyramids are pooled in one call.
    joined: bool,
}

/// The sums of many layers are rounded differently.
const F32_TOLERANCE: f64 = 1e-3;

/// burn-flex sums f16 in f16, and ONNX Runtime in f32. A box is an anchor of up to 64 pixels, moved by deltas that some
/// 50 layers round to 1/2048 each: boxes differ by up to 0.17 pixels, and ONNX Runtime's by 0.06 from those of f32.
const F16_TOLERANCE: f64 = 4e-2;

/// burn-flex rounds the product of a `Gemm` to bf16 before it adds the bias, and the recording only their sum. A logit
/// of up to 4 then differs by 1/64 and its score by 1/256: scores differ by up to 0.0042, and boxes by 0.05 pixels.
const BF16_TOLERANCE: f64 = 1e-2;

/// The whole detectors in `tests/detector`, their runs and tolerances. A box is in pixels.
const DETECTORS: [(&str, &[&str], f64); 4] = [
    (
        "tiny",
        &[
            "some",
            "other_size",
            "rounded_size",
            "empty_levels",
            "no_detection",
            "no_proposal",
        ],
        F32_TOLERANCE,
    ),
    (
        "detectron2",
        &["some", "one", "padded_size", "empty_level", "no_detection"],
        F32_TOLERANCE,
    ),
    ("tiny_f16", &["other_size", "no_detection"], F16_TOLERANCE),
    ("tiny_bf16", &["some", "no_detection"], BF16_TOLERANCE),
];

/// The graphs that are imported with joined levels as well, and how many pyramids they have.
const JOINED: [(&str, usize); 7] = [
    ("torchvision_multi_scale_roi_align_11", 1),
    ("torchvision_multi_scale_roi_align_16", 1),
    ("torchvision_multi_scale_roi_align_18", 1),
    ("torchvision_multi_scale_roi_align_one_scale_16", 1),
    ("torchvision_multi_scale_roi_align_dynamo", 1),
    ("tiny", 2),
    ("detectron2", 2),
];

/// Graphs that the import must refuse, and a part of the error.
const REFUSED: [(&str, &str); 9] = [
    ("trt_pyramid_roi_align_swapped", "`roi_coords_plusone` is 1"),
    ("trt_pyramid_roi_align_legacy", "`legacy` is 1"),
    (
        "refused_pad_negative",
        "\"refused\" (Pad): the input `pads` is [0, 0, -1, 2, 0, 0, 1, 0]",
    ),
    (
        "refused_pad_negative_attribute",
        "\"refused\" (Pad): the input `pads` is [0, 0, 0, -1,",
    ),
    (
        "refused_pad_wrap",
        "\"refused\" (Pad): the attribute `mode` is \"wrap\"",
    ),
    (
        "refused_pad_value",
        "the input `constant_value` is Int64([1099511627777]); it must be exact in f32",
    ),
    (
        "refused_grid_sample_cubic",
        "\"refused\" (GridSample): the attribute `mode` is \"bicubic\"",
    ),
    (
        "refused_grid_sample_volume",
        "\"refused\" (GridSample): the input `X` is of rank 5; it must be of rank 4",
    ),
    (
        "refused_resize_antialias",
        "the attribute `antialias` is 1; it must be 0",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=small_models.rs");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let graphs = graphs(&tests)?;
    let mut model = ModelGen::new();
    for graph in &graphs {
        let input = burn_roi_onnx::Input::new(&graph.file)
            .with_name(&graph.name)
            .with_joined_levels(graph.joined);
        input
            .add_to(&mut model)
            .map_err(|error| format!("{}: {error}", graph.name))?;
    }
    burn_roi_onnx::register(&mut model);
    burn_roi_onnx::generate(model.out_dir("graphs/"))?;
    check_refused(&tests)?;
    check_joined()?;
    small_models::check_panic()?;
    small_models::check_types()?;

    let mut code = String::new();
    let mut table = String::new();
    for graph in &graphs {
        let model = ModelProto::parse_from_bytes(&fs::read(&graph.file)?)?;
        let proto = model.graph.as_ref().ok_or("there is no graph")?;
        write!(code, "{}", functions(&graph.name, proto))?;
        writeln!(table, "{}", row(graph))?;
    }
    writeln!(code, "pub const GRAPHS: &[Graph] = &[\n{table}];")?;
    let output = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&output).join("graphs.rs"), code)?;
    Ok(())
}

/// The graphs to import: those of `graphs.json`, the detector, and some of them with joined levels.
fn graphs(tests: &Path) -> Result<Vec<Graph>, Box<dyn Error>> {
    let (folder, detector) = (tests.join("graphs"), tests.join("detector"));
    let list = folder.join("graphs.json");
    println!("cargo:rerun-if-changed={}", list.display());
    let mut entries: Vec<Entry> = serde_json::from_str(&fs::read_to_string(&list)?)?;
    entries.retain(|entry| REFUSED.iter().all(|(name, _)| entry.name != *name));
    let graphs = entries.iter().map(|entry| Graph {
        name: entry.name.clone(),
        file: folder.join(format!("{}.onnx", entry.name)),
        recordings: entry.recordings.iter().map(|file| folder.join(file)).collect(),
        tolerance: entry.tolerance,
        joined: false,
    });
    let mut graphs: Vec<Graph> = graphs.collect();
    graphs.extend(DETECTORS.map(|(name, runs, tolerance)| {
        Graph {
            name: name.to_string(),
            file: detector.join(format!("{name}.onnx")),
            recordings: runs
                .iter()
                .map(|run| detector.join(format!("{name}.{run}.safetensors")))
                .collect(),
            tolerance,
            joined: false,
        }
    }));
    for name in JOINED.map(|(name, _)| name) {
        if let Some(graph) = graphs.iter().find(|graph| graph.name == name) {
            graphs.push(Graph {
                name: format!("{name}_joined"),
                file: graph.file.clone(),
                recordings: graph.recordings.clone(),
                tolerance: graph.tolerance,
                joined: true,
            });
        }
    }
    Ok(graphs)
}

/// An error if a graph is imported that must be refused, or is refused for another reason.
fn check_refused(tests: &Path) -> Result<(), Box<dyn Error>> {
    for (name, reason) in REFUSED {
        let file = tests.join(format!("graphs/{name}.onnx"));
        let error = burn_roi_onnx::input(&mut ModelGen::new(), file).err();
        let error = error.ok_or("a graph is imported that must be refused")?.to_string();
        assert!(error.contains(reason), "{name} is refused for another reason: {error}");
    }
    Ok(())
}

/// The module of a graph, and the function that runs it.
fn functions(name: &str, graph: &GraphProto) -> String {
    let initializers: Vec<_> = graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
    let inputs = graph
        .input
        .iter()
        .filter(|input| !initializers.contains(&input.name.as_str()));
    let inputs: Vec<_> = inputs.map(argument).collect();
    let outputs = graph.output.len();
    let variables: Vec<_> = (0..outputs).map(|at| format!("output{at}")).collect();
    let data = (0..outputs).map(|at| format!("(\"output.{}\", Output::into_data(output{at}))", graph.output[at].name));
    format!(
        "#[allow(clippy::all, unused)]\npub mod {name} {{\n    \
             include!(concat!(env!(\"OUT_DIR\"), \"/graphs/{name}.rs\"));\n}}\n\
         fn run_{name}(inputs: &Inputs) -> Vec<(&'static str, TensorData)> {{\n    \
             let file = concat!(env!(\"OUT_DIR\"), \"/graphs/{name}.bpk\");\n    \
             let model = {name}::Model::from_file(file, inputs.device);\n    \
             let {} = model.forward({});\n    \
             vec![{}]\n}}\n",
        match &variables[..] {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        },
        inputs.join(", "),
        data.collect::<Vec<_>>().join(", "),
    )
}

/// The code that makes an input from a recording.
fn argument(input: &ValueInfoProto) -> String {
    let tensor = input.type_.tensor_type();
    if tensor.shape.dim.is_empty() {
        // burn-onnx takes a scalar.
        let kind = match tensor.elem_type {
            1 => "f32",
            11 => "f64",
            _ => "i64",
        };
        return format!("inputs.number::<{kind}>(\"input.{}\")", input.name);
    }
    let kind = match tensor.elem_type {
        1 | 10 | 11 | 16 => "float",
        9 => "bool",
        _ => "int",
    };
    format!("inputs.{kind}::<{}>(\"input.{}\")", tensor.shape.dim.len(), input.name)
}

fn row(graph: &Graph) -> String {
    let Graph { name, tolerance, .. } = graph;
    let files = graph
        .recordings
        .iter()
        .map(|file| format!("{:?}", file.display().to_string()));
    format!(
        "    Graph {{ name: {name:?}, recordings: &[{}], tolerance: {tolerance:?}, run: run_{name} }},",
        files.collect::<Vec<_>>().join(", ")
    )
}

/// An error if the levels of a pyramid were not joined.
fn check_joined() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::var("OUT_DIR")?).join("graphs");
    for (name, calls) in JOINED {
        let code = fs::read_to_string(folder.join(format!("{name}_joined.rs")))?;
        let (joined, single) = (
            code.matches("multi_scale_roi_align(").count(),
            code.matches("::roi_align(").count(),
        );
        if (joined, single) != (calls, 0) {
            return Err(format!("{name}: {joined} joined pyramids and {single} single levels").into());
        }
    }
    Ok(())
}
