//! Constant folding.

use onnx_ir::{GraphProto, ModelProto, NodeProto, TensorProto};

use super::build::{booleans, float, graph, int, integers, ints, model, node, operators, prepared, tensor, value};

/// Folds nodes that compute `y` from a tensor `x` of the sizes [?, 3, 8, 6] and from constants.
fn folded(nodes: Vec<NodeProto>, constants: Vec<TensorProto>) -> ModelProto {
    let mut model = model(16, nodes, vec![value("x", &[0, 3, 8, 6])], vec![value("y", &[])]);
    model.graph.mut_or_insert_default().initializer = constants;
    prepared(&model).unwrap()
}

/// The integers of the output, if it was folded.
fn constant(model: &ModelProto) -> Option<Vec<i64>> {
    let [only] = &model.graph.node[..] else {
        return None;
    };
    let value = only
        .attribute
        .iter()
        .find(|attribute| only.op_type == "Constant" && attribute.name == "value")?;
    let bytes = &value.t.raw_data;
    Some(
        bytes
            .chunks(8)
            .map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()))
            .collect(),
    )
}

/// The code of the elements of `Sizes` nodes.
fn code(model: &ModelProto) -> Vec<String> {
    let attributes = model.graph.node.iter().flat_map(|node| &node.attribute);
    let code = attributes
        .filter(|attribute| attribute.name == "code")
        .flat_map(|attribute| &attribute.strings);
    code.map(|code| String::from_utf8(code.to_vec()).unwrap()).collect()
}

fn with(mut node: NodeProto, attributes: Vec<onnx_ir::AttributeProto>) -> NodeProto {
    node.attribute = attributes;
    node
}

#[test]
fn a_known_size_of_a_tensor_is_a_constant() {
    let nodes = |axis| {
        let constants = vec![tensor("axis", &[], &[axis])];
        folded(
            vec![
                node("Shape", &["x"], &["shape"]),
                node("Gather", &["shape", "axis"], &["y"]),
            ],
            constants,
        )
    };
    assert_eq!(constant(&nodes(1)), Some(vec![3]));
    assert_eq!(constant(&nodes(-1)), Some(vec![6]));
    // The first size is unknown before the model runs, so a node reads it on the host.
    let model = nodes(0);
    assert_eq!(operators(&model), ["burn_roi::Sizes"]);
    assert_eq!(code(&model), ["(burn_roi_sizes0[0] as i64)"]);
}

#[test]
fn integers_are_computed_as_onnx_does() {
    let constants = || vec![tensor("a", &[4], &[7, -7, 9, i64::MAX]), tensor("b", &[1], &[2])];
    let results = [
        ("Add", vec![9, -5, 11, i64::MIN + 1]),
        ("Sub", vec![5, -9, 7, i64::MAX - 2]),
        ("Mul", vec![14, -14, 18, -2]),
        ("Div", vec![3, -3, 4, i64::MAX / 2]),
        ("Min", vec![2, -7, 2, 2]),
        ("Max", vec![7, 2, 9, i64::MAX]),
    ];
    for (operator, expected) in results {
        let model = folded(vec![node(operator, &["a", "b"], &["y"])], constants());
        assert_eq!(constant(&model), Some(expected), "{operator}");
    }
}

#[test]
fn what_has_no_result_stays_in_the_graph() {
    let divided = folded(
        vec![node("Div", &["a", "b"], &["y"])],
        vec![tensor("a", &[1], &[1]), tensor("b", &[1], &[0])],
    );
    assert_eq!(operators(&divided), ["Div"]);
    let gathered = folded(
        vec![node("Gather", &["a", "b"], &["y"])],
        vec![tensor("a", &[2], &[1, 2]), tensor("b", &[1], &[2])],
    );
    assert_eq!(operators(&gathered), ["Gather"]);
    let joined = folded(
        vec![with(node("Concat", &["a", "b"], &["y"]), vec![int("axis", 0)])],
        vec![tensor("a", &[2], &[1, 2]), tensor("b", &[], &[3])],
    );
    assert_eq!(operators(&joined), ["Concat"]);
}

#[test]
fn elements_are_moved_as_onnx_does() {
    let matrix = || tensor("a", &[2, 3], &[1, 2, 3, 4, 5, 6]);
    let cases = [
        (
            with(node("Transpose", &["a"], &["y"]), vec![]),
            vec![],
            vec![1, 4, 2, 5, 3, 6],
        ),
        (
            node("Gather", &["a", "i"], &["y"]),
            vec![tensor("i", &[2], &[1, -2])],
            vec![4, 5, 6, 1, 2, 3],
        ),
        (
            with(node("Gather", &["a", "i"], &["y"]), vec![int("axis", 1)]),
            vec![tensor("i", &[], &[2])],
            vec![3, 6],
        ),
        (
            node("Slice", &["a", "s", "e", "at", "by"], &["y"]),
            vec![
                tensor("s", &[1], &[-1]),
                tensor("e", &[1], &[i64::MIN]),
                tensor("at", &[1], &[1]),
                tensor("by", &[1], &[-2]),
            ],
            vec![3, 1, 6, 4],
        ),
        (
            node("Slice", &["a", "s", "e", "at"], &["y"]),
            vec![
                tensor("s", &[1], &[1]),
                tensor("e", &[1], &[i64::MAX]),
                tensor("at", &[1], &[1]),
            ],
            vec![2, 3, 5, 6],
        ),
        (
            with(node("Concat", &["a", "a"], &["y"]), vec![int("axis", 1)]),
            vec![],
            vec![1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6],
        ),
        (
            node("Expand", &["i", "n"], &["y"]),
            vec![tensor("i", &[2, 1], &[1, 2]), tensor("n", &[2], &[1, 2])],
            vec![1, 1, 2, 2],
        ),
        (
            node("Reshape", &["a", "n"], &["y"]),
            vec![tensor("n", &[2], &[3, -1])],
            vec![1, 2, 3, 4, 5, 6],
        ),
        (
            with(node("ReduceMax", &["a"], &["y"]), vec![ints("axes", &[0])]),
            vec![],
            vec![4, 5, 6],
        ),
        (
            with(node("ReduceProd", &["a"], &["y"]), vec![int("keepdims", 0)]),
            vec![],
            vec![720],
        ),
        (
            node("Range", &["i", "n", "by"], &["y"]),
            vec![tensor("i", &[], &[5]), tensor("n", &[], &[0]), tensor("by", &[], &[-2])],
            vec![5, 3, 1],
        ),
        (
            node("Where", &["c", "a", "n"], &["y"]),
            vec![booleans("c", &[true, false, true]), tensor("n", &[], &[9])],
            vec![1, 9, 3, 4, 9, 6],
        ),
    ];
    for (node, mut constants, expected) in cases {
        let operator = node.op_type.clone();
        constants.push(matrix());
        assert_eq!(constant(&folded(vec![node], constants)), Some(expected), "{operator}");
    }
}

#[test]
fn the_branch_of_a_known_condition_takes_the_place_of_its_if() {
    let branch = |operator: &str, output: &str| GraphProto {
        node: vec![node(operator, &["x"], &[output])],
        output: vec![value(output, &[])],
        ..GraphProto::default()
    };
    for (size, expected) in [(3, "Relu"), (4, "Sigmoid")] {
        let choice = with(
            node("If", &["condition"], &["y"]),
            vec![
                graph("then_branch", branch("Relu", "a")),
                graph("else_branch", branch("Sigmoid", "b")),
            ],
        );
        let nodes = vec![
            node("Shape", &["x"], &["shape"]),
            node("Gather", &["shape", "one"], &["channels"]),
            node("Equal", &["channels", "size"], &["condition"]),
            choice,
        ];
        let model = folded(nodes, vec![tensor("one", &[], &[1]), tensor("size", &[], &[size])]);
        assert_eq!(operators(&model), [expected, "Identity"]);
    }
}

#[test]
fn the_product_of_sizes_is_the_number_of_elements() {
    let product = with(node("ReduceProd", &["shape"], &["y"]), vec![int("keepdims", 0)]);
    let model = folded(vec![node("Shape", &["x"], &["shape"]), product], Vec::new());
    assert_eq!(operators(&model), ["burn_roi::Sizes"]);
    assert_eq!(code(&model).len(), 1);
    assert!(code(&model)[0].contains("wrapping_mul") && code(&model)[0].contains("burn_roi_sizes0[0]"));
}

#[test]
fn what_nothing_uses_is_left_out() {
    let nodes = vec![
        with(node("LeakyRelu", &["x"], &["unused"]), vec![float("alpha", 0.5)]),
        node("Relu", &["x"], &["y"]),
    ];
    let model = folded(nodes, vec![tensor("weights", &[1], &[1])]);
    assert_eq!(operators(&model), ["Relu"]);
    assert!(model.graph.initializer.is_empty());
}

#[test]
fn a_shape_of_too_many_sizes_is_left_unknown() {
    // A list of sizes with 2^40 elements does not fit into memory.
    let nodes = ["Reshape", "Expand"].map(|operator| node(operator, &["x", "sizes"], &[operator]));
    let inputs = vec![value("x", &[4]), integers("sizes", &[1 << 40])];
    let outputs = vec![value("Reshape", &[]), value("Expand", &[])];
    let model = prepared(&model(16, nodes.to_vec(), inputs, outputs)).unwrap();
    assert_eq!(operators(&model).len(), 2);
}

#[test]
fn sizes_are_clipped_split_and_taken_by_one_hot() {
    let of_shape = |mut nodes: Vec<NodeProto>, constants| {
        nodes.insert(0, node("Shape", &["x"], &["shape"]));
        folded(nodes, constants)
    };
    // The sizes are [?, 3, 8, 6].
    let clip = of_shape(
        vec![node("Clip", &["shape", "", "most"], &["y"])],
        vec![tensor("most", &[], &[6])],
    );
    assert_eq!(
        code(&clip)[..2],
        [
            "i64::min((burn_roi_sizes0[0] as i64), (6i64))",
            "i64::min((3i64), (6i64))"
        ]
    );
    let split = of_shape(
        vec![with(
            node("Split", &["shape"], &["batch", "y"]),
            vec![ints("split", &[1, 3])],
        )],
        Vec::new(),
    );
    assert_eq!(constant(&split), Some(vec![3, 8, 6]));
    let one_hot = |index| {
        let nodes = vec![
            node("Slice", &["shape", "start", "end"], &["values"]),
            node("OneHot", &["index", "depth", "values"], &["y"]),
        ];
        let bounds = [tensor("start", &[1], &[1]), tensor("end", &[1], &[3])];
        let constants = [tensor("index", &[1], &[index]), tensor("depth", &[], &[2])];
        constant(&of_shape(nodes, bounds.into_iter().chain(constants).collect()))
    };
    // The value outside is 3 and the value at the index is 8.
    assert_eq!(one_hot(1), Some(vec![3, 8]));
    assert_eq!(one_hot(-2), Some(vec![8, 3]));
    assert_eq!(one_hot(5), Some(vec![3, 3]));
}
