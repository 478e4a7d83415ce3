"""Times the convolutions of main.rs in torch, and their forward pass in ONNX Runtime.

pip install numpy onnx onnxruntime==1.32.0 torch==2.15.0
python benches/convolution/peers.py [THREADS]
"""

import sys
import time
from pathlib import Path

import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper

CALLS = 7


def layers():
    """The layers that main.rs times too."""
    for line in Path(__file__).with_name("layers.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, *numbers = line.split()
            yield name, *map(int, numbers)


def median(call):
    def one():
        start = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - start)

    one()
    return sorted(one() for _ in range(CALLS))[CALLS // 2]


def session_of(inputs, weight, stride, padding, threads):
    """A model of one convolution, whose weight is a constant."""
    convolution = helper.make_node(
        "Conv", ["x", "w"], ["y"], strides=[stride, stride], pads=[padding] * 4, kernel_shape=list(weight.shape[2:])
    )
    constant = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.numpy().tobytes(), raw=True)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(inputs.shape))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([convolution], "convolution", [x], [y], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    torch.set_num_threads(threads)
    print("layer              onnxruntime ms    forward ms    input ms   weight ms")
    for name, channels, outputs, kernel, stride, height, width in layers():
        padding = kernel // 2
        inputs = torch.rand(1, channels, height, width)
        weight = torch.rand(outputs, channels, kernel, kernel)
        session = session_of(inputs, weight, stride, padding, threads)
        output = torch.conv2d(inputs, weight, stride=stride, padding=padding)
        gradient = torch.rand_like(output)

        def backward(mask):
            return torch.ops.aten.convolution_backward(
                gradient, inputs, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, mask
            )

        times = [
            median(lambda: session.run(None, {"x": inputs.numpy()})),
            median(lambda: torch.conv2d(inputs, weight, stride=stride, padding=padding)),
            median(lambda: backward([True, False, False])),
            median(lambda: backward([False, True, False])),
        ]
        print(f"{name:<18} {times[0]:14.2f} {times[1]:13.2f} {times[2]:11.2f} {times[3]:11.2f}", flush=True)


if __name__ == "__main__":
    with torch.no_grad():
        main()
