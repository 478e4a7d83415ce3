"""Random problems, which all frameworks are asked: maps, boxes and sizes of outputs."""

import math
from dataclasses import dataclass, replace

import numpy as np

ALIGN_TOLERANCE = {np.float32: 2e-5, np.float16: 2e-3, np.float64: 1e-10}
# Keep a file below 8 KB, and a box below what its owner can spend on every sample.
MOST_ELEMENTS = 850
MOST_SAMPLES = 200_000
SCALES = [1.0, 0.5, 0.25, 0.0625, 0.3, 2.0]
MAPS = ["one pixel", "one row", "one column", "tiny", "ordinary", "ordinary", "wide"]
OUTPUTS = ["one element", "one row", "one column", "square", "oblong", "thirteen"]
INTERVALS = ["random", "grid", "halves", "partly outside", "outside", "centred on a border",
             "sample on a bound", "border to border", "empty", "inverted", "huge"]
# Numbers of pixels whose bins end elsewhere when the length of a bin is rounded to a float32.
INEXACT_BINS = {7: [57], 11: [29, 47, 58], 13: [7, 14, 28, 56]}
SINGLE_BOXES = {"f64": "it computes in f32"}


class Dealer:
    """Deals the values of a list in random order, all of them before any a second time."""

    def __init__(self, seed, stretch=1):
        self.random = np.random.default_rng(seed)
        self.left = {}
        self.stretch = stretch
        self.most_elements = MOST_ELEMENTS * stretch**2

    def deal(self, name, values):
        if not self.left.get(name):
            values = list(values)
            self.left[name] = [values[index] for index in self.random.permutation(len(values))]
        return self.left[name].pop()


@dataclass
class Problem:
    """What all operators share. Boxes are x1, y1, x2, y2 in pixels of the map, still in float64."""

    input: np.ndarray
    batch_indices: np.ndarray
    output: tuple
    boxes: np.ndarray


@dataclass
class Case:
    source: str
    attributes: dict
    tolerance: float
    tensors: dict


def map_size(dealer):
    low, high = dealer.random.integers(2, 6), dealer.random.integers(6, 17)
    return {
        "one pixel": (1, 1),
        "one row": (1, high),
        "one column": (high, 1),
        "tiny": (low, dealer.random.integers(2, 6)),
        "ordinary": (dealer.random.integers(6, 17) * dealer.stretch, high * dealer.stretch),
        "wide": (3, 57 + low),
    }[dealer.deal("map", MAPS)]


def output_size(dealer):
    size, other = dealer.random.permutation([1, 2, 3, 4, 5, 6, 7, 9, 11])[:2]
    return {
        "one element": (1, 1),
        "one row": (1, size),
        "one column": (size, 1),
        "square": (dealer.deal("square", [2, 7]),) * 2,
        "oblong": (size, other),
        "thirteen": (size, 13),
    }[dealer.deal("output", OUTPUTS)]


def interval(kind, random, size, elements):
    """One axis of a box, on a map of `size` pixels that becomes `elements` outputs."""
    if kind == "random":
        return sorted(random.uniform(0, size, 2))
    if kind == "grid":
        low = random.integers(-2, size)
        return low, low + elements * random.integers(1, 4)
    if kind == "halves":
        low = random.integers(-2, 2 * size) / 2
        return low, low + random.integers(1, 4 * elements + 1) / 2
    if kind == "partly outside":
        low, high = random.uniform(-size - 1, 0), random.uniform(0, size)
        return (low, high) if random.random() < 0.5 else (size - high, size - low)
    if kind == "outside":
        low, high = sorted(random.uniform(1, 5, 2))
        return (size + low, size + high) if random.random() < 0.5 else (-1 - high, -1 - low)
    if kind == "centred on a border":
        centre = random.choice([-1, -0.5, 0, 0.5, size - 1, size - 0.5, size, size + 0.5])
        length = random.choice([1, 3, elements, 3 * elements, random.uniform(0.5, 3 * elements)])
        return centre - length / 2, centre + length / 2
    if kind == "sample on a bound":
        samples = elements * random.integers(1, 5)
        share = (random.integers(samples) + 0.5) / samples
        length = random.integers(1, 30) / random.choice([1, 2, 3, 10])
        low = random.choice([-1, size]) + random.choice([0, 0.5]) - share * length
        return low, low + length
    if kind == "border to border":
        return random.integers(-1, 2), size + random.integers(-1, 2)
    if kind == "empty":
        place = random.choice([random.uniform(0, size), random.integers(-1, size + 1)])
        return place, place
    if kind == "inverted":
        high, low = interval(random.choice(["random", "grid", "halves"]), random, size, elements)
        return low, high
    assert kind == "huge"
    low = -random.choice([random.integers(0, 10_000), random.uniform(0, 10_000)])
    return low, low + 10_000


def draw_box(dealer, size, output):
    kind = dealer.deal("box", INTERVALS)
    # Two dealt kinds too often meet outside of the map, so one axis is as often an ordinary one.
    other = dealer.random.choice([kind, dealer.deal("box", INTERVALS), "random", "random"])
    kinds = dealer.random.permutation([kind, other])
    (y1, y2), (x1, x2) = (interval(*axis) for axis in zip(kinds, [dealer.random] * 2, size, output))
    return np.array([x1, y1, x2, y2], np.float64)


def draw_problem(dealer, dtype, accept, output=None):
    """A problem whose boxes all pass `accept(box, map size, output size)`, of some output size if it is given none."""
    size = tuple(int(side) for side in map_size(dealer))
    output = output or tuple(int(side) for side in output_size(dealer))
    pixels, elements = math.prod(size), math.prod(output)
    images = min(dealer.deal("images", [1, 2, 3]), dealer.most_elements // pixels)
    boxes = min(dealer.deal("boxes", [1, 2, 3, 4, 6]), dealer.most_elements // elements)
    channels = min(dealer.deal("channels", [1, 2, 3, 5, 17]),
                   dealer.most_elements // (pixels * images), dealer.most_elements // (elements * boxes))
    accepted = []
    while len(accepted) < boxes:
        box = draw_box(dealer, size, output)
        if accept(box, size, output):
            accepted.append(box)
    return Problem(
        input=dealer.random.standard_normal((images, channels, *size)).astype(dtype),
        batch_indices=dealer.random.integers(images, size=boxes),
        output=output,
        boxes=np.array(accepted),
    )


def draw_pool_problem(dealer, dtype, accept):
    """A problem whose first box depends, where the output allows, on how bins are divided."""
    problem = draw_problem(dealer, dtype, accept)
    _, _, height, width = problem.input.shape
    for axis, size, elements in [(1, height, problem.output[0]), (0, width, problem.output[1])]:
        if elements in INEXACT_BINS:
            # The pixel after the region, which rounding adds to the last bin, is the map's last.
            pixels = dealer.random.choice(INEXACT_BINS[elements])
            other, other_size = 1 - axis, width + height - size
            problem.boxes[0, [axis, axis + 2]] = size - 1 - pixels, size - 2
            problem.boxes[0, [other, other + 2]] = 0, other_size - 1
    return problem


def owner_boxes(problem_boxes, scale, dtype):
    """Pixels of the map in the coordinates that the owner multiplies by `scale`."""
    largest = float(np.finfo(dtype).max)
    return np.clip(problem_boxes / scale, -largest, largest).astype(dtype)


def with_batch_column(problem, boxes):
    return np.concatenate([problem.batch_indices[:, None].astype(boxes.dtype), boxes], axis=1)


def affordable(scale, dtype, ratio, aligned, zero_samples_allowed=True):
    """Rejects boxes that take too many samples, or a number on which the owner fails."""
    def accept(box, size, output):
        box = owner_boxes(box, scale, dtype).astype(np.float64) * scale
        lengths = box[3] - box[1], box[2] - box[0]
        if not aligned:
            lengths = [max(length, 1) for length in lengths]
        samples = math.prod(ratio if ratio > 0 else math.ceil(length / elements)
                            for length, elements in zip(lengths, output))
        # One inverted axis makes the number negative: an exception, or foreign memory as a result.
        possible = samples > 0 or (samples == 0 and zero_samples_allowed)
        return possible and samples * math.prod(output) <= MOST_SAMPLES
    return accept


def anything(box, size, output):
    return True


def position_sensitive(dealer, dtype, draw, accept):
    """A problem with one channel of the features for each output element."""
    while True:
        problem = draw(dealer, dtype, accept)
        images, channels, *size = problem.input.shape
        elements = math.prod(problem.output)
        if elements <= 48:
            break
    channels = max(1, min(channels, dealer.most_elements // (elements * images * math.prod(size))))
    shape = (images, channels * elements, *size)
    return replace(problem, input=dealer.random.standard_normal(shape).astype(dtype))


def pyramid_box(dealer, image, canonical_scale):
    """A box of an image; some have the very area from which on a region belongs to the next level."""
    kind = dealer.deal("pyramid box", ["random", "random", "next level", "nearly", "whole", "empty"])
    low = dealer.random.uniform(-2, 20, 2)
    if kind == "random":
        sides = 2.0 ** dealer.random.uniform(0, 6, 2)
    elif kind == "whole":
        low, sides = np.zeros(2), np.array(image[::-1])
    elif kind == "empty":
        sides = dealer.random.uniform(0, 9) * dealer.random.permutation([0, 1])
    else:
        # The corner is whole, so that the sides are exact in float32.
        low, power = np.floor(low), 2.0 ** dealer.random.integers(-2, 3)
        stretch = 2.0 ** dealer.random.integers(-1, 2)
        sides = canonical_scale * power * np.array([stretch, 1 / stretch])
        if kind == "nearly":
            sides[0] *= 1 - 2.0**-10
    return np.concatenate([low, low + sides])
