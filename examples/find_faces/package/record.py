"""Records what the Python package `mtcnn` finds, stage by stage.

    pip install -r requirements.txt
    python record.py

For each batch of `pictures.py` the file has:

- `NAME/checksums` `[N]`: the checksum of each picture's pixels.
- `NAME/proposals` and `NAME/refined` `[K, 6]`: the squares of the first two stages in the padded pictures: the picture,
  x1, y1, x2, y2 and the score.
- `NAME/faces` `[K, 16]`: the faces in their pictures: as above, and then x and y of five landmarks.

`shipped` is the photograph of `crop_regions`, a JPEG file. `image`, which reads it for Burn, repeats the pixels of its
colours, which have half its size, and so does the decoder here. Most others interpolate them: with their pixels, the
package finds the face with a score of 0.9991 instead of 0.9959, and its upper edge 4 pixels lower.
"""

import argparse
from importlib.metadata import version
from pathlib import Path

import numpy as np
import tensorflow as tf
from mtcnn import MTCNN
from mtcnn.utils.bboxes import fix_bboxes_offsets, limit_bboxes
from mtcnn.utils.images import standarize_batch
from safetensors.numpy import save_file

from pictures import cases, checksum

FOLDER = Path(__file__).resolve().parent.parent
PHOTOGRAPH = FOLDER.parent / "crop_regions" / "photograph.jpg"


def record(detector, pictures):
    """What each stage leaves, as `detect_faces` runs them."""
    normalized, shapes, padding = standarize_batch(pictures)
    columns = {"proposals": 6, "refined": 6, "faces": 16}
    found = {name: np.empty((0, count)) for name, count in columns.items()}
    boxes = None
    try:
        for name, stage in zip(columns, detector.stages):
            boxes = stage(images_normalized=normalized, images_oshapes=shapes, bboxes_batch=boxes)
            # The next stage writes its scores into this array.
            found[name] = boxes.copy()
    except tf.errors.InvalidArgumentError:
        # TensorFlow refuses a stage without candidates.
        return found
    found["faces"] = limit_bboxes(fix_bboxes_offsets(boxes, padding), shapes, limit_landmarks=False)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", default=FOLDER / "parity.safetensors", help="the safetensors file to write")
    detector = MTCNN()
    batches = cases(FOLDER)
    photograph = tf.io.decode_jpeg(
        PHOTOGRAPH.read_bytes(), channels=3, fancy_upscaling=False, dct_method="INTEGER_ACCURATE"
    )
    batches["shipped"] = [photograph.numpy()]
    tensors = {}
    for name, pictures in batches.items():
        found = record(detector, pictures)
        print(name, {stage: len(boxes) for stage, boxes in found.items()})
        tensors[f"{name}/checksums"] = np.array([checksum(picture) for picture in pictures])
        for stage, boxes in found.items():
            tensors[f"{name}/{stage}"] = np.ascontiguousarray(boxes, np.float32)
    versions = {package: version(package) for package in ("mtcnn", "tensorflow-cpu")}
    save_file(tensors, parser.parse_args().file, versions)


if __name__ == "__main__":
    main()
