"""Converts the weights of the Python package `mtcnn` to one safetensors file in Burn's layout.

    pip install -r requirements.txt
    python convert.py ../mtcnn.safetensors

The names are the fields of the modules in `networks/`. What changes on the way:

- Kernels `[height, width, in, out]` become `[out, in, height, width]`.
- The package flattens features in the order x, y, channel, and Burn in the order channel, y, x. The rows of the first
  fully connected layer are reordered for that.
- The last layers of a network, which all read the same features, are one layer: boxes, landmarks, classes.
"""

import argparse

import numpy as np
from mtcnn.stages import StageONet, StagePNet, StageRNet
from safetensors.numpy import save_file


def weights_of(stage):
    """The arrays of a stage's network, by `layer/array`."""
    return {"/".join(weight.path.split("/")[1:]): weight.numpy() for weight in stage().model.weights}


def convolution(kernel):
    return kernel.transpose(3, 2, 0, 1)


def after_flattening(kernel, height, width):
    """The rows of a fully connected layer in the order channel, y, x."""
    outputs = kernel.shape[1]
    return kernel.reshape(width, height, -1, outputs).transpose(2, 1, 0, 3).reshape(-1, outputs)


def add_blocks(tensors, network, weights, convolutions):
    """Convolutions, each with its PReLU."""
    for number in range(1, convolutions + 1):
        block = f"{network}.block{number}"
        tensors[f"{block}.convolution.weight"] = convolution(weights[f"conv{number}/kernel"])
        tensors[f"{block}.convolution.bias"] = weights[f"conv{number}/bias"]
        tensors[f"{block}.activation.alpha"] = weights[f"prelu{number}/alpha"].reshape(-1)


def add_dense(tensors, network, weights, number, size):
    """The fully connected layer after the convolutions, with its PReLU."""
    tensors[f"{network}.dense.weight"] = after_flattening(weights[f"fc{number}/kernel"], *size)
    tensors[f"{network}.dense.bias"] = weights[f"fc{number}/bias"]
    tensors[f"{network}.activation.alpha"] = weights[f"prelu{number}/alpha"]


def add_head(tensors, network, weights, layers, change=lambda kernel: kernel):
    """The last layers as one."""
    axis = -1
    kernel = np.concatenate([weights[f"{layer}/kernel"] for layer in layers], axis)
    tensors[f"{network}.head.weight"] = change(kernel)
    tensors[f"{network}.head.bias"] = np.concatenate([weights[f"{layer}/bias"] for layer in layers])


def convert():
    tensors = {}
    weights = weights_of(StagePNet)
    add_blocks(tensors, "proposal", weights, 3)
    add_head(tensors, "proposal", weights, ["conv4-1", "conv4-2"], convolution)
    weights = weights_of(StageRNet)
    add_blocks(tensors, "refinement", weights, 3)
    add_dense(tensors, "refinement", weights, 4, (3, 3))
    add_head(tensors, "refinement", weights, ["fc5-1", "fc5-2"])
    weights = weights_of(StageONet)
    add_blocks(tensors, "output", weights, 4)
    add_dense(tensors, "output", weights, 5, (3, 3))
    add_head(tensors, "output", weights, ["fc6-1", "fc6-2", "fc6-3"])
    return {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="the safetensors file to write")
    save_file(convert(), parser.parse_args().file, {"source": "mtcnn 1.0.0", "license": "MIT"})


if __name__ == "__main__":
    main()
