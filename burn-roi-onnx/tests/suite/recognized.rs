//! Nodes are replaced only where all of them compute what the replacement does.
//!
//! Each node of torchvision's exports gets another operator in turn. If that node is not in the rewritten model, a
//! replacement took it for what it was.

use std::fs;
use std::path::{Path, PathBuf};

use burn_roi_onnx::Input;
use onnx_ir::{GraphProto, Message, ModelProto, NodeProto};

use super::build::{operators, prepared};

/// An operator that no replacement knows.
const ANOTHER: &str = "Another";

/// torchvision's exports. Those of operator set 18 differ from those of 16 in its number alone.
fn exports() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_export = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("torchvision_") && name.ends_with(".onnx") && !name.ends_with("_18.onnx")
    };
    let files: Vec<_> = files.filter(is_export).collect();
    assert_eq!(files.len(), 12);
    files
}

/// Calls `visit` with each node of a graph, those of its bodies included.
fn for_each_node(graph: &mut GraphProto, visit: &mut impl FnMut(&mut NodeProto)) {
    for node in &mut graph.node {
        visit(node);
        for body in node.attribute.iter_mut().filter_map(|attribute| attribute.g.as_mut()) {
            for_each_node(body, visit);
        }
    }
}

/// The values that are computed from elements of the inputs, and not only from sizes and constants: a replacement need
/// not read how another exporter writes a size.
fn computed(graph: &mut GraphProto) -> Vec<String> {
    let inputs = graph.input.len();
    let mut values: Vec<String> = graph.input.iter().map(|input| input.name.clone()).collect();
    for_each_node(graph, &mut |node| {
        if node.op_type != "Shape" && node.input.iter().any(|name| values.contains(name)) {
            values.extend(node.output.iter().cloned());
        }
    });
    values.split_off(inputs)
}

/// Gives the node of an output another operator. True if that node is in the rewritten model, or the model is refused.
fn stays(mut model: ModelProto, output: &str, file: &Path) -> bool {
    for_each_node(model.graph.mut_or_insert_default(), &mut |node| {
        if node.output.iter().any(|name| name == output) {
            node.op_type = ANOTHER.to_string();
        }
    });
    fs::write(file, model.write_to_bytes().unwrap()).unwrap();
    let Ok(bytes) = Input::new(file).with_joined_levels(true).prepare() else {
        return true;
    };
    let mut prepared = ModelProto::parse_from_bytes(&bytes).unwrap();
    let mut stays = false;
    for_each_node(prepared.graph.mut_or_insert_default(), &mut |node| {
        stays |= node.op_type == ANOTHER;
    });
    stays
}

#[test]
fn a_node_of_another_operator_stays() {
    let file = std::env::temp_dir().join(format!("burn-roi-onnx-{}-recognized.onnx", std::process::id()));
    for export in exports() {
        let mut model = ModelProto::parse_from_bytes(&fs::read(&export).unwrap()).unwrap();
        for output in computed(model.graph.mut_or_insert_default()) {
            assert!(stays(model.clone(), &output, &file), "{}: {output}", export.display());
        }
    }
    let _ = fs::remove_file(file);
}

#[test]
fn masks_with_another_scale_of_boxes_are_not_pasted() {
    let export = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs/torchvision_paste_masks_16.onnx");
    let pastes = |padding: i64| {
        let mut model = ModelProto::parse_from_bytes(&fs::read(&export).unwrap()).unwrap();
        let graph = model.graph.mut_or_insert_default();
        let added = graph.node.iter().find(|node| node.op_type == "Add").unwrap().input[1].clone();
        let constant = graph.node.iter_mut().find(|node| node.output[0] == added).unwrap();
        constant.attribute[0].t.mut_or_insert_default().raw_data = padding.to_le_bytes().to_vec().into();
        prepared(&model).is_ok_and(|model| operators(&model).contains(&"burn_roi::PasteMasks".to_string()))
    };
    assert!(pastes(2));
    assert!(!pastes(1));
}
