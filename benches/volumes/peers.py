"""Times torch's grid_sample, with a mean over the samples of each element, on the workloads of main.rs: forward, and
the gradient of features. The time of the grid of sample points is part of a call.

pip install numpy torch==2.15.0
python benches/volumes/peers.py [--threads 2] [--workload nodules]
"""

import argparse
import time

import torch

SAMPLES = 2
CALLS = 7
# The shape of the features, the number of regions, the output size, and the shortest and longest sides along z, y, x.
WORKLOADS = {
    "nodules": ((1, 128, 32, 64, 64), 100, (7, 7, 7), ((4, 12), (8, 24), (8, 24))),
    "video": ((1, 256, 8, 48, 64), 50, (8, 7, 7), ((8, 8), (8, 32), (8, 32))),
    "many-small": ((1, 32, 32, 64, 64), 1000, (4, 4, 4), ((2, 8), (2, 8), (2, 8))),
    "few-large": ((1, 64, 32, 128, 128), 8, (14, 14, 14), ((16, 32), (64, 128), (64, 128))),
}


def boxes_of(shape, regions, sides):
    """`[K, 3, 2]`: where each box starts and ends along z, y and x."""
    state = 1

    def fraction():
        nonlocal state
        state = state * 1103515245 % 2147483647
        return state / 2147483647

    boxes = torch.empty(regions, 3, 2)
    for region in range(regions):
        for axis, (shortest, longest) in enumerate(sides):
            length = shortest + fraction() * (longest - shortest)
            start = fraction() * (shape[2 + axis] - length)
            boxes[region, axis] = torch.tensor([start, start + length])
    return boxes


def pool(features, boxes, size):
    """`[K, C, P, Q, R]`."""
    regions = len(boxes)
    axes = []
    for axis, count in enumerate(size):
        low, high = boxes[:, axis, :1], boxes[:, axis, 1:]
        places = (torch.arange(count * SAMPLES) + 0.5) / (count * SAMPLES)
        pixels = low + places * (high - low) - 0.5
        # -1 and 1 are the centres of the first and the last voxel.
        axes.append(2 * pixels / (features.shape[2 + axis] - 1) - 1)
    z, y, x = axes
    points = (regions, z.shape[1], y.shape[1], x.shape[1])
    grid = torch.stack(
        [x[:, None, None, :].expand(points), y[:, None, :, None].expand(points), z[:, :, None, None].expand(points)], -1
    )
    # All regions in one row along z, since they read one volume.
    grid = grid.reshape(1, regions * points[1], points[2], points[3], 3)
    samples = torch.nn.functional.grid_sample(features, grid, padding_mode="border", align_corners=True)
    pooled = torch.nn.functional.avg_pool3d(samples, SAMPLES)
    channels = features.shape[1]
    return pooled.reshape(channels, regions, *size).transpose(0, 1)


def median(call, prepare=lambda: ()):
    def one():
        arguments = prepare()
        start = time.perf_counter()
        call(*arguments)
        return 1e3 * (time.perf_counter() - start)

    one()
    return sorted(one() for _ in range(CALLS))[CALLS // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workload", choices=WORKLOADS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print("workload       forward ms   gradient ms")
    for name in [arguments.workload] if arguments.workload else WORKLOADS:
        shape, regions, size, sides = WORKLOADS[name]
        boxes = boxes_of(shape, regions, sides)
        places = torch.arange(torch.Size(shape).numel()) * 7919 % 1009
        features = ((places - 504) / 504).reshape(shape)
        with torch.no_grad():
            forward = median(lambda: pool(features, boxes, size))
        features.requires_grad_()

        def backward(total):
            torch.autograd.grad(total, features)

        gradient = median(backward, lambda: (pool(features, boxes, size).sum(),))
        print(f"{name:<12} {forward:12.2f} {gradient:13.2f}", flush=True)


if __name__ == "__main__":
    main()
