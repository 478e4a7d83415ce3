#!/usr/bin/env python3
"""Writes the small models of this folder: each shows one limit of burn-onnx 0.22.

    pip install onnx==1.23.2
    python make.py
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def value(name, sizes, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, sizes)


def node(operator, inputs, output, domain="", **attributes):
    return helper.make_node(operator, inputs, [output], name=f"the {operator}", domain=domain, **attributes)


def write(name, nodes, inputs, output, constants=(), domains=()):
    tensors = [numpy_helper.from_array(np.asarray(tensor), constant) for constant, tensor in dict(constants).items()]
    graph = helper.make_graph(nodes, name, inputs, [output], tensors)
    imports = [helper.make_opsetid("", 16), *(helper.make_opsetid(domain, 1) for domain in domains)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    path = Path(__file__).parent / f"{name}.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))


def branch(name, of):
    return helper.make_graph([of], name, [], [value(of.output[0], [None])])


def main():
    features, rois = value("features", [1, 1, 8, 8]), value("rois", ["K", 4])
    write("roi_align", [node("RoiAlign", ["features", "rois", "batch_indices"], "y")],
          [features, rois, value("batch_indices", ["K"], INT)], value("y", ["K", 1, 1, 1]))
    x = value("x", ["N", "M"])
    write("shape_of_number", [node("Shape", ["x"], "sizes"), node("Gather", ["sizes", "first"], "size"),
                              node("Shape", ["size"], "y")],
          [x], value("y", [0], INT), {"first": np.array(0)})
    write("product_of_sizes", [node("Shape", ["x"], "sizes"), node("ReduceProd", ["sizes"], "y", keepdims=0)],
          [x], value("y", [], INT))
    write("power_of_sizes", [node("Shape", ["x"], "sizes"), node("Pow", ["base", "sizes"], "y")],
          [x, value("base", [2])], value("y", [2]))
    own = node("Own", ["x"], "chosen", "example")
    choice = helper.make_node("If", ["condition"], ["y"], name="the If", then_branch=branch("then", own),
                              else_branch=branch("else", node("Relu", ["x"], "other")))
    row = value("x", ["N"])
    write("own_in_a_branch", [choice], [row, value("condition", [], TensorProto.BOOL)], value("y", ["N"]), (),
          ["example"])
    write("own", [node("Own", ["x"], "y", "example")], [row], value("y", ["N"]), (), ["example"])
    write("expand_to_nothing", [node("Expand", ["x", "sizes"], "y")], [value("x", [1, 1])], value("y", [0, 1]),
          {"sizes": np.array([0, 1])})
    write("non_zero", [node("NonZero", ["x"], "y")], [row], value("y", [1, None], INT))
    largest = helper.make_node("TopK", ["x", "k"], ["y", "indices"], name="the TopK")
    write("top_k", [largest], [value("x", [1, 6720])], value("y", [1, 100]), {"k": np.array([100])})


if __name__ == "__main__":
    main()
