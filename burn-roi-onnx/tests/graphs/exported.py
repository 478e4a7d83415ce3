"""Parts of torchvision's detectors, as torch exports them."""

import io
import warnings
from dataclasses import dataclass, field

import numpy as np
import onnx
import torch
import torchvision
from torchvision.models.detection.roi_heads import heatmaps_to_keypoints, paste_masks_in_image

from graph import TOLERANCES, onnxruntime_of
from standard import random_of
from vendors import boxes_of_all_levels, pyramid_of

OPSETS = [11, 16, 18]
PICTURE = (20, 24)


class Pooler(torch.nn.Module):
    def __init__(self, levels):
        super().__init__()
        names = [str(level) for level in range(levels)]
        self.pool = torchvision.ops.MultiScaleRoIAlign(names, 3, 2, canonical_scale=56, canonical_level=3)

    def forward(self, *inputs):
        *maps, boxes = inputs
        return self.pool({str(level): map for level, map in enumerate(maps)}, [boxes], [(64, 96)])


class PoolerOfTwo(torch.nn.Module):
    """The pooler of two pictures, each with its own boxes."""

    def __init__(self):
        super().__init__()
        self.pool = torchvision.ops.MultiScaleRoIAlign(["0", "1", "2"], 3, 2, canonical_scale=56, canonical_level=3)

    def forward(self, *inputs):
        *maps, first, second = inputs
        return self.pool({str(level): map for level, map in enumerate(maps)}, [first, second], [(64, 96)] * 2)


class Suppression(torch.nn.Module):
    def forward(self, boxes, scores, labels):
        return torchvision.ops.batched_nms(boxes, scores, labels, 0.5)


class Pasting(torch.nn.Module):
    def forward(self, masks, boxes):
        return paste_masks_in_image(masks, boxes, PICTURE)


class Keypoints(torch.nn.Module):
    def forward(self, heatmaps, boxes):
        return heatmaps_to_keypoints(heatmaps, boxes)


@dataclass
class Exported:
    """An exported module; has what `generate.save` asks of a `Graph`."""

    name: str
    operator: str
    module: torch.nn.Module
    inputs: dict
    outputs: list
    free: dict
    runs: dict
    opset: int
    domain: str = ""
    note: str = ""
    # Whether torch's exporter of today exports it, and not the one by tracing.
    dynamo: bool = False
    exported: onnx.ModelProto = field(default=None)

    def model(self, _opset=None):
        if self.exported is None:
            inputs = tuple(map(torch.from_numpy, self.inputs.values()))
            names = {"input_names": list(self.inputs), "output_names": self.outputs, "opset_version": self.opset}
            with warnings.catch_warnings():
                # torch warns of every value that it traces.
                warnings.simplefilter("ignore")
                self.exported = self.by_dynamo(inputs, names) if self.dynamo else self.by_tracing(inputs, names)
        return self.exported

    def by_tracing(self, inputs, names):
        file = io.BytesIO()
        torch.onnx.export(self.module, inputs, file, dynamo=False, dynamic_axes=self.free, **names)
        return onnx.load_from_string(file.getvalue())

    def by_dynamo(self, inputs, names):
        # Any length. The name of a length in `free` would have to be the same in all inputs that have it.
        shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in self.free.get(name, {})} for name in self.inputs)
        program = torch.onnx.export(self.module, inputs, dynamo=True, verbose=False,
                                    dynamic_shapes=shapes if self.free else None, **names)
        model = program.model_proto
        # Traces of the Python code that each node comes from, with paths of this machine.
        for entry in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input,
                      *model.graph.output, *model.graph.initializer]:
            del entry.metadata_props[:]
        return model

    def recordings(self):
        for run, changes in {"": {}, **self.runs}.items():
            inputs = {**self.inputs, **changes}
            outputs, source = onnxruntime_of()(self, inputs)
            with torch.inference_mode():
                expected = self.module(*map(torch.from_numpy, inputs.values()))
            for name, tensor in zip(self.outputs, expected if isinstance(expected, tuple) else [expected]):
                assert outputs[name].shape == tensor.shape, (self.name, run, name)
                assert np.abs(outputs[name] - tensor.numpy()).max(initial=0) < 1e-5, (self.name, run, name)
            yield run, inputs, outputs, source

    def of_tolerance(self):
        return TOLERANCES[np.dtype(np.float32)]


def pooler(opset):
    name = f"torchvision_multi_scale_roi_align_{opset}"
    random = random_of(name)
    maps = pyramid_of(random, 3, images=1)
    boxes = boxes_of_all_levels(random, 14, 4, (64, 96))
    runs = {"no_region": {"boxes": np.zeros((0, 4), np.float32)}, "two_empty_levels": {"boxes": boxes[:2]}}
    note = "each level is pooled by itself and scattered into the output"
    return Exported(name, "RoiAlign", Pooler(3), {**maps, "boxes": boxes}, ["pooled"], {"boxes": {0: "regions"}}, runs,
                    opset, note=note)


def pooler_of_two_pictures(opset):
    name = f"torchvision_multi_scale_roi_align_two_pictures_{opset}"
    random = random_of(name)
    maps = pyramid_of(random, 3, images=2)
    boxes = boxes_of_all_levels(random, 14, 4, (64, 96))
    inputs = {**maps, "first": boxes, "second": boxes[::2] + 1}
    none = {name: inputs[name][:0] for name in ["first", "second"]}
    runs = {"none_in_first": {"first": none["first"]}, "one_in_each": {name: inputs[name][:1] for name in none},
            "no_region": none}
    note = "boxes of two pictures"
    return Exported(name, "RoiAlign", PoolerOfTwo(), inputs, ["pooled"], {name: {0: name} for name in none}, runs,
                    opset, note=note)


def pooler_of_one_scale(opset):
    name = f"torchvision_multi_scale_roi_align_one_scale_{opset}"
    random = random_of(name)
    map = pyramid_of(random, 1, images=1)["level_0"]
    boxes = boxes_of_all_levels(random, 14, 4, (64, 96))
    inputs = {"level_0": map, "level_1": -map, "boxes": boxes}
    note = "two maps of one scale, as those of torchvision's MobileNet: no box belongs to the second"
    return Exported(name, "RoiAlign", Pooler(2), inputs, ["pooled"], {"boxes": {0: "regions"}}, {}, opset, note=note)


def suppression(opset):
    name = f"torchvision_batched_nms_{opset}"
    random = random_of(name)
    low = random.uniform(0, 60, (30, 2))
    inputs = {
        "boxes": np.concatenate([low, low + random.uniform(10, 50, (30, 2))], axis=1, dtype=np.float32),
        "scores": random.permutation(np.linspace(0.1, 0.9, 30, dtype=np.float32)),
        "labels": random.integers(1, 4, 30),
    }
    free = {name: {0: "boxes"} for name in inputs}
    runs = {"no_box": {name: tensor[:0] for name, tensor in inputs.items()},
            "one_box": {name: tensor[:1] for name, tensor in inputs.items()}}
    note = "an If on the number of boxes has the suppression in one of its branches"
    return Exported(name, "NonMaxSuppression", Suppression(), inputs, ["kept"], free, runs, opset, note=note)


def pasting(opset):
    name = f"torchvision_paste_masks_{opset}"
    random = random_of(name)
    boxes = np.array([[2.5, 3.0, 14.0, 17.5], [-3.0, 5.0, 9.0, 26.0], [10.0, 8.0, 10.5, 8.7]], np.float32)
    inputs = {"masks": random.uniform(0, 1, (3, 1, 8, 8)).astype(np.float32), "boxes": boxes}
    free = {name: {0: "regions"} for name in inputs}
    runs = {"no_region": {name: tensor[:0] for name, tensor in inputs.items()}}
    note = "a Loop pastes one mask after the other"
    return Exported(name, "Loop", Pasting(), inputs, ["pasted"], free, runs, opset, note=note)


def keypoints(opset):
    name = f"torchvision_heatmaps_to_keypoints_{opset}"
    random = random_of(name)
    # Wider and narrower than the maps, and below a pixel.
    boxes = [[2.5, 3.0, 24.25, 17.5], [-3.0, 5.0, 1.5, 36.75], [10.0, 8.0, 10.5, 8.7], [4.0, 4.0, 12.0, 12.0]]
    boxes = np.array(boxes, np.float32)
    inputs = {"heatmaps": random.uniform(-1, 1, (4, 3, 8, 8)).astype(np.float32), "boxes": boxes}
    free = {name: {0: "regions"} for name in inputs}
    runs = {"no_region": {name: tensor[:0] for name, tensor in inputs.items()}}
    note = "a Loop looks for the largest value of each heatmap"
    return Exported(name, "Loop", Keypoints(), inputs, ["keypoints", "scores"], free, runs, opset, note=note)


def graphs():
    for opset in OPSETS:
        yield from [pooler(opset), suppression(opset), pasting(opset), keypoints(opset)]
    yield pooler_of_one_scale(16)
    yield pooler_of_two_pictures(16)
    yield of_today(pooler(20), fixed=True)
    yield of_today(suppression(20))


def of_today(graph, fixed=False):
    """The same by torch's exporter of today. It can't export every module for any number of regions."""
    graph.name = graph.name.removesuffix("_20") + "_dynamo"
    graph.dynamo, graph.note = True, ""
    if fixed:
        graph.free, graph.runs = {}, {}
    return graph
