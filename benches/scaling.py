#!/usr/bin/env python3
"""Counts what a call on Flex gives to each thread of a larger machine: the tasks, as `flex/forward/groups.rs` divides
them, what they copy and write, and which cache lines two of them write.

    pip install numpy
    python benches/scaling.py [--threads 2,16,64]
"""

import argparse
import heapq
from math import ceil

import numpy as np

from peers import STANDARD, boxes_of
from traffic import NUMBER, spans

LANES = 8
LARGEST_TILE = 1 << 17
LINE = 64
# Where the allocator puts the first number of a large block, past the start of a cache line.
OFFSET = 16


def windows(workload):
    """The window `[top, end, left, right]` of each region that reads some pixel."""
    _, height, width = workload.features
    x1, y1, x2, y2 = boxes_of(workload).astype(np.float64).T
    top, bottom, _ = spans(workload, y1, y2, height)
    left, right, _ = spans(workload, x1, x2, width)
    return np.stack([top, bottom + 1, left, right + 1], axis=1).astype(int)


def capacity(hull):
    rows = hull[1] - hull[0]
    return (1 << int(rows - 1).bit_length()) * (hull[3] - hull[2])


def cover(hull, window):
    return [min(hull[0], window[0]), max(hull[1], window[1]), min(hull[2], window[2]), max(hull[3], window[3])]


def groups(workload):
    """Regions that share a copy of their pixels, from the top to the bottom."""
    found = []
    for window in sorted(windows(workload).tolist()):
        if found:
            joined = cover(found[-1][1], window)
            if capacity(joined) <= LARGEST_TILE:
                found[-1][0].append(window)
                found[-1][1] = joined
                continue
        found.append([[window], list(window)])
    return found


def tasks(workload, threads):
    """For each task its channels, its regions, and the pixels of a channel that it copies."""
    channels, of_channels = workload.features[0], groups(workload)
    of_a_group = ceil(4 * threads / len(of_channels))
    blocks = ceil(channels / LANES)
    ranges = min(of_a_group, blocks)
    of_a_range = ceil(blocks / ranges) * LANES
    parts = ceil(of_a_group / ranges)
    for start in range(0, channels, of_a_range):
        count = min(of_a_range, channels - start)
        for regions, hull in of_channels:
            of_a_part = ceil(len(regions) / parts)
            for first in range(0, len(regions), of_a_part):
                part = regions[first : first + of_a_part]
                rows = np.zeros(workload.features[1], dtype=bool)
                for top, end, _, _ in part:
                    rows[top:end] = True
                yield count, part, int(rows.sum()) * (hull[3] - hull[2])


def longest(costs, threads):
    """The share of the work that the busiest thread does, times the number of threads: 1 where all end at once. Each
    thread takes the next task as it ends one."""
    ends = [0.0] * threads
    for cost in costs:
        heapq.heappush(ends, heapq.heappop(ends) + cost)
    return max(ends) * threads / sum(costs)


def shared_lines(workload, of_a_task):
    """The share of the output's lines that the tasks of two ranges of channels write."""
    channels, of_a_channel = workload.features[0], workload.size**2 * NUMBER
    edges = np.arange(0, workload.regions * channels, of_a_task) * of_a_channel + OFFSET
    return float((edges % LINE != 0).sum()) / (workload.regions * channels * of_a_channel / LINE)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--threads", default="2,16,64")
    print("| workload | threads | tasks | copied, MB a thread | written, MB a thread | longest | shared lines |")
    print("|---|---|---|---|---|---|---|")
    for workload in STANDARD:
        for threads in map(int, arguments.parse_args().threads.split(",")):
            all_tasks = list(tasks(workload, threads))
            copied = sum(count * pixels for count, _, pixels in all_tasks) * NUMBER
            written = workload.regions * workload.features[0] * workload.size**2 * NUMBER
            # A pixel that is copied, one that is read, and a number that is written cost about the same.
            costs = [
                count * (pixels + sum((b - t) * (r - l) for t, b, l, r in part) + len(part) * workload.size**2)
                for count, part, pixels in all_tasks
            ]
            print(
                f"| {workload.name} | {threads} | {len(all_tasks)} | {copied / threads / 1e6:.1f} "
                f"| {written / threads / 1e6:.1f} | {longest(costs, threads):.2f} "
                f"| {100 * shared_lines(workload, all_tasks[0][0]):.1f} % |"
            )


if __name__ == "__main__":
    main()
