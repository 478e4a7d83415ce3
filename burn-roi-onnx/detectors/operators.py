#!/usr/bin/env python3
"""Prints which operators an ONNX file has, and how those that decide about an import are used.

    python operators.py FILE.onnx ...

For each file: inputs, outputs, how often each operator occurs at the top level and in the bodies of `If` and `Loop`;
each `If`, `Loop` and `Scan` with its body; each operator of regions, suppression and data-dependent size with the
operators before and after it; and each `Shape` of a tensor without dimensions, as far as shape inference knows it.
"""

import sys
from collections import Counter, defaultdict

import onnx
from onnx import AttributeProto, TensorProto, helper

CONTROL = {"If", "Loop", "Scan"}
NOTABLE = {"MaxRoiPool", "NonMaxSuppression", "NonZero", "ReduceProd", "Resize", "RoiAlign", "ScatterElements",
           "ScatterND", "Split", "TopK"}


def nodes_of(graph, depth=0):
    """All nodes with their depth, those in bodies after the node that has the body."""
    for node in graph.node:
        yield node, depth
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from nodes_of(attribute.g, depth + 1)


def value(info):
    tensor = info.type.tensor_type
    dimensions = [dimension.dim_param or dimension.dim_value for dimension in tensor.shape.dim]
    return f"{info.name} {TensorProto.DataType.Name(tensor.elem_type)} {dimensions}"


def counts(nodes):
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(node.op_type for node in nodes).items()))


def short_attributes(node):
    attributes = {}
    for attribute in node.attribute:
        if attribute.type not in (AttributeProto.GRAPH, AttributeProto.TENSOR):
            found = helper.get_attribute_value(attribute)
            attributes[attribute.name] = found.decode() if isinstance(found, bytes) else found
    return attributes


def describe(path):
    model = onnx.load(path)
    graph, nodes = model.graph, list(nodes_of(model.graph))
    weights = {tensor.name for tensor in graph.initializer}
    maker = {output: node for node, _ in nodes for output in node.output}
    users = defaultdict(list)
    for node, _ in nodes:
        for name in node.input:
            users[name].append(node.op_type)

    def source(name):
        return maker[name].op_type if name in maker else "weights" if name in weights else name or "(absent)"

    print(f"===== {path}: opsets {[(entry.domain, entry.version) for entry in model.opset_import]}, "
          f"IR {model.ir_version}, by {model.producer_name} {model.producer_version}")
    print("inputs: ", "; ".join(value(info) for info in graph.input if info.name not in weights))
    print("outputs:", "; ".join(value(info) for info in graph.output))
    print("top level:", counts(node for node, depth in nodes if depth == 0))
    print("in bodies:", counts(node for node, depth in nodes if depth > 0))
    for node, depth in nodes:
        place = f"  {node.op_type} {node.name!r} at depth {depth}, of {[source(name) for name in node.input]}"
        if node.op_type in CONTROL:
            print(f"{place}, gives {list(node.output)}")
            for attribute in node.attribute:
                if attribute.type == AttributeProto.GRAPH:
                    print(f"    {attribute.name}: {[inner.op_type for inner in attribute.g.node]} "
                          f"-> {[output.name for output in attribute.g.output]}")
        elif node.op_type in NOTABLE:
            used = [user for output in node.output for user in users[output]]
            print(f"{place}, {short_attributes(node)}, for {used}")
    print_scalar_shapes(model, maker)


def print_scalar_shapes(model, maker):
    inferred = onnx.shape_inference.infer_shapes(model)
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in inferred.graph.value_info
             if info.type.tensor_type.HasField("shape")}
    for node in inferred.graph.node:
        if node.op_type == "Shape" and ranks.get(node.input[0]) == 0:
            by = maker.get(node.input[0])
            print(f"  Shape {node.name!r} of the scalar {node.input[0]!r} by {by.op_type if by else 'an input'}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        describe(name)
