"""The cases that are recorded so far, and the boxes that they share."""

import json
import zlib

import torch
import torchvision
from safetensors.torch import save_file

TENSORS = {}
CASES = {}
NAN = float("nan")


def case(name, function, tensors, results, **options):
    """Adds a case; its results are `out0`, `out1`, ..."""
    assert name not in CASES, name
    CASES[name] = {"function": function, "options": options}
    for index, result in enumerate(results):
        tensors[f"out{index}"] = result
    for key, tensor in tensors.items():
        TENSORS[f"{name}/{key}"] = tensor.detach().clone().contiguous()


def seed(name):
    torch.manual_seed(zlib.crc32(name.encode()))


def random_boxes(count, height, width, dtype=torch.float32):
    corners = torch.rand(count, 2, 2) * torch.tensor([width, height]) * 1.2 - torch.tensor([width, height]) * 0.1
    boxes = torch.cat((corners.min(1).values, corners.max(1).values), 1)
    return boxes.to(dtype)


def boxes(rows, dtype=torch.float32):
    return torch.tensor(rows, dtype=dtype).reshape(-1, 4)


ODD = boxes(
    [
        [0, 0, 10, 10],
        [0, 0, 10, 5],
        [5, 5, 5, 9],
        [5, 5, 5, 5],
        [8, 8, 2, 3],
        [-7, -3, 4, 50],
        [30, 40, 90, 95],
        [0, 0, 0.01, 0.01],
    ]
)


def save(path):
    # One entry, since the order of several changes from run to run.
    metadata = {"torchvision": torchvision.__version__, "cases": CASES}
    save_file(TENSORS, path, {"metadata": json.dumps(metadata)})
