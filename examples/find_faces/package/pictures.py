"""The pictures of the recording, all made from `parity.png` in integers, as `tests/pictures.rs` makes them."""

import numpy as np
from PIL import Image

# Cosine and sine of 15 degrees, times 65536.
COSINE = 63303
SINE = 16962


def mirrored(picture):
    return picture[:, ::-1]


def scaled(picture, height, width):
    """Another size, of the nearest pixels."""
    rows = np.arange(height) * picture.shape[0] // height
    columns = np.arange(width) * picture.shape[1] // width
    return picture[rows[:, None], columns]


def turned(picture):
    """Turned by 15 degrees about its centre, with black corners; of the nearest pixels."""
    height, width, _ = picture.shape
    # Twice the distance from the centre, which can lie between two pixels.
    y, x = np.mgrid[:height, :width]
    y, x = 2 * y - (height - 1), 2 * x - (width - 1)
    from_x = (COSINE * x + SINE * y + width * 65536) >> 17
    from_y = (COSINE * y - SINE * x + height * 65536) >> 17
    inside = (from_x >= 0) & (from_x < width) & (from_y >= 0) & (from_y < height)
    pixels = picture[from_y.clip(0, height - 1), from_x.clip(0, width - 1)]
    return np.where(inside[..., None], pixels, 0).astype(np.uint8)


def noise(height, width):
    """Bytes of a linear congruential generator."""
    state, values = 1, []
    for _ in range(height * width * 3):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state >> 24)
    return np.array(values, np.uint8).reshape(height, width, 3)


def checksum(picture):
    """Differs if a pixel differs, or two change places."""
    values = np.ascontiguousarray(picture).reshape(-1).astype(np.int64)
    return int((values * (np.arange(values.size) % 251 + 1)).sum())


def cases(folder):
    """Batches of pictures, by name."""
    plain = np.asarray(Image.open(folder / "parity.png").convert("RGB"))
    small = scaled(plain, 160, 160)
    flipped, tilted = mirrored(small), turned(small)
    upper, lower = np.concatenate([small, flipped], axis=1), np.concatenate([tilted, small], axis=1)
    return {
        "plain": [plain],
        "smaller": [small],
        "mirrored": [flipped],
        "turned": [tilted],
        "mosaic": [np.concatenate([upper, lower])],
        "noise": [noise(120, 161)],
        # Pictures with faces come first: the package mistakes the padding otherwise.
        "batch": [small, plain[:160, 40:201], flipped[:, 30:], noise(120, 161)],
    }
