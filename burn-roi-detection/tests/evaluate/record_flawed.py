"""Writes random COCO files with flaws, and what pycocotools 2.0.11 computes for them, to `recorded_flawed.json`.

If pycocotools refuses a file, it evaluates what `mended` makes of the file. If it takes both, both must have the same
result.

    python record_flawed.py                                        # the committed file
    python record_flawed.py --count 100 --seed 1 --out FILE.json   # 200 files, half of them for boxes and masks
    COCO_FLAWED=FILE.json cargo test -p burn-roi-detection --test detection flawed_files_are
"""

import argparse
import collections
import copy
import json
import pathlib
import random

from pycocotools import mask

from record import evaluate, moved, problem

UNUSABLE_MASKS = [
    [[]],
    [[10, 10, 30, 30]],
    [[1, 2], []],
    {"size": [7, 9], "counts": [62]},
    {"size": [3, 3], "counts": [4, 4]},
    {"size": [3, 3], "counts": "~"},
    "mask",
]


class Flaws:
    """Adds flaws to a file and counts them."""

    def __init__(self, case, chance):
        self.kind, self.truth, self.detections = case["kind"], case["truth"], case["detections"]
        self.chance = chance
        self.count = collections.Counter()
        # pycocotools tells 3 from "003": a file has one form.
        self.with_text = chance.random() < 0.2

    def happens(self, flaw=None, probability=0.15):
        if self.chance.random() >= probability:
            return False
        if flaw:
            self.count[flaw] += 1
        return True

    def add(self):
        self.add_entries()
        self.chance.shuffle(self.truth["annotations"])
        for image in self.truth["images"]:
            self.image(image)
        for category in self.truth["categories"]:
            self.category(category)
        for annotation in self.truth["annotations"]:
            self.annotation(annotation)
        for detection in self.detections:
            detection["image_id"] = self.number(detection["image_id"], is_image=True)
            detection["category_id"] = self.number(detection["category_id"])

    def number(self, number, is_image=False):
        if self.with_text and is_image:
            return f"{number:03}"
        return float(number) if self.happens() else number

    def add_entries(self):
        """Entries of images and categories that are not listed, and boxes outside of their image."""
        images, annotations = self.truth["images"], self.truth["annotations"]
        listed = list(annotations)
        for number in range(1000, 1003):
            if not listed or not self.happens(probability=0.5):
                continue
            added = {**copy.deepcopy(self.chance.choice(listed)), "id": number}
            detection = copy.deepcopy(self.chance.choice(self.detections))
            if number == 1000:
                self.count["NoCategory"] += 1
                added["category_id"] = detection["category_id"] = 77
            elif number == 1001:
                self.count["NoImage"] += 1
                added["image_id"] = 78
            elif self.kind == "bbox":
                image = self.chance.choice(images)
                x = image["width"] + 20
                added |= {"image_id": image["id"], "bbox": [x, 10, 20, 20], "area": 400, "iscrowd": 0}
                detection |= {"image_id": image["id"], "category_id": added["category_id"]}
                detection["bbox"] = moved(added["bbox"], self.chance)
            annotations.append(added)
            self.detections.append(detection)

    def image(self, image):
        image["id"] = self.number(image["id"], is_image=True)
        image["width"] = self.number(image["width"])
        if self.happens(probability=0.3):
            image["file_name"] = 5
        if self.kind == "bbox" and self.happens("ImageSize", 0.3):
            size = self.chance.choice([{}, {"width": -1, "height": -1}, {"width": 0, "height": 0}, {"width": 9}])
            del image["width"], image["height"]
            image |= size

    def category(self, category):
        category["id"] = self.number(category["id"])
        if self.happens("Name", 0.3):
            del category["name"]
            category |= self.chance.choice([{}, {"name": ""}, {"name": None}])
        if self.happens():
            category["keypoints"] = None

    def annotation(self, annotation):
        is_read = annotation["image_id"] != 78 and annotation["category_id"] != 77
        annotation["id"] = self.number(annotation["id"])
        annotation["image_id"] = self.number(annotation["image_id"], is_image=True)
        annotation["category_id"] = self.number(annotation["category_id"])
        if self.happens(probability=0.3):
            annotation["iscrowd"] = self.chance.choice([bool, float])(annotation["iscrowd"])
        if not is_read:
            return
        if self.kind == "segm":
            self.mask(annotation)
            if self.happens("Box", 0.1):
                del annotation["bbox"]
        elif self.happens("Mask", 0.3):
            annotation["segmentation"] = self.chance.choice(UNUSABLE_MASKS)
        if self.happens("Area", 0.03):
            del annotation["area"]
            annotation |= self.chance.choice([{}, {"area": None}, {"area": "large"}])
        if self.happens("Crowd", 0.02):
            annotation["iscrowd"] = 2

    def mask(self, annotation):
        found = annotation["segmentation"]
        if isinstance(found, dict):
            if isinstance(found["counts"], list) and self.happens():
                found["size"] = [float(side) for side in found["size"]]
            return
        is_flawed = False
        if self.happens():
            self.chance.choice(found).append(5)
            is_flawed = True
        if self.happens():
            position = 0 if self.happens(probability=0.2) else len(found)
            found.insert(position, self.chance.choice([[], [50, 40], [50, 50, 60, 60], [1, 2, 3, 4, 5]]))
            is_flawed = True
        self.count["Polygons"] += is_flawed


def mended(truth):
    """The same file in the form that pycocotools takes."""
    truth = copy.deepcopy(truth)
    sizes = {}
    for image in truth["images"]:
        sizes[image["id"]] = [image.get(side) for side in ("height", "width")]
    for annotation in truth["annotations"]:
        annotation["iscrowd"] = int(annotation["iscrowd"])
        size = sizes.get(annotation["image_id"], [None, None])
        drawn = draw(annotation, [int(side or 0) for side in size])
        if "bbox" not in annotation:
            polygons = annotation["segmentation"]
            if isinstance(polygons, list):
                x, y = ([value for polygon in polygons for value in polygon[axis::2]] for axis in (0, 1))
                annotation["bbox"] = [min(x), min(y), max(x) - min(x), max(y) - min(y)]
            else:
                annotation["bbox"] = [float(value) for value in mask.toBbox(drawn)]
        if not isinstance(annotation.get("area"), (int, float)):
            annotation["area"] = float(mask.area(drawn)) if drawn else annotation["bbox"][2] * annotation["bbox"][3]
    return truth


def draw(annotation, size):
    """Mends polygons, and returns the mask if it can be used."""
    found = annotation.get("segmentation")
    if not found or found in UNUSABLE_MASKS or min(size) < 1:
        return None
    if isinstance(found, list):
        polygons = [polygon[: len(polygon) // 2 * 2] for polygon in found]
        annotation["segmentation"] = [polygon for polygon in polygons if len(polygon) >= 6]
        return mask.merge(mask.frPyObjects(annotation["segmentation"], *size))
    found["size"] = [int(side) for side in found["size"]]
    if isinstance(found["counts"], list):
        return mask.frPyObjects(found, *size)
    return {**found, "counts": found["counts"].encode()}


def stats(case, kind):
    """pycocotools' result, and whether it took the file as it is."""
    right = evaluate({**case, "kind": kind, "truth": mended(case["truth"])})["stats"]
    try:
        found = evaluate({**case, "kind": kind})["stats"]
    except Exception:
        return right, False
    assert found == right, (kind, found, right)
    return found, True


def flawed(kind, chance):
    case = problem(kind, chance)
    flaws = Flaws(case, chance)
    flaws.add()
    results = {each: stats(case, each) for each in ("bbox", "segm")[: 1 if kind == "bbox" else 2]}
    return {
        "truth": case["truth"],
        "detections": case["detections"],
        "flaws": {name: count for name, count in sorted(flaws.count.items()) if count},
        "stats": {each: found for each, (found, _) in results.items()},
    }, [taken for _, taken in results.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=8, help="files for boxes, and as many for boxes and masks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("recorded_flawed.json"))
    options = parser.parse_args()
    chance = random.Random(options.seed)
    problems = [flawed(kind, chance) for kind in ("bbox", "segm") for _ in range(options.count)]
    taken = [each for _, found in problems for each in found]
    print(f"{len(problems)} files, {len(taken)} evaluations, of which pycocotools takes {sum(taken)} as they are")
    options.out.write_text(json.dumps([case for case, _ in problems], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
