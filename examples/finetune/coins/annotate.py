"""Writes the pictures and the COCO annotations of this folder from `skimage.data.coins`.

    pip install scikit-image==0.26.0
    python annotate.py --output .
    python annotate.py --output . --check check.png

The photograph shows 24 Greek coins from Pompeii in four rows of six. A watershed on its gradient finds them, and its 24
outlines were checked by eye in the picture that `--check` draws.

No straight line has 12 coins on either side. The photograph is cut where one coin is: its larger part is the twelfth
coin of the left half, and its smaller part is a crowd in the right half, which training leaves out and evaluation
ignores.
"""

import argparse
import json
import pathlib

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage
from skimage import data, filters, measure, morphology, segmentation

# The first column of the right half.
CUT = 183
# Grey levels that are surely background, and surely a coin.
BACKGROUND, COIN = 30, 150
# Shadows and scratches that are narrower than this are no part of a coin.
OPENING_RADIUS = 3
# How far a polygon may be from the outline, in pixels.
TOLERANCE = 0.4
# What is smaller is no coin.
LEAST_AREA = 100


def coin_masks(photograph):
    """A mask [H, W] for each coin."""
    markers = np.zeros(photograph.shape, dtype=int)
    markers[photograph < BACKGROUND] = 1
    markers[photograph > COIN] = 2
    is_coin = segmentation.watershed(filters.sobel(photograph), markers) == 2
    is_coin = ndimage.binary_fill_holes(is_coin)
    is_coin = morphology.opening(is_coin, morphology.disk(OPENING_RADIUS))
    labels = measure.label(is_coin)
    masks = [labels == label for label in range(1, labels.max() + 1)]
    return [mask for mask in masks if mask.sum() >= LEAST_AREA]


def polygon(mask):
    """The outline of a mask as points x, y. Pixel 0 reaches from 0 to 1."""
    (outline,) = measure.find_contours(np.pad(mask, 1).astype(float), 0.5)
    # Without the padding, and from the centres of pixels to their corners.
    points = measure.approximate_polygon(outline, TOLERANCE)[:-1, ::-1] - 1 + 0.5
    return np.clip(points, 0, mask.shape[::-1])


def run_lengths(mask):
    """COCO's uncompressed run lengths: column by column, zeros first."""
    pixels = np.concatenate([[0], mask.ravel(order="F").astype(int)])
    changes = np.flatnonzero(np.diff(pixels))
    counts = np.diff(np.concatenate([[0], changes, [mask.size]]))
    return {"counts": counts.tolist(), "size": list(mask.shape)}


def annotation(number, mask, is_crowd):
    points = polygon(mask)
    first, last = points.min(axis=0), points.max(axis=0)
    return {
        "id": number,
        "image_id": 1,
        "category_id": 1,
        "iscrowd": int(is_crowd),
        "bbox": [*first.tolist(), *(last - first).tolist()],
        "area": int(mask.sum()),
        "segmentation": run_lengths(mask) if is_crowd else [points.ravel().tolist()],
    }


def half(name, masks, columns):
    """The annotations of the columns of the photograph that are a half, from the masks of all coins."""
    annotations = []
    for mask in masks:
        shown = mask[:, columns]
        # No more than the coin at the cut is shown in part.
        is_crowd = shown.sum() < 0.5 * mask.sum()
        if shown.any():
            annotations.append(annotation(len(annotations) + 1, shown, is_crowd))
    height, width = masks[0][:, columns].shape
    return {
        "info": {"description": "Greek coins from Pompeii, Brooklyn Museum; no known copyright restrictions"},
        "images": [{"id": 1, "file_name": f"{name}.png", "height": height, "width": width}],
        "categories": [{"id": 1, "name": "coin"}],
        "annotations": annotations,
    }


def draw(photograph, masks, path):
    """Draws the outlines of all coins on the photograph, at four times its size."""
    scale = 4
    picture = Image.fromarray(photograph).convert("RGB")
    picture = picture.resize([scale * side for side in picture.size])
    canvas = ImageDraw.Draw(picture)
    for number, mask in enumerate(masks, 1):
        points = [tuple(point) for point in polygon(mask) * scale]
        canvas.polygon(points, outline=(255, 0, 0))
        canvas.text(points[0], str(number), fill=(255, 255, 0))
    canvas.line([(CUT * scale, 0), (CUT * scale, picture.height)], fill=(0, 255, 255))
    picture.save(path)


def main():
    parser = argparse.ArgumentParser(description="Writes the pictures and the annotations of both halves.")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder to write them into")
    parser.add_argument("--check", type=pathlib.Path, help="a picture to draw the outlines into")
    arguments = parser.parse_args()
    photograph = data.coins()
    masks = coin_masks(photograph)
    for name, columns in (("left", slice(0, CUT)), ("right", slice(CUT, None))):
        Image.fromarray(photograph[:, columns]).save(arguments.output / f"{name}.png", optimize=True)
        text = json.dumps(half(name, masks, columns))
        (arguments.output / f"{name}.json").write_text(text + "\n")
    if arguments.check:
        draw(photograph, masks, arguments.check)


if __name__ == "__main__":
    main()
