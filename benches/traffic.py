#!/usr/bin/env python3
"""Counts what each workload of `benches/throughput` must move, and what its GPU kernel asks for: a table
that says what a device's bandwidth allows.

    pip install numpy
    python benches/traffic.py [--bandwidth 4000]

`loads` are the numbers of the map that all units of the kernel read together. They are one a pixel of a bin. Samples
of an element read pairs of pixels along each axis, and those that lie close together share them. Caches answer the
loads of a pixel beyond the first. The bandwidth is in GB/s.
"""

import argparse

import numpy as np

from peers import STANDARD, boxes_of

NUMBER = 4


def spans(workload, low, high, size):
    """How many pixels of an axis each region touches, as first and last, and its loads along this axis:
    the sum over output elements."""
    scale = 1 / workload.stride
    if workload.operator == "roi_pool":
        first, last = np.rint(low * scale), np.rint(high * scale)
        bins = (np.maximum(last - first + 1, 1) / workload.size)[:, None]
        number = np.arange(workload.size)
        start = np.clip(np.floor(number * bins) + first[:, None], 0, size)
        end = np.clip(np.ceil((number + 1) * bins) + first[:, None], 0, size)
        loads = np.maximum(end - start, 0).sum(axis=1)
        return np.clip(first, 0, size - 1), np.clip(last, 0, size - 1), loads
    low, high = low * scale - 0.5, high * scale - 0.5
    lengths = (high - low) / workload.size
    samples = np.full(low.shape, workload.samples) if workload.samples else np.ceil(lengths)
    loads = []
    for start, length, count in zip(low, lengths, samples.astype(int)):
        places = start + (np.arange(workload.size)[:, None] + (np.arange(count) + 0.5) / count) * length
        before = np.floor(np.clip(places, 0, size - 1)).astype(int)
        loads.append(sum(2 * pairs(element.tolist(), size) for element in before))
    loads = np.array(loads)
    return np.clip(np.floor(low), 0, size - 1), np.clip(np.ceil(high), 0, size - 1), loads


def pairs(before, size):
    """How many pairs of neighbours samples read that lie between these pixels and the ones after them."""
    number, at, later = 0, 0, None
    while at < len(before) or later is not None:
        low = before[at] if later is None else later
        later = None
        number += 1
        while at < len(before) and before[at] - low in (0, 1):
            if before[at] != low:
                later = min(before[at] + 1, size - 1)
            at += 1
    return number


def traffic(workload):
    """Bytes of the map that regions touch, bytes of the output, and loads."""
    channels, height, width = workload.features
    x1, y1, x2, y2 = boxes_of(workload).astype(np.float64).T
    top, bottom, loads_y = spans(workload, y1, y2, height)
    left, right, loads_x = spans(workload, x1, x2, width)
    touched = np.zeros((height, width), dtype=bool)
    for rows, columns in zip(zip(top, bottom), zip(left, right)):
        touched[int(rows[0]) : int(rows[1]) + 1, int(columns[0]) : int(columns[1]) + 1] = True
    output = workload.regions * workload.size**2
    return (
        int(touched.sum()) * channels * NUMBER,
        output * channels * NUMBER,
        float((loads_y * loads_x).sum()) * channels,
    )


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--bandwidth", type=float, default=4000.0)
    bandwidth = arguments.parse_args().bandwidth
    print(f"| workload | map, MB | output, MB | loads, millions | loads an output | ms at {bandwidth:.0f} GB/s |")
    print("|---|---|---|---|---|---|")
    for workload in STANDARD:
        read, written, loads = traffic(workload)
        least = (read + written) / bandwidth / 1e6
        each = loads / (written / NUMBER)
        print(
            f"| {workload.name} | {read / 1e6:.1f} | {written / 1e6:.1f} | {loads / 1e6:.0f}"
            f" | {each:.1f} | {least:.3f} |"
        )


if __name__ == "__main__":
    main()
