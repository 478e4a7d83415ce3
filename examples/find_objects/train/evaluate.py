"""Measures detections on the held-out pictures with pycocotools: AP50 and AP of boxes and of masks.

For the detections of torchvision's model with the shipped weights (`--write` saves them in the format below):

    python evaluate.py --config ../shapes.json --weights ../shapes.safetensors

This prints

    box AP50 0.9565
    box AP 0.7706
    mask AP50 0.9372
    mask AP 0.6913

For the detections of another program, one JSON object a line for each picture that `shapes.py` wrote. The number in
the name of a picture's file is its index:

    python evaluate.py --config ../shapes.json --detections detections.jsonl

    {"image": "pictures/000012.png", "width": 160, "height": 160, "detections": [
        {"class": 1, "label": "circle", "score": 0.98, "box": [x1, y1, x2, y2],
         "mask": {"size": [height, width], "counts": [run lengths down the columns, zeros first]}}]}
"""

import argparse
import contextlib
import io
import json
import pathlib

import numpy as np
import safetensors.torch
import torch
from pycocotools import mask as rle
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import model as models
import shapes


def run_lengths(mask):
    """The uncompressed run lengths of a mask, down its columns, starting with a run of zeros."""
    values = np.concatenate([[False], mask.T.ravel()])
    changes = np.flatnonzero(values[1:] != values[:-1])
    edges = np.concatenate([[0], changes, [mask.size]])
    return np.diff(edges).tolist()


def detect(model, config, index):
    """The detections of torchvision's model in a held-out picture, as an object of the format above."""
    pixels = shapes.picture(shapes.HELD_OUT_SEED, index).pixels
    with torch.inference_mode():
        found = model([torch.from_numpy(pixels).permute(2, 0, 1) / 255])[0]
    masks = (found["masks"][:, 0] > config["mask_head"]["mask_threshold"]).numpy()
    height, width = pixels.shape[:2]
    detections = [
        {
            "class": label,
            "label": config["classes"][label],
            "score": score,
            "box": box,
            "mask": {"size": [height, width], "counts": run_lengths(mask)},
        }
        for label, score, box, mask in zip(
            found["labels"].tolist(), found["scores"].tolist(), found["boxes"].tolist(), masks
        )
    ]
    return {"image": f"{index:06}.png", "width": width, "height": height, "detections": detections}


def corner_and_size(box):
    """A box as COCO has it."""
    x1, y1, x2, y2 = (float(edge) for edge in box)
    return [x1, y1, x2 - x1, y2 - y1]


def truth(config, count):
    """The held-out pictures' shapes as a COCO data set."""
    images, annotations = [], []
    for index in range(count):
        picture = shapes.picture(shapes.HELD_OUT_SEED, index)
        height, width = picture.pixels.shape[:2]
        images.append({"id": index, "width": width, "height": height})
        for box, label, mask in zip(picture.boxes, picture.labels, picture.masks):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": index,
                    "category_id": int(label),
                    "bbox": corner_and_size(box),
                    "area": float(mask.sum()),
                    "iscrowd": 0,
                    "segmentation": rle.encode(np.asfortranarray(mask.astype(np.uint8))),
                }
            )
    categories = [{"id": number, "name": name} for number, name in enumerate(config["classes"]) if number > 0]
    data = COCO()
    data.dataset = {"images": images, "annotations": annotations, "categories": categories}
    data.createIndex()
    return data


def number(line):
    """The index of the held-out picture of a line."""
    return int(pathlib.PurePath(line["image"]).stem)


def results(lines):
    """Detections as COCO's list of results."""
    return [
        {
            "image_id": number(line),
            "category_id": found["class"],
            "bbox": corner_and_size(found["box"]),
            "score": found["score"],
            "segmentation": rle.frPyObjects(found["mask"], *found["mask"]["size"]),
        }
        for line in lines
        for found in line["detections"]
    ]


def measure(config, lines, count):
    """AP50 and AP of boxes and of masks on the first `count` held-out pictures, by name."""
    found = [result for result in results(lines) if result["image_id"] < count]
    missing = set(range(count)) - {number(line) for line in lines}
    if missing:
        raise ValueError(f"{len(missing)} of the {count} held-out pictures have no line")
    measures = {}
    with contextlib.redirect_stdout(io.StringIO()):
        data = truth(config, count)
        detections = data.loadRes(found)
        for name, kind in (("box", "bbox"), ("mask", "segm")):
            evaluation = COCOeval(data, detections, kind)
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
            measures[f"{name} AP50"], measures[f"{name} AP"] = evaluation.stats[1], evaluation.stats[0]
    return measures


def main():
    parser = argparse.ArgumentParser(description="Prints box and mask AP50 and AP on the held-out pictures.")
    parser.add_argument("--config", type=pathlib.Path, required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--weights", type=pathlib.Path, help="evaluate torchvision's model with these weights"
    )
    source.add_argument(
        "--detections", type=pathlib.Path, help="evaluate these detections, one picture a line"
    )
    parser.add_argument("--write", type=pathlib.Path, help="also write torchvision's detections here")
    parser.add_argument("--count", type=int, default=shapes.HELD_OUT_PICTURES)
    arguments = parser.parse_args()
    config = models.read(arguments.config)
    if arguments.detections:
        lines = [json.loads(line) for line in arguments.detections.read_text().splitlines() if line.strip()]
    else:
        model = models.build(config)
        model.load_state_dict(safetensors.torch.load_file(arguments.weights))
        model.eval()
        lines = [detect(model, config, index) for index in range(arguments.count)]
    if arguments.write:
        arguments.write.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, value in measure(config, lines, arguments.count).items():
        print(f"{name} {value:.4f}")


if __name__ == "__main__":
    main()
