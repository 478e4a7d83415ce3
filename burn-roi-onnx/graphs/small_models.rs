//! Models of a node or two that must be refused.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use burn_onnx::ModelGen;
use onnx_ir::{GraphProto, Message, ModelProto, NodeProto, ValueInfoProto};

/// ONNX's numbers of types.
const FLOAT: i32 = 1;
const INT64: i32 = 7;

/// An error if a panic of burn-onnx becomes an error without the node. It panics for a power whose exponents are sizes.
pub fn check_panic() -> Result<(), Box<dyn Error>> {
    let file = write(
        "panicking",
        GraphProto {
            input: vec![value("x", FLOAT, 1), value("y", FLOAT, 2)],
            node: vec![
                node("the sizes", "Shape", &["y"], "sizes"),
                node("the power", "Pow", &["x", "sizes"], "z"),
            ],
            output: vec![value("z", FLOAT, 1)],
            ..GraphProto::default()
        },
    )?;
    let mut model = ModelGen::new();
    burn_roi_onnx::input(&mut model, &file)?;
    burn_roi_onnx::register(&mut model);
    let error = burn_roi_onnx::generate(model.out_dir("panicking/")).err();
    let error = error.ok_or("burn-onnx has code for what it had none")?.to_string();
    assert!(error.ends_with("it is the node \"the power\" (Pow)"), "{error}");
    Ok(())
}

/// An error if NonMaxSuppression is imported with an input of another type.
pub fn check_types() -> Result<(), Box<dyn Error>> {
    let right = [
        ("boxes", FLOAT, 3),
        ("scores", FLOAT, 3),
        ("max_output_boxes_per_class", INT64, 1),
    ];
    let wrong = [
        (("boxes", FLOAT, 2), "a tensor of floats of rank 3"),
        (("scores", INT64, 3), "a tensor of floats of rank 3"),
        (("max_output_boxes_per_class", FLOAT, 1), "an integer"),
    ];
    for ((name, kind, rank), expected) in wrong {
        let inputs = right.map(|input| if input.0 == name { (name, kind, rank) } else { input });
        let file = write(
            "wrong_type",
            GraphProto {
                input: inputs.map(|(name, kind, rank)| value(name, kind, rank)).into(),
                node: vec![node(
                    "the last",
                    "NonMaxSuppression",
                    &right.map(|input| input.0),
                    "kept",
                )],
                output: vec![value("kept", INT64, 2)],
                ..GraphProto::default()
            },
        )?;
        let error = burn_roi_onnx::input(&mut ModelGen::new(), &file).err();
        let error = error
            .ok_or("NonMaxSuppression takes an input of another type")?
            .to_string();
        let is_named = error.contains("\"the last\"") && error.contains(&format!("`{name}`"));
        assert!(is_named && error.contains(expected), "{error}");
    }
    Ok(())
}

fn value(name: &str, kind: i32, rank: usize) -> ValueInfoProto {
    let mut value = ValueInfoProto {
        name: name.to_string(),
        ..ValueInfoProto::default()
    };
    let tensor = value.type_.mut_or_insert_default().mut_tensor_type();
    tensor.elem_type = kind;
    tensor.shape.mut_or_insert_default().dim = vec![Default::default(); rank];
    value
}

fn node(name: &str, operator: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        name: name.to_string(),
        op_type: operator.to_string(),
        input: inputs.iter().map(|input| input.to_string()).collect(),
        output: vec![output.to_string()],
        ..NodeProto::default()
    }
}

/// Writes a model of a graph into the folder of the build.
fn write(name: &str, graph: GraphProto) -> Result<PathBuf, Box<dyn Error>> {
    let mut model = ModelProto {
        graph: Some(graph).into(),
        ..ModelProto::default()
    };
    model.opset_import.push(Default::default());
    model.opset_import[0].version = 16;
    let file = PathBuf::from(std::env::var("OUT_DIR")?).join(format!("{name}.onnx"));
    fs::write(&file, model.write_to_bytes()?)?;
    // Cargo runs this script in each build if a file that it reads is newer than its last run.
    fs::File::options()
        .write(true)
        .open(&file)?
        .set_modified(SystemTime::UNIX_EPOCH)?;
    Ok(file)
}
