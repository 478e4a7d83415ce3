#!/usr/bin/env python3
"""Converts `tiny.onnx` to half precision, and records runs of onnxruntime.

    pip install -r ../graphs/requirements.txt
    python generate_half.py

Needs `tiny.onnx` of `generate.py`. This writes `tiny_f16.onnx`, `tiny_bf16.onnx` and for each `NAME.RUN.safetensors`,
with tensors as in `generate.py`. The network's layers have weights, inputs and outputs of f16 or bf16, with a `Cast`
where they meet the rest: pictures, boxes, scores, `Resize`, `RoiAlign`, `TopK` and NMS stay in f32. The converters of
onnxconverter-common 1.16 and onnxruntime 1.32 leave the same operators in f32, but mix f32 and f16 around the `If` and
`Loop` of this file, so that onnxruntime refuses what they write.

ONNX has layers of bf16 from opset 22 on. onnxruntime 1.32 has no kernels for them. What is recorded of `tiny_bf16` is
its run of a model of opset 16, in which each layer computes in f32 from weights and inputs of bf16, and a
`Cast` rounds its output to bf16. The two opsets have the same rules for the operators of this file. The reference
implementation of onnx 1.23 runs `tiny_bf16.onnx` itself: for `some`, its scores are within 0.0042 and its boxes within
0.05 pixels. For `no_detection` it fails, at a `ConvTranspose` of no region.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
from generate import OPSET, OUTPUTS, drawn
from onnx import TensorProto, helper, numpy_helper

LAYERS = {"Conv", "ConvTranspose", "Gemm", "MaxPool", "Relu"}
# Of the additions, those of the backbone are layers.
BACKBONE = "/backbone/"
# ONNX's number of the type, an opset that has layers of it, and for each run the arguments of `drawn`. In these
# pictures the model in f32 finds the same objects.
TYPES = {
    "f16": (TensorProto.FLOAT16, 16, {"other_size": (29, (64, 96)), "no_detection": (0, (96, 64))}),
    "bf16": (TensorProto.BFLOAT16, 22, {"some": (254, (56, 64)), "no_detection": (258, (56, 64))}),
}


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


def with_layers_in_f32(model, half):
    """The model with layers that compute in f32 and round their outputs to `half`."""
    nodes = []
    for node in model.graph.node:
        nodes.append(node)
        if is_layer(node):
            wide = {name: f"{node.name} {name}" for name in [*node.input, *node.output]}
            nodes[-1:-1] = [helper.make_node("Cast", [name], [wide[name]], to=TensorProto.FLOAT) for name in node.input]
            nodes += [helper.make_node("Cast", [wide[name]], [name], to=half) for name in node.output]
            node.input[:], node.output[:] = map(wide.get, node.input), map(wide.get, node.output)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
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


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def recorded(in_half, in_f32, picture):
    """The tensors of a session's run, whose detections are those of the model in f32 but for the rounding."""
    expected, found = (dict(zip(OUTPUTS, running.run(OUTPUTS, {"image": picture}))) for running in [in_f32, in_half])
    print(f"{len(found['labels'])} detections")
    for name in OUTPUTS:
        assert found[name].shape == expected[name].shape, (name, found[name].shape)
        print(f"    {name}: {np.abs(found[name] - expected[name]).max(initial=0):.5f} from the model in f32")
    return {"input.image": picture, **{f"output.{name}": tensor for name, tensor in found.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = Path(__file__).parent
    parser.add_argument("--output", type=Path, default=folder, help="the folder to write into")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    original = onnx.load(folder / "tiny.onnx")
    for name, (half, opset, runs) in TYPES.items():
        model = converted(onnx.load(folder / "tiny.onnx"), half)
        model.opset_import[0].version = opset
        model.ir_version = helper.find_min_ir_version_for(model.opset_import)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, arguments.output / f"tiny_{name}.onnx")
        if opset != OPSET:
            model.opset_import[0].version = OPSET
            with_layers_in_f32(model, half)
        running, in_f32 = session(model), session(original)
        for run, drawing in runs.items():
            print(f"tiny_{name}.{run}: ", end="")
            tensors = recorded(running, in_f32, drawn(*drawing).numpy())
            content = safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
            (arguments.output / f"tiny_{name}.{run}.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
