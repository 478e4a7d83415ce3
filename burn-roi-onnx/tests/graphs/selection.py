"""Graphs of ONNX's TopK, with every attribute."""

import numpy as np
from onnx import TensorProto

from graph import Graph, node, onnxruntime_of
from standard import random_of

SIZES = (3, 40, 5)


def top_k(name, output, opset=11, k=4, constant=True, equal=False, dtype=np.float32, **attributes):
    """A graph of which one OUTPUT of the node is an output: both have different types. K is an input, or constant."""
    scores = random_of(name).permutation(np.linspace(-2, 2, np.prod(SIZES)))
    if equal:
        scores = scores.round(1)
    inputs = {"scores": scores.reshape(SIZES).astype(dtype)}
    nodes = [node("TopK", ["scores", "k"], ["values", "indices"], **attributes)]
    output_type = TensorProto.INT64 if output == "indices" else None
    graph = Graph(name, "TopK", nodes, inputs, opset, outputs=[output], output_type=output_type, run=onnxruntime_of())
    (graph.constants if constant else graph.inputs)["k"] = np.array([k], np.int64)
    return graph


def graphs():
    for output in ["values", "indices"]:
        for opset in [10, 11]:
            yield top_k(f"top_k_{opset}_{output}", output, opset)
        yield top_k(f"top_k_middle_axis_{output}", output, axis=1)
        yield top_k(f"top_k_smallest_{output}", output, axis=-2, largest=0, sorted=1)
        yield top_k(f"top_k_computed_k_{output}", output, k=2, constant=False, axis=0)
    yield top_k("top_k_equal_indices", "indices", equal=True, axis=1)
    yield top_k("top_k_f16_values", "values", dtype=np.float16, axis=1)
    yield top_k("top_k_none_values", "values", k=0)
