"""Draws the two pictures beside the weights: a larger one to show, and a small one for `record.py`.

python showcase.py --show ../shapes.png --parity ../parity.png
"""

import argparse
import pathlib

from PIL import Image

import shapes

SEED = 5  # not used for training or held-out pictures
SHOW = {"index": 39, "size": (320, 240), "extent": (21, 168), "least": 8, "most": 8}
PARITY = {"index": 13, "size": (96, 80), "extent": (12, 56), "least": 4, "most": 4}


def main():
    parser = argparse.ArgumentParser(description="Draws the pictures beside the weights.")
    parser.add_argument("--show", type=pathlib.Path, required=True)
    parser.add_argument("--parity", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    for settings, path in ((SHOW, arguments.show), (PARITY, arguments.parity)):
        Image.fromarray(shapes.picture(SEED, **settings).pixels).save(path)


if __name__ == "__main__":
    main()
