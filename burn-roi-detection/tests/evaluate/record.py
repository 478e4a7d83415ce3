"""Writes random problems of COCO evaluation, and what pycocotools 2.0.11 computes for them, to `recorded.json`.

    python record.py                                        # the committed file
    python record.py --count 200 --seed 1 --out FILE.json   # more problems
"""

import argparse
import contextlib
import copy
import io
import json
import pathlib
import random

import numpy as np
from pycocotools import mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

KINDS = ["bbox", "segm", "keypoints"]


def polygon(box, chance):
    """Points around a box, clockwise or not in order at all, some of them outside of the image."""
    x, y, w, h = box
    count = chance.randint(3, 7)
    points = [(x + w * chance.uniform(-0.1, 1.1), y + h * chance.uniform(-0.1, 1.1)) for _ in range(count)]
    if chance.random() < 0.8:
        middle = (x + w / 2, y + h / 2)
        points.sort(key=lambda point: np.arctan2(point[1] - middle[1], point[0] - middle[0]))
    digits = chance.choice([0, 1, 2])
    return [round(value, digits) for point in points for value in point]


def random_box(size, chance):
    side = chance.choice([10, 25, 60, 120])
    w, h = round(chance.uniform(1, side), 1), round(chance.uniform(1, side), 1)
    if chance.random() < 0.05:
        w = 0
    x, y = (round(chance.uniform(-3, limit * 0.8), 1) for limit in size)
    # A truth that is outside of its image altogether is an error.
    return [max(x, -w), max(y, -h), w, h]


def moved(box, chance):
    """The box of a detection near a truth."""
    amount = chance.choice([0, 0.05, 0.1, 0.3])
    x, y, w, h = box
    move = [chance.uniform(-amount, amount) * side for side in (w, h, w, h)]
    return [round(x + move[0], 1), round(y + move[1], 1), round(abs(w + move[2]), 1), round(abs(h + move[3]), 1)]


def rle(polygons, size):
    w, h = size
    merged = mask.merge(mask.frPyObjects(polygons, h, w))
    return {"size": merged["size"], "counts": merged["counts"].decode()}


def plain(encoded):
    """The same run lengths without compression."""
    pixels = mask.decode({**encoded, "counts": encoded["counts"].encode()}).flatten(order="F")
    changes = np.flatnonzero(np.diff(np.concatenate([[0], pixels])))
    counts = np.diff(np.concatenate([[0], changes, [pixels.size]]))
    return {"size": encoded["size"], "counts": counts.tolist()}


def keypoints(box, chance):
    x, y, w, h = box
    flat = []
    for _ in range(17):
        v = chance.choice([0, 1, 2, 2])
        flat += [round(x + w * chance.random(), 1), round(y + h * chance.random(), 1), v] if v else [0, 0, 0]
    return flat


def annotation(kind, number, image, category, chance):
    size = (image["width"], image["height"])
    box = random_box(size, chance)
    crowd = int(chance.random() < 0.15)
    found = {"id": number, "image_id": image["id"], "category_id": category, "bbox": box, "iscrowd": crowd}
    # Not always the box's, and now and then exactly a limit.
    found["area"] = chance.choice([box[2] * box[3], box[2] * box[3] * 0.7, 1024, 9216])
    if kind == "segm":
        polygons = [polygon(box, chance) for _ in range(chance.choice([1, 1, 2]))]
        encoded = rle(polygons, size)
        found["segmentation"] = chance.choice([encoded, plain(encoded)]) if crowd else polygons
    if kind == "keypoints":
        found["keypoints"] = keypoints(box, chance) if chance.random() < 0.85 else [0] * 51
        found["num_keypoints"] = sum(v > 0 for v in found["keypoints"][2::3])
    found["area"] = round(found["area"], 2)
    return found


def detection(kind, truths, image, categories, chance):
    size = (image["width"], image["height"])
    truth = chance.choice(truths) if truths and chance.random() < 0.75 else None
    box = moved(truth["bbox"], chance) if truth else random_box(size, chance)
    category = truth["category_id"] if truth and chance.random() < 0.9 else chance.choice(categories)
    # Few different scores, so that many are equal.
    found = {"image_id": image["id"], "category_id": category, "score": round(chance.random(), chance.choice([1, 4]))}
    if kind == "bbox":
        found["bbox"] = box
    elif kind == "segm":
        same = truth and isinstance(truth["segmentation"], list) and chance.random() < 0.6
        found["segmentation"] = rle(truth["segmentation"] if same else [polygon(box, chance)], size)
    elif truth:
        amount = chance.choice([0, 1, 3, 10])
        found["keypoints"] = [
            value if index % 3 == 2 else round(value + chance.uniform(-amount, amount), 1)
            for index, value in enumerate(truth["keypoints"])
        ]
    else:
        found["keypoints"] = keypoints(box, chance)
    return found


def problem(kind, chance):
    side = chance.choice([64, 160, 300])
    images = [
        {"id": 10 * index + 3, "width": side + index, "height": side - 7 * index}
        for index in range(chance.randint(1, 5))
    ]
    chance.shuffle(images)
    categories = [1, 5, 18, 90][: chance.randint(1, 4)]
    # The last category may have no truth, and an image may be empty.
    with_truths = categories[: max(1, len(categories) - chance.randint(0, 1))]
    annotations, detections = [], []
    for image in images:
        truths = []
        for _ in range(chance.choice([0, 1, 3, 6])):
            number = len(annotations) + 1
            truths.append(annotation(kind, number, image, chance.choice(with_truths), chance))
            annotations.append(truths[-1])
        for _ in range(chance.choice([0, 2, 6, 20])):
            detections.append(detection(kind, truths, image, categories, chance))
    if not detections:
        return problem(kind, chance)
    chance.shuffle(detections)
    truth = {
        "images": images,
        "categories": [{"id": category, "name": f"c{category}"} for category in categories],
        "annotations": annotations,
    }
    return {"kind": kind, "truth": truth, "detections": detections}


def evaluate(case):
    """Adds pycocotools' numbers, the AP of each category, and the table that it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = copy.deepcopy(case["truth"])
        truth.createIndex()
        found = truth.loadRes(copy.deepcopy(case["detections"]))
        evaluation = COCOeval(truth, found, case["kind"])
        evaluation.evaluate()
        evaluation.accumulate()
        with contextlib.redirect_stdout(printed):
            evaluation.summarize()
    precision = evaluation.eval["precision"][:, :, :, 0, -1]
    aps = [float(np.mean(values)) if values.max() > -1 else -1.0 for values in np.moveaxis(precision, 2, 0)]
    stats = [float(value) for value in evaluation.stats]
    return {**case, "stats": stats, "aps": aps, "table": printed.getvalue().rstrip("\n")}


def rasterised(chance):
    """Random polygons and their masks."""
    width, height = chance.randint(1, 40), chance.randint(1, 40)
    size = chance.choice([2, 8, 30, 60])
    polygons = [
        polygon([chance.uniform(-9, width), chance.uniform(-9, height), size, size], chance)
        for _ in range(chance.choice([1, 1, 2, 3]))
    ]
    encoded = mask.merge(mask.frPyObjects(polygons, height, width))
    return {
        "polygons": polygons,
        "size": [height, width],
        "counts": encoded["counts"].decode(),
        "area": int(mask.area(encoded)),
        "bbox": [int(value) for value in mask.toBbox(encoded)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=12, help="problems of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("recorded.json"))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    problems = [evaluate(problem(kind, chance)) for kind in KINDS for _ in range(options.count)]
    polygons = [rasterised(chance) for _ in range(10 * options.count)]
    text = json.dumps({"problems": problems, "polygons": polygons}, separators=(",", ":"))
    options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
