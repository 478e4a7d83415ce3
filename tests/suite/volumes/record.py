"""Records nndetection.safetensors: what nnDetection's `roi_align` computes of volumes, forward and backward.

nnDetection has the operator for CUDA alone. This computes its rule (`nndet/csrc/cuda/roi_align.cu`) in torch, sample by
sample, from its own order of axes: features `[N, C, Y, X, Z]`, and rows of a batch index and a box
`[y1, x1, y2, x2, z1, z2]`. Coordinates are f32 and sums f64.

pip install numpy safetensors torch==2.15.0
python tests/suite/volumes/record.py
"""

import math
from pathlib import Path

import torch
from safetensors.torch import save_file

# Features, regions, output size, spatial scale, sampling ratio.
CASES = [
    ((1, 2, 6, 7, 8), 4, (2, 2, 2), 1.0, 2),
    ((2, 3, 8, 8, 8), 6, (3, 3, 3), 0.5, 0),
    ((2, 1, 9, 5, 4), 5, (1, 4, 2), 0.25, 1),
    ((1, 4, 5, 5, 12), 5, (7, 7, 7), 1.0, 3),
    ((3, 2, 10, 6, 3), 8, (2, 5, 1), 2.0, 0),
]


def sample(volume, position):
    """The value at a point of `[Y, X, Z]`."""
    if any(place < -1 or place > size for place, size in zip(position, volume.shape)):
        return None
    total = 0
    axes = []
    for place, size in zip(position, volume.shape):
        place = max(place, 0.0)
        low = int(place)
        if low >= size - 1:
            axes.append([(size - 1, 1.0)])
        else:
            axes.append([(low, 1 - (place - low)), (low + 1, place - low)])
    for y, of_y in axes[0]:
        for x, of_x in axes[1]:
            for z, of_z in axes[2]:
                total = total + of_y * of_x * of_z * volume[y, x, z]
    return total


def single(number):
    return torch.tensor(number, dtype=torch.float32).item()


def places_along(low, high, count, scale, ratio):
    """For each output element along an axis, where its samples lie."""
    start, end = single(low * scale), single(high * scale)
    length = max(single(end - start), 1.0)
    of_bin = single(length / count)
    samples = ratio if ratio > 0 else math.ceil(of_bin)

    def place(bin, index):
        inside = single(single((index + 0.5) * of_bin) / samples)
        return single(single(start + single(bin * of_bin)) + inside)

    return [[place(bin, index) for index in range(samples)] for bin in range(count)]


def roi_align(features, rois, size, scale, ratio):
    output = []
    for row in rois.tolist():
        image, y1, x1, y2, x2, z1, z2 = row
        ends = [(y1, y2), (x1, x2), (z1, z2)]
        ys, xs, zs = (places_along(*end, count, scale, ratio) for end, count in zip(ends, size))
        for volume in features[int(image)]:
            for y_places in ys:
                for x_places in xs:
                    for z_places in zs:
                        points = [(y, x, z) for y in y_places for x in x_places for z in z_places]
                        values = [value for point in points if (value := sample(volume, point)) is not None]
                        output.append(sum(values, torch.zeros((), dtype=torch.float64)) / len(points))
    return torch.stack(output).reshape(len(rois), features.shape[1], *size)


def main():
    torch.manual_seed(7)
    tensors = {}
    for index, (shape, regions, size, scale, ratio) in enumerate(CASES):
        features = (torch.rand(shape) * 2 - 1).requires_grad_()
        extent = torch.tensor(shape[2:]) / scale
        rois = torch.empty(regions, 7)
        for row in rois:
            # From beyond the map to beyond it, and the last one outside of it.
            low = torch.rand(3) * extent * 0.8 - 0.2 * extent
            high = low + torch.rand(3) * extent
            row[0] = torch.randint(shape[0], ())
            row[1:] = torch.stack([low[0], low[1], high[0], high[1], low[2], high[2]])
        rois[-1, 5:] = rois[-1, 5:] + 2 * extent[2]
        output = roi_align(features.double(), rois, size, scale, ratio)
        weights = torch.rand_like(output)
        (gradient,) = torch.autograd.grad((output * weights).sum(), features)
        tensors |= {
            f"{index}/features": features.detach(),
            f"{index}/rois": rois,
            f"{index}/output": output.detach().float(),
            f"{index}/weights": weights.float(),
            f"{index}/gradient": gradient.float(),
            f"{index}/options": torch.tensor([scale, ratio]),
        }
    save_file(tensors, Path(__file__).with_name("nndetection.safetensors"))


if __name__ == "__main__":
    main()
