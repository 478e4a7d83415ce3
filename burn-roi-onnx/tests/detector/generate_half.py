#!/usr/bin/env python3
"""Converts `tiny.onnx` to half precision, and records runs of onnxruntime.

    pip install -r ../graphs/requirements.txt
    python generate_half.py

Needs `tiny.onnx` of `generate.py`. This writes `tiny_f16.onnx` and `tiny_f16.RUN.safetensors`, with tensors as in
`generate.py`. The network's layers have weights, inputs and outputs of f16, with a `Cast` where they meet the rest:
pictures, boxes, scores, `Resize`, `RoiAlign`, `TopK` and NMS stay in f32. The converters of onnxconverter-common 1.16
and onnxruntime 1.32 leave the same operators in f32, but mix f32 and f16 around the `If` and `Loop` of this file, so
that onnxruntime refuses what they write. In bf16 there is nothing to record: ONNX has convolutions of bf16 from opset
22 on.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
from onnx import TensorProto, helper, numpy_helper

LAYERS = {"Conv", "ConvTranspose", "Gemm", "MaxPool", "Relu"}
# Of the additions, those of the backbone are layers.
BACKBONE = "/backbone/"
RUNS = ["other_size", "no_detection"]


def is_layer(node):
    return node.op_type in LAYERS or (node.op_type == "Add" and node.name.startswith(BACKBONE))


def converted(model, half):
    """The model with layers of another float type, ONNX's number `half`."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    layers = [node for node in graph.node if is_layer(node)]
    others = [node for node in graph.node if not is_layer(node)]
    read = {name for node in others for name in node_inputs(node)} | {output.name for output in graph.output}
    produced = {name for node in layers for name in node.output}
    nodes, made = [], set()
    for node in graph.node:
        if not is_layer(node):
            nodes.append(node)
            continue
        for name in node.input:
            if name in weights and name not in made:
                weight = numpy_helper.to_array(weights[name])
                graph.initializer.append(in_half(weight, half_of(name), half))
            elif name not in weights and name not in produced and name not in made:
                nodes.append(helper.make_node("Cast", [name], [half_of(name)], to=half))
            made.add(name)
        outputs = list(node.output)
        node.input[:], node.output[:] = map(half_of, node.input), map(half_of, outputs)
        nodes.append(node)
        nodes += [helper.make_node("Cast", [half_of(name)], [name], to=TensorProto.FLOAT)
                  for name in outputs if name in read]
    del graph.node[:]
    graph.node.extend(nodes)
    left = {name for node in nodes for name in node.output}
    values = [value for value in graph.value_info if value.name in left]
    del graph.value_info[:]
    graph.value_info.extend(values)
    used = {name for node in graph.node for name in node_inputs(node)}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return model


def half_of(name):
    return f"{name}_half"


def in_half(weight, name, half):
    return helper.make_tensor(name, half, weight.shape, weight.astype(helper.tensor_dtype_to_np_dtype(half)).tobytes(),
                              raw=True)


def node_inputs(node):
    """What a node and the bodies in it read."""
    names = set(node.input)
    for attribute in node.attribute:
        for inner in attribute.g.node:
            names |= node_inputs(inner)
        names |= {output.name for output in attribute.g.output}
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = Path(__file__).parent
    parser.add_argument("--output", type=Path, default=folder, help="the folder to write into")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / "tiny_f16.onnx"
    model = converted(onnx.load(folder / "tiny.onnx"), TensorProto.FLOAT16)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for run in RUNS:
        recorded = safetensors.numpy.load_file(folder / f"tiny.{run}.safetensors")
        picture = recorded["input.image"]
        found = dict(zip(names, session.run(names, {"image": picture})))
        print(f"{run}: {len(found['labels'])} detections")
        for name in names:
            expected = recorded[f"output.{name}"]
            assert found[name].shape == expected.shape, (run, name, found[name].shape)
            print(f"    {name}: {np.abs(found[name] - expected).max(initial=0):.5f} from the model in f32")
        tensors = {"input.image": picture, **{f"output.{name}": tensor for name, tensor in found.items()}}
        content = safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
        (arguments.output / f"tiny_f16.{run}.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
