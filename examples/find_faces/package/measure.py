"""Times the Python package `mtcnn`, stage by stage, on the shipped photograph.

    pip install -r requirements.txt
    python measure.py --batch 8 --threads 2

The same with Burn: `cargo run --release -p find_faces -- --batch 8 --repeat 5`, and `--image` eight times.
"""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf
from mtcnn import MTCNN
from mtcnn.utils.images import standarize_batch
from PIL import Image

from record import PHOTOGRAPH


def run(detector, pictures):
    """The seconds of each stage."""
    times = {}

    def stop(name, start):
        times[name] = time.perf_counter() - start

    start = time.perf_counter()
    normalized, shapes, _ = standarize_batch(pictures)
    stop("picture as a tensor", start)
    boxes = None
    for name, stage in zip(("proposals", "refinement", "output"), detector.stages):
        start = time.perf_counter()
        boxes = stage(images_normalized=normalized, images_oshapes=shapes, bboxes_batch=boxes)
        stop(name, start)
    times["total"] = sum(times.values())
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(arguments.threads)
    detector = MTCNN()
    pictures = [np.asarray(Image.open(PHOTOGRAPH).convert("RGB"))] * arguments.batch
    # The first one warms up.
    runs = [run(detector, pictures) for _ in range(arguments.repeat + 1)][1:]
    for name in runs[0]:
        median = statistics.median(times[name] for times in runs)
        print(f"{name:<22} {median * 1e3:9.1f} ms")


if __name__ == "__main__":
    main()
