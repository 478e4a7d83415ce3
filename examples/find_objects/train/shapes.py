"""Draws pictures of overlapping shapes, with the box, label and visible mask of each shape.

A picture depends only on its seed and its index. As a program, this writes the held-out pictures as PNG files, with the
index in the name:

    python shapes.py --output pictures
"""

import argparse
import math
import pathlib
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

CLASSES = ["circle", "square", "triangle", "star", "ring"]
TRAINING_SEED = 1
HELD_OUT_SEED = 2
HELD_OUT_PICTURES = 200
SIZES = [(160, 160), (192, 160), (160, 192)]  # width, height
SUPERSAMPLING = 4
LEAST_VISIBLE = 0.5


@dataclass
class Picture:
    """Pixels [H, W, 3], boxes [N, 4] as x1, y1, x2, y2, labels [N] from one, visible masks [N, H, W]."""

    pixels: np.ndarray
    boxes: np.ndarray
    labels: np.ndarray
    masks: np.ndarray


def corners(radii, turn):
    """The corners of a polygon about its centre: these radii at equal angles, rotated by `turn`."""
    angles = turn + 2 * math.pi * np.arange(len(radii)) / len(radii)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.asarray(radii)[:, None]


def outline(label, turn, rng):
    """The outline of a shape as a polygon. Its bounding box starts at 0, 0, and its longer side is 1."""
    name = CLASSES[label - 1]
    if name in ("circle", "ring"):
        points = corners([1.0] * 64, turn)
    elif name == "star":
        points = corners([1.0, rng.uniform(0.4, 0.5)] * 5, turn)
    else:
        points = corners([1.0] * (4 if name == "square" else 3), turn)
    points = points - points.min(axis=0)
    return points / points.max()


def coverage(label, size, rng):
    """The share, in 0..1, of each pixel in its bounding box that the shape covers."""
    points = outline(label, rng.uniform(0, 2 * math.pi), rng) * size
    width, height = (max(1, math.ceil(side)) for side in points.max(axis=0))
    canvas = Image.new("L", (width * SUPERSAMPLING, height * SUPERSAMPLING))
    draw = ImageDraw.Draw(canvas)
    draw.polygon([tuple(point) for point in points * SUPERSAMPLING], fill=255)
    if CLASSES[label - 1] == "ring":
        near = size * rng.uniform(0.2, 0.3) * SUPERSAMPLING
        far = size * SUPERSAMPLING - near
        draw.ellipse([near, near, far, far], fill=0)
    return np.asarray(canvas.reduce(SUPERSAMPLING), dtype=np.float32) / 255


def gradient(width, height, rng):
    """Values in 0..1 that grow in a random direction."""
    angle = rng.uniform(0, 2 * math.pi)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    return (x * math.cos(angle) + y * math.sin(angle)) / 2.9 + 0.5


def stripes(width, height, rng):
    """Values in 0..1 that rise and fall in a random direction."""
    angle, wavelength = rng.uniform(0, 2 * math.pi), rng.uniform(6, 40)
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    return np.sin((x * math.cos(angle) + y * math.sin(angle)) * (2 * math.pi / wavelength)) / 2 + 0.5


def clouds(width, height, rng):
    """Values in 0..1 that vary smoothly over a random distance."""
    cells = int(rng.integers(3, 12))
    coarse = Image.fromarray(rng.integers(0, 256, (cells, cells), dtype=np.uint8))
    return np.asarray(coarse.resize((width, height), Image.BICUBIC), dtype=np.float32) / 255


def paint(width, height, colour, contrast, rng):
    """A flat, graded, striped or clouded surface [height, width, 3] about a colour."""
    other = np.clip(colour + rng.uniform(-contrast, contrast, 3), 0, 255).astype(np.float32)
    kind = rng.integers(4)
    if kind == 0:
        return np.broadcast_to(colour, (height, width, 3)).copy()
    values = (gradient, stripes, clouds)[kind - 1](width, height, rng)[:, :, None]
    return colour + (other - colour) * values


def contrasting(surface, rng):
    """A colour that stands out from most of a surface [N, 3]."""
    for _ in range(30):
        colour = rng.uniform(0, 255, 3).astype(np.float32)
        if (np.abs(surface - colour).sum(axis=1) > 110).mean() > 0.85:
            break
    return colour


def place(masks, label, extent, width, height, rng):
    """The corner and coverage of a new shape that leaves enough of all others visible, or None."""
    for _ in range(20):
        size = math.exp(rng.uniform(math.log(extent[0]), math.log(extent[1])))
        covered = coverage(label, size, rng)
        rows, columns = covered.shape
        x = int(rng.integers(0, width - columns + 1))
        y = int(rng.integers(0, height - rows + 1))
        solid = covered >= 0.5
        kept = [
            mask[y : y + rows, x : x + columns][solid].sum()
            <= (1 - LEAST_VISIBLE) * whole - (whole - mask.sum())
            for mask, whole in masks
        ]
        if all(kept):
            return x, y, covered
    return None


def picture(seed, index, size=None, extent=(14, 112), most=6, least=1):
    """Draws picture `index`, of `size` (width, height) if given. The longer sides of its shapes are within `extent`."""
    rng = np.random.default_rng([seed, index])
    width, height = size or SIZES[rng.integers(len(SIZES))]
    canvas = paint(width, height, rng.uniform(0, 255, 3).astype(np.float32), 120, rng)
    masks, labels = [], []
    for _ in range(rng.integers(least, most + 1)):
        label = int(rng.integers(1, len(CLASSES) + 1))
        placed = place(masks, label, extent, width, height, rng)
        if placed is None:
            continue
        x, y, covered = placed
        rows, columns = covered.shape
        window = canvas[y : y + rows, x : x + columns]
        solid = covered >= 0.5
        colour = contrasting(window[solid], rng)
        surface = paint(columns, rows, colour, 50, rng)
        window += (surface - window) * covered[:, :, None]
        for mask, _ in masks:
            mask[y : y + rows, x : x + columns] &= ~solid
        mask = np.zeros((height, width), dtype=bool)
        mask[y : y + rows, x : x + columns] = solid
        masks.append((mask, int(mask.sum())))
        labels.append(label)
    noise = rng.standard_normal((height, width, 3), dtype=np.float32) * rng.uniform(0, 12)
    masks = np.stack([mask for mask, _ in masks])
    return Picture(
        pixels=np.clip(canvas + noise + 0.5, 0, 255).astype(np.uint8),
        boxes=np.stack([bounds(mask) for mask in masks]),
        labels=np.asarray(labels, dtype=np.int64),
        masks=masks,
    )


def bounds(mask):
    """The box of a mask, from its first column and row to the end of its last."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.asarray([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1], dtype=np.float32)


def main():
    parser = argparse.ArgumentParser(description="Writes the held-out pictures as PNG files.")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder to write them into")
    parser.add_argument("--count", type=int, default=HELD_OUT_PICTURES)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for index in range(arguments.count):
        pixels = picture(HELD_OUT_SEED, index).pixels
        Image.fromarray(pixels).save(arguments.output / f"{index:06}.png")


if __name__ == "__main__":
    main()
