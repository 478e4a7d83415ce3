//! Names of values become distinct Rust identifiers.

use super::build::{model, node, prepared, value};

#[test]
fn names_that_differ_stay_different() {
    let names = ["a.b", "a_b", "A/B", "a::b", "", "type", "self", "3", "ä", "_"];
    let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let nodes = names.iter().map(|name| node("Relu", &["x"], &[name])).collect();
    let outputs = names.iter().map(|name| value(name, &[1])).collect();
    let model = prepared(&model(16, nodes, vec![value("x", &[1])], outputs)).unwrap();
    let mut outputs: Vec<_> = model.graph.output.iter().map(|output| output.name.clone()).collect();
    for name in &outputs {
        assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "{name}");
        assert!(
            name.chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
            "{name}"
        );
        assert!(!["type", "self"].contains(&name.as_str()));
    }
    outputs.sort();
    outputs.dedup();
    assert_eq!(outputs.len(), names.len());
}

#[test]
fn a_name_keeps_its_letters_and_digits() {
    let names = [
        ("/roi_heads/Gather_17_output_0", "roi_heads_gather_17_output_0"),
        ("3372", "value_3372"),
        ("onnx::Shape_3373", "onnx_shape_3373"),
        ("__", "value"),
        ("größe", "gr_e"),
    ];
    let nodes = names.map(|(name, _)| node("Relu", &["x"], &[name])).to_vec();
    let outputs = names.map(|(name, _)| value(name, &[1])).to_vec();
    let model = prepared(&model(16, nodes, vec![value("x", &[1])], outputs)).unwrap();
    let outputs = model.graph.output.iter().map(|output| output.name.as_str());
    assert!(outputs.eq(names.map(|(_, expected)| expected)));
}

#[test]
fn a_name_that_another_name_became_is_given_to_no_third() {
    // `a.b` becomes `a_b`, so that `a_b` becomes `a_b_n2`, which is there already.
    let names = ["a.b", "a_b", "a_b_n2"];
    let nodes = names.iter().map(|name| node("Relu", &["x"], &[name])).collect();
    let outputs = names.iter().map(|name| value(name, &[1])).collect();
    let model = prepared(&model(16, nodes, vec![value("x", &[1])], outputs)).unwrap();
    let mut outputs: Vec<_> = model.graph.output.iter().map(|output| output.name.clone()).collect();
    outputs.sort();
    outputs.dedup();
    assert_eq!(outputs.len(), 3);
}
